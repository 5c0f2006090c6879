//! The store port: one gapless log per universe, appended by compare-and-set, with a tail.
//!
//! A universe is a [`Meta`], a [`Base`] (at first its *genesis*, the body at [`Revision::GENESIS`]) and the entries
//! appended since. [Trimming](UniverseLog::trim) moves the base towards the head. The store does not read bodies.
//! Everything that follows a log (broadcast, resumption of an event stream, catching up before a command) uses
//! [`UniverseLog::tail`]. Snapshots only make replay shorter and may be lost at any time.
//!
//! Adapters: [`MemoryStore`] forgets at exit, [`SqliteStore`] uses one data directory, `PostgresStore` (feature
//! `postgres`) a database that many nodes share. The crate `universe-nats` keeps universes in streams that many nodes
//! share. The same test suite covers all four; [`adapter`] has what they share.

pub mod adapter;
pub mod clients;
mod error;
mod id;
mod memory;
mod model;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
mod timestamp;
mod turns;

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

pub use self::error::{
    AppendError, CreateError, DeleteError, ReadError, SnapshotError, TailError, TrimError,
};
pub use self::id::{CommandId, InvalidId, InvalidKey, Revision, UniverseId};
pub use self::memory::{MemoryLimits, MemoryStore};
pub use self::model::{
    Append, Appended, Base, Entry, Finding, Head, InvalidPosition, Meta, NewEntry, Page, Position,
    Record, Size, Snapshot,
};
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresStore;
pub use self::sqlite::SqliteStore;
pub use self::timestamp::Timestamp;
pub use self::turns::Turns;

/// The maximum size of one write, in bytes: all its bodies and names together (256 MiB).
pub const MAX_WRITE: usize = 256 << 20;

/// How long a keyed entry can be found by its command: 24 hours.
pub const KEY_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The most records that one [`Page`] returns, whatever its limit.
pub const MAX_PAGE: usize = 1_000;

/// What a store will answer.
pub type Answer<'a, T, E = ReadError> = BoxFuture<'a, Result<T, E>>;

/// The entries of a universe, those that are there and then those that come.
pub type LogTail = BoxStream<'static, Result<Entry, TailError>>;

/// A store of universes.
///
/// Every method is safe to call from many tasks at once, inside a Tokio runtime with time and
/// blocking threads. A write is acknowledged only when it is as durable as the adapter promises.
/// If the future of a write is dropped before it completes, the write may or may not be stored. An id
/// names at most one universe at a time. A universe created under the id of a deleted one is a new
/// universe, starting at revision 0.
pub trait UniverseLog: Send + Sync {
    /// Whether other processes, also on other machines, may write to this store. If so, a value that was read may be
    /// out of date; [`record`](Self::record) shows whether it is. By default only this process writes.
    fn is_shared(&self) -> bool {
        false
    }

    /// The number of copies kept on different machines. `None` if the adapter does not know it, or if there is only
    /// one copy.
    fn copies(&self) -> Option<usize> {
        None
    }

