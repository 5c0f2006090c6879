//! The data directory: what is ours is opened, all else is refused in a sentence and left alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use futures_util::future::FutureExt as _;
use rusqlite::Connection;
use tempfile::TempDir;
use universe_store::sqlite::{OpenError, Options};
use universe_store::{AppendError, Page, ReadError, Revision, SqliteStore, TailError, UniverseLog};

use super::{OnDisk, Subject, after, entry, id, meta, next, next_entry, stored};

fn open(dir: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(dir, Options::default())
}

fn content(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(Result::unwrap);
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

/// A directory with one universe of 300 entries, closed.
async fn filled() -> TempDir {
    let OnDisk { dir, store } = OnDisk::new();
    let store = store.unwrap();
    store.create(meta(&id("sol"), 1), Bytes::from_static(b"genesis")).await.unwrap();
    let entries = (0..300).map(|_| entry(vec![b'x'; 300])).collect();
    store.append(&id("sol"), after(0, entries)).await.unwrap();
    dir
}

/// Changes the database behind the store's back.
fn tamper(dir: &Path, sql: &str) {
    Connection::open(dir.join("universes.db")).unwrap().execute_batch(sql).unwrap();
}

/// The directory is refused with this sentence, and then is what it was, down to the byte.
fn refused(dir: &Path, sentence: &str) {
    let before = content(dir);
    let refusal = open(dir).expect_err("the directory is opened").to_string();
    assert_eq!(refusal, format!("the data directory {} {sentence}", dir.display()));
    assert!(content(dir) == before, "the directory has changed");
}

#[tokio::test]
async fn a_directory_in_use_is_refused_until_it_is_free() {
    let mut subject = OnDisk::new();
    let dir = subject.dir.path().to_owned();
    subject.log().create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let mut forgotten = subject.log().tail(&id("sol"), Revision(0));
    refused(&dir, "is in use by another server");
    subject.log().append(&id("sol"), after(0, vec![entry("one")])).await.unwrap();
    assert_eq!(next_entry(&mut forgotten).await.revision, Revision(1));
    subject.store = None;
    let store = open(&dir).expect("no process uses it, though a tail was forgotten");
    assert_eq!(store.record(&id("sol")).await.unwrap().head.revision, Revision(1));
    assert_eq!(next(&mut forgotten).await, Some(Err(TailError::Unavailable)));
}

/// Others may hold the store still; it is closed for them too, with all that was queued on the disk.
#[tokio::test]
async fn a_store_is_closed_whoever_still_holds_it() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path()).unwrap();
    store.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let mut queued = Vec::new();
    for n in 0..100 {
        let mut write = store.append(&id("sol"), after(n, vec![entry("x")]));
        assert_eq!((&mut write).now_or_never(), None);
        queued.push(write);
    }
    let (store, ended) = (&store, store.ended());
    std::thread::scope(|scope| {
        scope.spawn(|| store.close());
        scope.spawn(|| store.close());
    });
    tokio::time::timeout(super::HANG, ended).await.expect("its end is reported");
    let answers = futures_util::future::join_all(queued).await;
    let landed = (1..).zip(&answers).take_while(|(n, answer)| **answer == stored(Revision(*n)));
    let landed = landed.count();
    assert!(landed > 0, "{answers:?}");
    // What had not found its way into the queue is refused, and not left waiting.
    let refused = |answer: &Result<_, _>| *answer == Err(AppendError::Unavailable);
    assert!(answers[landed..].iter().all(refused), "{answers:?}");
    let late = store.record(&id("sol")).await;
    assert_eq!(late, Err(ReadError::Unavailable));
    assert!(!dir.path().join("universes.db-wal").exists());
    let again = open(dir.path()).unwrap();
    let record = again.record(&id("sol")).await.unwrap();
    assert_eq!(record.head.revision, Revision(landed as u64));
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let dir = filled().await;
    tamper(dir.path(), "PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE);");
    let sentence = "has format 7, but this server knows formats up to 3: \
                    use a newer server or another directory";
    refused(dir.path(), sentence);
    fs::remove_file(dir.path().join("universes.lock")).unwrap();
    refused(dir.path(), sentence);
}

#[test]
fn what_is_not_a_store_is_refused() {
    let dir = TempDir::new().unwrap();
    let sentence = "cannot be used: universes.db is not a store of universes; if it was one, \
                    `universe-server restore FILE --replace` puts a backup in its place";
    fs::write(dir.path().join("universes.db"), "my diary").unwrap();
    refused(dir.path(), sentence);
    fs::remove_file(dir.path().join("universes.db")).unwrap();
    tamper(dir.path(), "CREATE TABLE diary (day TEXT)");
    refused(dir.path(), sentence);
    let file = dir.path().join("universes.db");
    let refusal = open(&file).expect_err("a file is opened").to_string();
    assert!(refusal.contains(" cannot be used: "), "{refusal}");
}

