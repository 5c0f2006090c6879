//! The Debian package of the universe server, by cargo-deb; its contents are listed in `server/Cargo.toml`.

use std::path::PathBuf;
use std::process::Command;

use super::Release;
use xtask::programs::cargo;
use xtask::{Result, root, target};

/// Makes the package from the programs that are already built.
///
/// # Errors
/// When cargo-deb cannot be installed or fails.
pub(super) fn make(release: &Release<'_>) -> Result<PathBuf> {
    let file = release.to.join(format!("universe-server_{}.deb", release.version));
    let tools = target().join("tools");
    let install = ["install", "cargo-deb@3.8.0", "--locked", "--root"];
    if !cargo(&install).arg(&tools).status()?.success() {
        return Err("cargo-deb cannot be installed".into());
    }
    let mut deb = Command::new(tools.join("bin/cargo-deb"));
    deb.current_dir(root())
        .args(["--no-build", "--no-strip", "--locked", "-p", "universe-server", "--profile"])
        .arg(&release.arguments.profile)
        .arg("--output")
        .arg(&file);
    if release.arguments.r#static {
        let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        deb.args(["--target", &triple]);
    }
    if deb.status()?.success() { Ok(file) } else { Err("cargo-deb failed".into()) }
}
