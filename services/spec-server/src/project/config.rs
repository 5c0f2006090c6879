//! `.spox/config.toml`: the folders of a Spec Oxide project. Only `[paths]` is read. The choices in `[rules]` are
//! written into other files by Spec Oxide itself, and an unknown set of rules should not prevent reading.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::error::ProjectError;

/// The path below the root.
pub(super) const PATH: &str = ".spox/config.toml";

/// The longest file that is read, in bytes: it has six short lines.
const MAX_BYTES: u64 = 1024 * 1024;

/// The folders of specs, of changes and of archived changes, from `file` of the project at `root`.
pub(super) fn folders(root: &Path, file: &Path) -> Result<[PathBuf; 3], ProjectError> {
    let refuse = |problem: String| ProjectError::Config { path: file.to_owned(), problem };
    let length = fs::metadata(file).map_or(0, |metadata| metadata.len());
    if length > MAX_BYTES {
        return Err(refuse(format!("has {length} bytes; {MAX_BYTES} are the most")));
    }
    let text =
        fs::read_to_string(file).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let table: Table = text
        .strip_prefix('\u{feff}')
        .unwrap_or(&text)
        .parse()
        .map_err(|error| refuse(format!("is not TOML: {error}")))?;
    let paths = table.get("paths").and_then(Value::as_table);
    let paths = paths.ok_or_else(|| refuse("[paths] is missing, or is not a table".to_owned()))?;
    let folder = |name| folder(root, paths, name).map_err(refuse);
    Ok([folder("spec_folder")?, folder("changes_folder")?, folder("archive_folder")?])
}

/// A folder below the root.
fn folder(root: &Path, paths: &Table, name: &str) -> Result<PathBuf, String> {
    let example = format!("{name} = \"specs/\"");
    let text = paths
        .get(name)
        .ok_or_else(|| format!("{name} is missing in [paths]; write {example}"))?
        .as_str()
        .ok_or_else(|| format!("{name} in [paths] must be a string, such as {example}"))?;
    let mut folder = root.to_owned();
    for part in Path::new(text).components() {
        match part {
            Component::Normal(part) => folder.push(part),
            Component::CurDir => {}
            _ => {
                return Err(format!(
                    "{name} = {text:?} leads out of the project; name a folder below its root"
                ));
            }
        }
    }
    if text.contains('\0') || text.trim().is_empty() {
        Err(format!("{name} = {text:?} is not a folder; write {example}"))
    } else {
        Ok(folder)
    }
}
