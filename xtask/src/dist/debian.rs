//! The Debian package of the universe server, by cargo-deb; its contents are listed in `server/Cargo.toml`.

use std::path::PathBuf;
use std::process::Command;

use super::Release;
use crate::tools::Tool;
use xtask::{Result, root};

const CARGO_DEB: Tool = Tool { name: "cargo-deb", version: "3.8.0" };

/// Makes the package from the programs that are already built.
///
/// # Errors
/// When cargo-deb cannot be installed or fails.
pub(super) fn make(release: &Release<'_>) -> Result<PathBuf> {
    let file = release.to.join(format!("universe-server_{}.deb", release.version));
    let mut deb = Command::new(CARGO_DEB.installed()?);
    deb.current_dir(root())
        .args(["--no-build", "--no-strip", "--locked", "-p", "universe-server", "--profile"])
        .arg(&release.arguments.profile)
        .arg("--output")
        .arg(&file);
    if release.arguments.r#static {
        let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        deb.args(["--target", &triple]);
    }
    match deb.status()?.success() {
        true => Ok(file),
        false => Err("cargo-deb failed".into()),
    }
}
