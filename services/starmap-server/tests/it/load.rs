//! Loading: every format by its content, nothing half, nothing by surprise.

mod csv;
mod environment;
mod foreign;
mod hostile;
mod json;
mod own;
mod sde;

use std::path::{Path, PathBuf};

use starmap_server::load::{LoadError, Loaded, load};
use tempfile::TempDir;

/// A folder with one file in it.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Loads a file of these bytes.
fn loaded(name: &str, bytes: impl AsRef<[u8]>) -> Result<Loaded, LoadError> {
    let (_folder, path) = file(name, bytes);
    load(&path)
}

/// What is said when this path is loaded.
fn refusal(path: &Path) -> String {
    load(path).expect_err("it was loaded").to_string()
}
