//! The store port: one gapless log per universe, appended by compare-and-set, with a tail.
//!
//! A universe is a [`Meta`], a [`Base`] (at first its *genesis*, the body at [`Revision::GENESIS`]) and the entries
//! appended since. [Trimming](UniverseLog::trim) moves the base towards the head. Bodies are opaque here. Everything
//! that looks like a feed (broadcast, resumption of an event stream, catching up before a command) is
//! [`UniverseLog::tail`]; snapshots only save replaying and may be lost at any time.
//!
//! Adapters: [`MemoryStore`] forgets at exit, [`SqliteStore`] keeps one data directory, `PostgresStore` (feature
//! `postgres`) a database that many nodes share, `NatsStore` (feature `nats`) streams that they share. One suite of
//! tests judges all.

#[cfg(any(feature = "nats", feature = "postgres"))]
pub mod clients;
mod error;
mod failure;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod hints;
mod id;
mod live;
mod memory;
mod model;
#[cfg(feature = "nats")]
pub mod nats;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
mod tail;
mod timestamp;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod tls;

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
    Append, Appended, Base, Entry, Head, InvalidPosition, Meta, NewEntry, Page, Position, Record,
    Size, Snapshot,
};
#[cfg(feature = "nats")]
pub use self::nats::NatsStore;
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresStore;
pub use self::sqlite::SqliteStore;
pub use self::timestamp::Timestamp;

/// Most bytes one write may carry: all its bodies and names together (256 MiB).
pub const MAX_WRITE: usize = 256 << 20;

/// How long keyed entries are found by their command: 24 hours.
pub const KEY_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Most records one [`Page`] gives, however many were asked for.
pub const MAX_PAGE: usize = 1_000;

/// Where universes are kept.
///
/// Every method is safe to call from many tasks at once, inside a Tokio runtime with time and
/// blocking threads. A write is acknowledged only when it is as durable as the adapter promises.
/// Dropping the future of a write before it is answered leaves open whether it lands. Ids name at
/// most one universe at a time; a universe made again under the id of a deleted one is a new
/// universe, starting at revision 0.
pub trait UniverseLog: Send + Sync {
    /// Whether others may write into it meanwhile: other processes, on other machines. Then what was read is what was,
    /// and [`record`](Self::record) tells whether it still is. By default only this process writes.
    fn is_shared(&self) -> bool {
        false
    }

    /// How many copies of everything are kept on different machines, where the adapter knows; `None` where it does not,
    /// or where there is one.
    fn copies(&self) -> Option<usize> {
        None
    }

    /// How far a universe comes in a store that is [shared](Self::is_shared): its revision whenever that may be a new
    /// one, and [`Revision::MAX`] to say that one has to look, at first, where some may have been missed, and when the
    /// universe is gone. Does nothing until polled, costs no reading of entries, and ends with the universe or when the
    /// store does not work. By default there are none.
    fn hints(&self, id: &UniverseId) -> BoxStream<'static, Revision> {
        let _none_to_tell_of = id;
        Box::pin(futures_util::stream::empty())
    }

    /// Makes a universe at revision 0 with `genesis` as its body.
    ///
    /// # Errors
    /// [`CreateError::Exists`] if the id is taken, and then nothing changes.
    fn create(&self, meta: Meta, genesis: Bytes) -> BoxFuture<'_, Result<(), CreateError>> {
        let base = Base {
            revision: Revision::GENESIS,
            at: meta.created_at,
            body: genesis,
        };
        self.create_from(meta, base)
    }

    /// Makes a universe whose log begins with `base`, wherever that is, as if what was before had been
    /// [trimmed](Self::trim): for copies of universes. No command is known of its head until there is an entry.
    ///
    /// # Errors
    /// [`CreateError::Exists`] if the id is taken, and then nothing changes.
    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>>;

    /// Appends a batch after the expected revision, all of it or nothing, and gives the head's revision
    /// and whether this call stored it.
    ///
    /// A batch whose last command id is that of the head has landed before: it is not appended again, and the head's
    /// revision is the answer whatever was expected, with [`stored`](Appended::stored) false. Only that
    /// command is compared. Where other writers may use the same id, the entries may differ, and the
    /// caller has to read them. An empty batch appends nothing: it compares, and stores the name if it has one.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] with the head that was found instead; [`AppendError::Unknown`] when
    /// the batch may or may not have landed, which the same call again, or
    /// [`record`](Self::record), resolves.
    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Appended, AppendError>>;

    /// The revision of the [keyed](NewEntry::keyed) entry that records this command, if it was appended within
    /// [`KEY_TIME`].
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>>;

    /// Deletes a universe with all it has; its tails end. With `expected`, only at that revision.
    ///
    /// # Errors
    /// [`DeleteError::NotFound`], [`DeleteError::Conflict`]; [`DeleteError::Full`] where deleting needs room first.
    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>>;

    /// What is known of a universe without its bodies: meta and head, read together.
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>>;

    /// One page of all universes, the newest created first (then by id, descending).
    ///
    /// # Errors
    /// [`ReadError::Unavailable`] alone.
    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>>;

    /// How many universes there are.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`] alone.
    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>>;

    /// How much room they take on the disk; `None` where they take none.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`] alone.
    fn size(&self) -> BoxFuture<'_, Result<Option<Size>, ReadError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The body that the log begins with.
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>>;

    /// Lets the log begin with `base`: the entries up to its revision go, at once from sight, and from the disk by and
    /// by, without holding up writes. `last` is the command of the entry at that revision, which says that `base` is
    /// of this universe. A base that is not newer is ignored. The head's entry always stays.
    ///
    /// # Errors
    /// [`TrimError::NotThere`] unless there is such an entry before the head.
    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>>;

    /// The lowest revision of the [keyed](NewEntry::keyed) entries appended within [`KEY_TIME`].
    ///
    /// # Errors
    /// [`ReadError::NotFound`].
    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>>;

    /// The newest snapshot that was kept, if any.
    ///
    /// # Errors
    /// [`ReadError::NotFound`] if there is no such universe.
    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>>;

    /// Offers a snapshot to keep in place of an older one. One that is not newer, or from before the base, is ignored.
    ///
    /// # Errors
    /// [`SnapshotError::Ahead`] if its revision is beyond the head.
    fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: Snapshot,
    ) -> BoxFuture<'_, Result<(), SnapshotError>>;

    /// The entries after revision `after`: the history, then live, in order, without gap or double,
    /// without end.
    ///
    /// The stream does nothing until polled and ends only with an error, its last item. To read the
    /// history alone, take as many entries as [`record`](Self::record) tells there are. A slow
    /// reader costs the store nothing: it is cut over to the log.
    ///
    /// # Errors
    /// [`TailError::NotFound`], or [`TailError::Ahead`] if `after` is beyond the head, as the first
    /// item; [`TailError::Trimmed`] where the next entry is not kept, [`TailError::Damaged`] where it cannot be read;
    /// [`TailError::Deleted`] when the universe goes, possibly before its last entries were seen.
    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>>;
}
