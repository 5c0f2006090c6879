//! Opening: whose the files are, and what is refused without being touched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use chat_server::index::{Index, IndexError, MessageQuery, Options};
use chat_server::model::Body;
use chat_server::source::Batch;
use rusqlite::Connection;
use tempfile::TempDir;

use super::samples::{Fixture, chat, message, said};
use crate::assert_has;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(dir: &Path) -> String {
    match Index::open(dir, Options::default()) {
        Err(error) => error.to_string(),
        Ok(index) => panic!("{index:?}"),
    }
}

#[tokio::test]
async fn directory_and_files_are_the_owners_alone() {
    let temp = TempDir::new().unwrap();
    let dir = temp.path().join("a").join("b");
    let index = Index::open(&dir, Options::default()).unwrap();
    let events = vec![chat("1", "Antti"), said("1", message("a", 1, "Bob", "hi"))];
    index.sink("x").keep(Batch { events, ..Batch::default() }).await.unwrap();
    assert_eq!(mode(&dir), 0o700);
    let files: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn what_is_not_ours_is_refused_and_stays() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("chats.db");
    let text = "a diary ".repeat(100);
    fs::write(&file, &text).unwrap();
    assert!(refused(dir.path()).contains("is not an index of chats"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    fs::remove_file(&file).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE diary (text)").unwrap();
    drop(other);
    let before = fs::read(&file).unwrap();
    assert!(refused(dir.path()).contains("is not an index of chats"));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn what_is_unknown_is_read_from_an_older_format() {
    let fixture = Fixture::new();
    let mut strange = message("1", 1, "Bob", "");
    strange.body = Body::Unknown("[Gift]".to_owned());
    fixture.keep("telegram", vec![said("1", strange)]).await;
    let Fixture { dir, index } = fixture;
    index.close();
    let connection = Connection::open(dir.path().join("chats.db")).unwrap();
    let old = r#"ALTER TABLE source DROP COLUMN owner; ALTER TABLE chat DROP COLUMN hidden;
        ALTER TABLE message DROP COLUMN names; DROP TABLE term;
        UPDATE message SET detail = '{"body":"unknown"}'; PRAGMA user_version = 2"#;
    connection.execute_batch(old).unwrap();
    drop(connection);
    let index = Index::open(dir.path(), Options::default()).unwrap();
    let page = index.messages(&MessageQuery::default()).await.unwrap();
    let body = &page.messages[0].message.body;
    assert_eq!(*body, Body::Unknown("[Gift]".to_owned()));
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let Fixture { dir, index } = Fixture::new();
    index.close();
    let file = dir.path().join("chats.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let refused = Index::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(refused, IndexError::NewerFormat { found: 99, .. }), "{refused}");
    assert_has(&refused.to_string(), &["use a newer program or another directory"]);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_refused() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(refused(&file).contains("cannot be used"));
}

#[tokio::test]
async fn a_closed_index_says_so() {
    let fixture = Fixture::new();
    let sink = fixture.index.sink("telegram");
    fixture.index.close();
    fixture.index.close();
    let answer = fixture.index.messages(&MessageQuery::default()).await;
    assert_eq!(answer, Err(IndexError::Unavailable));
    let refused = sink.keep(Batch::default()).await.unwrap_err();
    assert!(refused.0.contains("not available"), "{refused}");
}

#[tokio::test]
async fn there_are_not_too_many_sources() {
    let fixture = Fixture::new();
    for n in 0..64 {
        fixture.keep(&n.to_string(), vec![chat("1", "Antti")]).await;
    }
    let one_more = fixture.index.sink("64").keep(Batch::default()).await.unwrap_err();
    assert!(one_more.0.contains("64 sources"), "{one_more}");
    fixture.keep("0", vec![chat("2", "Alice")]).await;
    assert_eq!(fixture.index.sources().await.unwrap().len(), 64);
}
