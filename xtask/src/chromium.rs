//! The browser in which pages are tested.

use std::path::PathBuf;

use xtask::debian;

/// The browser on this machine. In a CI run, one is installed from Debian if it is missing.
///
/// # Errors
/// As [`debian::program`].
pub(crate) fn find() -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    debian::program(&names, "chromium")
}