#[tokio::test]
async fn a_damaged_store_is_refused_and_not_made_worse() {
    let dir = filled().await;
    let file = dir.path().join("universes.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[4_096..].fill(0xa5);
    fs::write(&file, &bytes).unwrap();
    refused(
        dir.path(),
        "cannot be used: database disk image is malformed; `universe-server check` says what is damaged, \
         `universe-server export` saves what can be read, and `universe-server restore` goes back to a backup",
    );
    fs::write(&file, &bytes[..50]).unwrap();
    refused(
        dir.path(),
        "cannot be used: universes.db is not a store of universes; if it was one, \
                    `universe-server restore FILE --replace` puts a backup in its place",
    );
}

#[test]
fn a_new_directory_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let parent = TempDir::new().unwrap();
    let dir = parent.path().join("new/data");
    drop(open(&dir).unwrap());
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
}

/// A shared directory's files are the store's owner's alone, from the moment they are there.
#[tokio::test]
async fn the_files_are_their_owners_alone_in_any_directory() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let store = open(dir.path()).unwrap();
    store.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let modes: BTreeMap<_, _> = fs::read_dir(dir.path())
        .unwrap()
        .map(Result::unwrap)
        .map(|file| {
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            (file.file_name().into_string().unwrap(), mode)
        })
        .collect();
    assert!(modes.len() >= 3, "{modes:?}");
    assert!(modes.values().all(|mode| *mode == 0o600), "{modes:?}");
}

#[tokio::test]
async fn a_writer_that_fails_makes_everything_unavailable_and_nothing_hang() {
    let mut subject = OnDisk::new();
    let (sol, dir) = (id("sol"), subject.dir.path().to_owned());
    subject.log().create(meta(&sol, 1), Bytes::new()).await.unwrap();
    let mut tail = subject.log().tail(&sol, Revision(0));
    let mut ended = Box::pin(subject.store.as_ref().unwrap().ended());
    subject.log().append(&sol, after(0, vec![entry("one")])).await.unwrap();
    assert_eq!(next_entry(&mut tail).await.revision, Revision(1));
    assert_eq!(ended.as_mut().now_or_never(), None, "it goes on");

    tamper(&dir, "ALTER TABLE log RENAME TO gone");
    let log = subject.log();
    let failed = log.append(&sol, after(1, vec![entry("two")])).await;
    assert_eq!(failed, Err(AppendError::Unavailable));
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Unavailable)));
    tokio::time::timeout(super::HANG, ended).await.expect("its end is reported");
    let failed = log.append(&sol, after(1, vec![entry("two")])).await;
    assert_eq!(failed, Err(AppendError::Unavailable));
    assert_eq!(log.record(&sol).await, Err(ReadError::Unavailable));
    assert_eq!(log.list(Page { after: None, limit: 9 }).await, Err(ReadError::Unavailable));
    let mut tail = log.tail(&sol, Revision(0));
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Unavailable)));

    subject.store = None;
    tamper(&dir, "ALTER TABLE gone RENAME TO log");
    let store = open(&dir).unwrap();
    store.append(&sol, after(1, vec![entry("two")])).await.expect("the cause is mended");
}

#[tokio::test]
async fn the_room_of_deleted_universes_is_used_again() {
    let subject = OnDisk::new();
    let file = subject.dir.path().join("universes.db");
    let mut sizes = Vec::new();
    for round in 0..12 {
        let name = id("come and gone");
        subject.log().create(meta(&name, round), Bytes::new()).await.unwrap();
        let mut batches = 0;
        while batches < 4 {
            let entries = (0..512).map(|_| entry(vec![b'x'; 300])).collect();
            subject.log().append(&name, after(batches * 512, entries)).await.unwrap();
            batches += 1;
        }
        subject.log().delete(&name, None).await.unwrap();
        // With nothing else to do the writer sweeps, and it is asked here whether it has.
        let swept = || {
            let reader = Connection::open(&file).unwrap();
            reader
                .query_row("SELECT count(*) = 0 FROM log", [], |row| row.get::<_, bool>(0))
                .unwrap()
        };
        let start = std::time::Instant::now();
        while !swept() {
            assert!(start.elapsed() < super::HANG, "the deleted entries stay");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let pages = Connection::open(&file).unwrap();
        sizes.push(
            pages.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0)).unwrap(),
        );
    }
    assert!(sizes[11] <= sizes[2] + 8, "the file grows: {sizes:?} pages");
}
