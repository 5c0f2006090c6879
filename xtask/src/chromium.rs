//! The browser in which pages are tested.

use std::path::PathBuf;

use crate::debian;

/// The browser of this machine, or of Debian in a CI run.
///
/// # Errors
/// As [`debian::program`].
pub(crate) fn find(ci: bool) -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    debian::program(&names, "chromium", ci)
}
