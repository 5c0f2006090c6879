//! What the tests of every adapter share.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};
use universe_store::{
    Append, AppendError, Appended, CommandId, Entry, Meta, NewEntry, Revision, TailError,
    Timestamp, UniverseId, UniverseLog,
};

/// Long enough that only a store that hangs exceeds it.
pub(crate) const HANG: Duration = Duration::from_secs(60);

pub(crate) type Tail = BoxStream<'static, Result<Entry, TailError>>;

/// An adapter under test.
pub(crate) trait Subject {
    fn log(&self) -> &dyn UniverseLog;

    /// Closes and opens the store, if it outlives that. Tells whether it did.
    fn reopen(&mut self) -> bool;
}

pub(crate) fn id(text: &str) -> UniverseId {
    UniverseId::new(text).unwrap()
}

pub(crate) fn meta(id: &UniverseId, created_at: i64) -> Meta {
    let created_at = Timestamp::from_millis(created_at);
    Meta { id: id.clone(), name: format!("name of {id}"), created_at }
}

pub(crate) fn entry(body: impl Into<Bytes>) -> NewEntry {
    NewEntry {
        command_id: CommandId::random(),
        at: Timestamp::from_millis(7),
        body: body.into(),
        keyed: false,
    }
}

/// The answer to a batch that was stored now.
pub(crate) fn stored(revision: Revision) -> Result<Appended, AppendError> {
    Ok(Appended { revision, stored: true })
}

/// The answer to a batch that was there before.
pub(crate) fn before(revision: Revision) -> Result<Appended, AppendError> {
    Ok(Appended { revision, stored: false })
}

pub(crate) fn after(expected: u64, entries: Vec<NewEntry>) -> Append {
    Append { expected: Revision(expected), entries, name: None }
}

/// The next item; panics if the store hangs.
pub(crate) async fn next(tail: &mut Tail) -> Option<Result<Entry, TailError>> {
    tokio::time::timeout(HANG, tail.next()).await.expect("the tail hangs")
}

pub(crate) async fn next_entry(tail: &mut Tail) -> Entry {
    next(tail).await.expect("the tail has ended").expect("the tail has failed")
}
