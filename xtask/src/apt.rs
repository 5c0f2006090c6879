//! System programs that chores need. A CI run installs them if it has the permission.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{install, is_ci, process};

/// The time limit for installing a package.
const PACKAGES_DEADLINE: Duration = Duration::from_secs(600);

/// The browser in which pages are tested.
///
/// # Errors
/// As [`program`].
pub fn chromium() -> Result<PathBuf, String> {
    program(&["chromium", "chromium-browser", "google-chrome"], "chromium")
}

/// The first of these programs that this machine has. If none is found, a CI run installs `package`, provided that it
/// runs as root and has `apt-get`.
///
/// # Errors
/// One line that names the missing package, or says why it cannot be installed.
pub fn program(names: &[&str], package: &str) -> Result<PathBuf, String> {
    let found = || names.iter().copied().find_map(install::on_path);
    if let Some(program) = found() {
        return Ok(program);
    }
    let apt = install::on_path("apt-get").filter(|_| is_ci() && is_superuser());
    let apt = apt.ok_or_else(|| format!("{package} not found"))?;
    let options = "-qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends";
    for line in ["-qq update".to_owned(), format!("{options} {package}")] {
        let mut install = Command::new(&apt);
        install.args(line.split(' ')).env("DEBIAN_FRONTEND", "noninteractive");
        process::succeed(&mut install, PACKAGES_DEADLINE).map_err(|error| error.to_string())?;
    }
    found().ok_or_else(|| format!("{package} was installed and is not on the path"))
}

fn is_superuser() -> bool {
    let asked = process::run(Command::new("id").arg("-u"), Duration::from_secs(10));
    asked.is_ok_and(|answer| answer.stdout.trim() == "0")
}
