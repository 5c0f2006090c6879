//! The browser in which pages are tested.

use std::path::PathBuf;

use xtask::apt;

/// The browser on this machine. In a CI run, one is installed from Debian if it is missing.
///
/// # Errors
/// As [`apt::program`].
pub(crate) fn find() -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    apt::program(&names, "chromium")
}