    /// The revisions that a universe reaches in a [shared](Self::is_shared) store: an item whenever its revision may
    /// have changed. [`Revision::MAX`] means that the caller has to look: it comes first, after hints may have been
    /// missed, and when the universe is gone. The stream does nothing until polled and reads no entries. It ends with
    /// the universe, or when the store does not work. By default it is empty.
    fn hints(&self, id: &UniverseId) -> BoxStream<'static, Revision> {
        let _none_to_tell_of = id;
        Box::pin(futures_util::stream::empty())
    }

    /// Creates a universe at revision 0 with `genesis` as its body.
    ///
    /// # Errors
    /// [`CreateError::Exists`] if the id is taken, and then nothing changes.
    fn create(&self, meta: Meta, genesis: Bytes) -> Answer<'_, (), CreateError> {
        let base = Base { revision: Revision::GENESIS, at: meta.created_at, body: genesis };
        self.create_from(meta, base)
    }

    /// Creates a universe whose log begins with `base`, at any revision, as if all earlier entries had been
    /// [trimmed](Self::trim). This is for copies of universes. The head has no command until an entry is appended.
    ///
    /// # Errors
    /// [`CreateError::Exists`] if the id is taken, and then nothing changes.
    fn create_from(&self, meta: Meta, base: Base) -> Answer<'_, (), CreateError>;

    /// Appends a batch after the expected revision, all of it or nothing. Returns the head's revision
    /// and whether this call stored the batch.
    ///
    /// A batch whose last command id is that of the head was stored before. It is not appended again: the head's
    /// revision is returned, whatever was expected, with [`stored`](Appended::stored) false. Only that
    /// command is compared. If other writers may use the same id, the entries may differ, and the
    /// caller has to read them. An empty batch appends nothing: it compares, and stores the name if it has one.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] with the head that was found instead. [`AppendError::Unknown`] if
    /// the batch may or may not have been stored: repeat the call, or read
    /// [`record`](Self::record), to find out.
    fn append(&self, id: &UniverseId, append: Append) -> Answer<'_, Appended, AppendError>;

    /// The revision of the [keyed](NewEntry::keyed) entry that records this command, if it was appended within
    /// [`KEY_TIME`].
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn landed(&self, id: &UniverseId, command: CommandId) -> Answer<'_, Option<Revision>>;

    /// Deletes a universe and all its data, and ends its tails. With `expected`, only at that revision.
    ///
    /// # Errors
    /// [`DeleteError::NotFound`], [`DeleteError::Conflict`]; [`DeleteError::Full`] if deleting needs space first.
    fn delete(&self, id: &UniverseId, expected: Option<Revision>) -> Answer<'_, (), DeleteError>;

    /// The record of a universe, without its bodies: meta and head, read together.
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn record(&self, id: &UniverseId) -> Answer<'_, Record>;

    /// One page of all universes, the newest created first (then by id, descending).
    ///
    /// # Errors
    /// Only [`ReadError::Unavailable`].
    fn list(&self, page: Page) -> Answer<'_, Vec<Record>>;

    /// The number of universes.
    ///
    /// # Errors
    /// Only [`ReadError::Unavailable`].
    fn count(&self) -> Answer<'_, u64>;

    /// The disk space that the universes use; `None` if they use none, which is the default.
    ///
    /// # Errors
    /// Only [`ReadError::Unavailable`].
    fn size(&self) -> Answer<'_, Option<Size>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The body that the log begins with.
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn base(&self, id: &UniverseId) -> Answer<'_, Base>;

    /// Makes the log begin with `base`. The entries up to its revision can no longer be read; they are deleted from the
    /// disk gradually, without blocking writes. `last` is the command of the entry at that revision, and shows that
    /// `base` belongs to this universe. A base that is not newer is ignored. The head's entry always stays.
    ///
    /// # Errors
    /// [`TrimError::NotThere`] unless there is such an entry before the head.
    fn trim(&self, id: &UniverseId, last: CommandId, base: Base) -> Answer<'_, (), TrimError>;

    /// The lowest revision of the [keyed](NewEntry::keyed) entries appended within [`KEY_TIME`].
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn oldest_keyed(&self, id: &UniverseId) -> Answer<'_, Option<Revision>>;

    /// The newest snapshot kept, if any.
    ///
    /// # Errors
    /// [`ReadError::NotFound`] if the universe does not exist.
    fn snapshot(&self, id: &UniverseId) -> Answer<'_, Option<Snapshot>>;

    /// Stores a snapshot instead of an older one. A snapshot that is not newer, or is from before the base, is ignored.
    ///
    /// # Errors
    /// [`SnapshotError::Ahead`] if its revision is beyond the head.
    fn put_snapshot(&self, id: &UniverseId, snapshot: Snapshot) -> Answer<'_, (), SnapshotError>;

    /// What does not fit together in the records, heads, beginnings and logs of the universes, without their bodies.
    /// `None` if the adapter does not look, or has other ways to.
    ///
    /// # Errors
    /// Only [`ReadError::Unavailable`].
    fn findings(&self) -> Answer<'_, Option<Vec<Finding>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Puts right what the rest of the store proves. Gives a line for each thing done; none by default.
    ///
    /// # Errors
    /// Only [`ReadError::Unavailable`].
    fn repair(&self) -> Answer<'_, Vec<String>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The entries after revision `after`: first the history, then new entries as they are appended, in
    /// order, without gaps or duplicates.
    ///
    /// The stream does nothing until polled and ends only with an error, its last item. To read only the
    /// history, stop at the head that [`record`](Self::record) returns. A slow
    /// reader costs the store nothing: it reads from the log instead.
    ///
    /// # Errors
    /// [`TailError::NotFound`], or [`TailError::Ahead`] if `after` is beyond the head, as the first
    /// item; [`TailError::Trimmed`] if the next entry is not kept, [`TailError::Damaged`] if it cannot be read;
    /// [`TailError::Deleted`] when the universe is deleted, possibly before its last entries were seen.
    fn tail(&self, id: &UniverseId, after: Revision) -> LogTail;
}
