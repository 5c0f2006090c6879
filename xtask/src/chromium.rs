//! The browser in which pages are tested.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{install, process};

/// How long installing it may take.
const PACKAGES_DEADLINE: Duration = Duration::from_secs(600);

/// The browser of this machine. Where it is missing, a CI run installs it if it may: as the superuser of a Debian.
pub(crate) fn find(ci: bool) -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = || names.into_iter().find_map(install::on_path);
    if let Some(chromium) = found() {
        return Ok(chromium);
    }
    let apt = install::on_path("apt-get").filter(|_| ci && is_superuser());
    let apt = apt.ok_or("chromium not found")?;
    for arguments in [
        ["-qq", "update"].as_slice(),
        &[
            "-qq",
            "-o",
            "DPkg::Lock::Timeout=300",
            "install",
            "-y",
            "--no-install-recommends",
            "chromium",
        ],
    ] {
        let mut install = Command::new(&apt);
        install
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        process::succeed(&mut install, PACKAGES_DEADLINE).map_err(|error| error.to_string())?;
    }
    found().ok_or_else(|| "chromium was installed and is not on the path".to_owned())
}

fn is_superuser() -> bool {
    let asked = process::run(Command::new("id").arg("-u"), Duration::from_secs(10));
    asked.is_ok_and(|answer| answer.stdout.trim() == "0")
}
