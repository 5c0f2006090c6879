//! Bundles for MCP clients (`.mcpb`), and the entries of the MCP registry (`server.json`) that lead to them.
//!
//! The manifests in `packaging/mcpb/` follow version 0.4 of the bundle format. The release version is filled in
//! here. The entries follow the registry's schema of 2025-12-11. Both schemas are in `packaging/schema/`.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Release;
use xtask::{Result, digest, root};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The maximum length of a description in the registry, in characters.
const MOST: usize = 100;

/// Makes the bundle and the entry of a server.
///
/// # Errors
/// When a file cannot be read or written, or its manifest is invalid.
pub(super) fn make(release: &Release<'_>, server: &str) -> Result<[PathBuf; 2]> {
    let manifest = manifest(server, &release.version)?;
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let bundle = release.to.join(format!("{server}-{platform}.mcpb"));
    let program = fs::read(release.programs.join(server))?;
    write(&bundle, server, &manifest, &program)?;
    let entry =
        entry(&manifest, &release.arguments.namespace, &release.url(&bundle), &digest(&bundle)?)?;
    let file = release.to.join(format!("{server}.server.json"));
    fs::write(&file, serde_json::to_string_pretty(&entry)?)?;
    Ok([bundle, file])
}

/// The manifest of a server, for this machine.
fn manifest(server: &str, version: &str) -> Result<Value> {
    let file = root().join("packaging/mcpb").join(format!("{server}.json"));
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let members = manifest.as_object_mut().ok_or("a manifest is an object")?;
    members.insert("version".to_owned(), version.into());
    members.insert("compatibility".to_owned(), json!({"platforms": [platform]}));
    Ok(manifest)
}

fn write(bundle: &Path, server: &str, manifest: &Value, program: &[u8]) -> Result<()> {
    let mut zip = ZipWriter::new(File::create(bundle)?);
    let text = SimpleFileOptions::default().unix_permissions(0o644);
    zip.start_file("manifest.json", text)?;
    zip.write_all(serde_json::to_string_pretty(manifest)?.as_bytes())?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        zip.start_file(licence, text)?;
        zip.write_all(&fs::read(root().join(licence))?)?;
    }
    let executable = SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file(format!("server/{server}"), executable)?;
    zip.write_all(program)?;
    zip.finish()?;
    Ok(())
}

/// The entry of the registry for a bundle.
fn entry(manifest: &Value, namespace: &str, url: &str, digest: &str) -> Result<Value> {
    let text = |name: &str| manifest.get(name).and_then(Value::as_str);
    let (Some(name), Some(title), Some(description), Some(version)) =
        (text("name"), text("display_name"), text("description"), text("version"))
    else {
        return Err("a manifest needs name, display_name, description and version".into());
    };
    if description.chars().count() > MOST {
        return Err(format!(
            "{name}: the registry takes descriptions of at most {MOST} characters"
        )
        .into());
    }
    Ok(json!({
        "$schema": SCHEMA,
        "name": format!("{namespace}/{name}"),
        "title": title,
        "description": description,
        "version": version,
        "packages": [{
            "registryType": "mcpb",
            "identifier": url,
            "fileSha256": digest,
            "transport": {"type": "stdio"},
        }],
    }))
}

#[cfg(test)]
mod tests {
    use super::super::SERVERS;
    use super::*;

    const MANIFEST: &str = include_str!("../../../packaging/schema/mcpb-manifest-0.4.json");
    const ENTRY: &str = include_str!("../../../packaging/schema/registry-server-2025-12-11.json");

    /// What an official schema says against a document.
    fn findings(schema: &str, document: &Value) -> Vec<String> {
        let schema = serde_json::from_str(schema).expect("JSON");
        let schema = jsonschema::options().offline().build(&schema).expect("a schema");
        schema.iter_errors(document).map(|error| error.to_string()).collect()
    }

    #[test]
    fn each_server_has_a_manifest_that_fits_the_format() {
        for server in SERVERS {
            let manifest = manifest(server, "1.2.3").expect("a manifest");
            assert_eq!(findings(MANIFEST, &manifest), [""; 0], "{server}");
            assert_eq!(manifest["manifest_version"], "0.4");
            assert_eq!(manifest["name"], server);
            assert_eq!(manifest["server"]["type"], "binary");
            assert_eq!(manifest["server"]["entry_point"], format!("server/{server}"));
            let started = &manifest["server"]["mcp_config"];
            assert_eq!(started["command"], format!("${{__dirname}}/server/{server}"));
            for argument in started["args"].as_array().expect("arguments") {
                let argument = argument.as_str().expect("a text");
                if let Some(option) = argument.strip_prefix("${user_config.") {
                    let option = option.trim_end_matches('}');
                    let asked = &manifest["user_config"][option];
                    assert!(asked["title"].is_string() && asked["description"].is_string());
                    // An option that is not required and has no default would be passed to the server unexpanded.
                    assert!(
                        asked["required"] == true || asked["default"].is_string(),
                        "{server}: {option}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_entry_names_the_bundle_and_its_digest() {
        for server in SERVERS {
            let manifest = manifest(server, "1.2.3").expect("a manifest");
            let url = format!("https://example.com/mcp/{server}.mcpb");
            let made = entry(&manifest, "com.example", &url, &"0".repeat(64)).expect("an entry");
            assert_eq!(findings(ENTRY, &made), [""; 0], "{server}");
            assert_eq!(made["name"], format!("com.example/{server}"));
            assert_eq!(made["packages"][0]["identifier"], url);
            assert_eq!(made["version"], "1.2.3");
        }
    }

    #[test]
    fn the_schemas_find_what_is_wrong() {
        let mut made = manifest("spec-server", "1.2.3").expect("a manifest");
        let mut wrong = entry(&made, "no/name", "https://example.com/a", "0").expect("an entry");
        assert_eq!(findings(ENTRY, &wrong).len(), 2, "{wrong}");
        wrong["packages"][0]["transport"]["type"] = "pipe".into();
        assert_eq!(findings(ENTRY, &wrong).len(), 3, "{wrong}");
        made["manifest_version"] = "0.3".into();
        made["extra"] = true.into();
        assert_eq!(findings(MANIFEST, &made).len(), 2, "{made}");
    }

    #[test]
    fn a_description_that_the_registry_refuses_is_found() {
        let mut manifest = manifest("spec-server", "1.2.3").expect("a manifest");
        manifest["description"] = "a".repeat(MOST + 1).into();
        assert!(entry(&manifest, "a", "b", "c").is_err());
    }
}
