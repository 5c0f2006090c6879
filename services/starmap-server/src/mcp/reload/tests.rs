//! A test for a file that is written during the read. No test from outside can time this.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::Source;

#[test]
fn what_is_written_to_while_it_is_read_is_read_once_more() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("map.graph");
    fs::write(&path, "one").unwrap();
    let mut source = Source::new(&path);
    let text = |path: &Path| fs::read_to_string(path);
    assert!(source.reread(text).is_none());
    fs::write(&path, "another").unwrap();
    let meanwhile = source.reread(|path| {
        let half = fs::read_to_string(path);
        fs::write(path, "another, whole").unwrap();
        half
    });
    assert!(meanwhile.is_none(), "{meanwhile:?}");
    let whole = source.reread(text).map(Result::unwrap);
    assert_eq!(whole.as_deref(), Some("another, whole"));
    assert!(source.reread(text).is_none());
}
