//! Builds the packages that can be built on this machine, in `target/packages`.

mod bundle;
mod debian;
mod formula;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;

use xtask::install::on_path;
use xtask::programs::{SHIPPED, cargo_line};
use xtask::{Result, process, root, say, target};

/// The time limit for a step that does not compile.
const DEADLINE: Duration = Duration::from_secs(300);

/// The servers. Each is the program of a separate package.
const SERVERS: [&str; 4] = ["universe-server", "spec-server", "chat-server", "starmap-server"];

/// The command-line tool, which is packaged with them.
const CONFORMANCE: &str = "mcp-conformance";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Build static programs, for any Linux on this processor. They need the Rust target for musl and `musl-gcc`.
    #[arg(long)]
    r#static: bool,
    /// The cargo profile of the programs.
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Where the packages are going to be downloaded from. The default is an address that does not exist.
    #[arg(long, value_name = "URL", default_value = "https://example.com/mcp")]
    base_url: String,
    /// The first part of the servers' names in the MCP registry, such as io.github.OWNER.
    #[arg(long, value_name = "NAME", default_value = "com.example")]
    namespace: String,
}

/// The release that is built.
struct Release<'a> {
    version: String,
    /// The folder of the packages.
    to: PathBuf,
    /// The folder of the compiled programs.
    programs: PathBuf,
    arguments: &'a Arguments,
}

impl Release<'_> {
    /// The address of a package.
    fn url(&self, file: &Path) -> String {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        format!("{}/{name}", self.arguments.base_url.trim_end_matches('/'))
    }
}

/// Builds the packages. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let mut folder = target();
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    for line in SHIPPED {
        let mut build = cargo_line(line);
        build.args(["--profile", &arguments.profile]);
        if arguments.r#static {
            // SQLite, mimalloc and ring have parts in C.
            let variable = format!("CC_{}", triple.replace('-', "_"));
            build.args(["--target", &triple]).env(variable, "musl-gcc");
        }
        if !build.status()?.success() {
            return Err("the programs do not build".into());
        }
    }
    if arguments.r#static {
        folder.push(triple);
    }
    let release = Release {
        version: version()?,
        to: root().join("target").join("packages"),
        programs: folder.join(&arguments.profile),
        arguments,
    };
    if release.to.exists() {
        fs::remove_dir_all(&release.to)?;
    }
    fs::create_dir_all(&release.to)?;
    let mut made = vec![archive(&release)?];
    for server in SERVERS {
        made.extend(bundle::make(&release, server)?);
    }
    made.extend(formula::make(&release)?);
    pages(&release)?;
    match on_path("dpkg") {
        Some(_) => made.push(debian::make(&release)?),
        None => say("no Debian package: this machine has no dpkg")?,
    }
    for file in made {
        let bytes = fs::metadata(&file)?.len();
        say(&format!("{:>10} bytes  {}", bytes, file.display()))?;
    }
    if arguments.base_url.contains("example.com") || arguments.namespace.contains("example") {
        say(
            "addresses and names are examples: before publishing, give --base-url and --namespace",
        )?;
    }
    Ok(true)
}

/// The version of the servers.
///
/// # Errors
/// When the manifest of their workspace cannot be read or has no version.
fn version() -> Result<String> {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let version =
        manifest.get("workspace").and_then(|it| it.get("package")?.get("version")?.as_str());
    Ok(version.ok_or("the workspace has no version")?.to_owned())
}

/// The programs in one archive.
fn archive(release: &Release<'_>) -> Result<PathBuf> {
    let kind = if release.arguments.r#static { "-static" } else { "" };
    let name = format!(
        "servers-{}-{}-{}{kind}.tar.gz",
        release.version,
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let file = release.to.join(name);
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&file).arg("-C").arg(&release.programs).args(SERVERS).arg(CONFORMANCE);
    tar.arg("-C").arg(root()).args(["LICENSE-MIT", "LICENSE-APACHE"]);
    process::succeed(&mut tar, DEADLINE)?;
    Ok(file)
}

/// Writes the manual pages and completions that the program generates.
fn pages(release: &Release<'_>) -> Result<()> {
    let program = release.programs.join("universe-server");
    let man = release.to.join("man");
    process::succeed(Command::new(&program).arg("man").arg(&man), DEADLINE)?;
    let completions = release.to.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, file) in
        [("bash", "universe-server"), ("zsh", "_universe-server"), ("fish", "universe-server.fish")]
    {
        let said = process::run(Command::new(&program).args(["completions", shell]), DEADLINE)?;
        if !said.success {
            return Err(format!("no completions for {shell}: {}", said.stderr).into());
        }
        fs::write(completions.join(file), said.stdout)?;
    }
    Ok(())
}
