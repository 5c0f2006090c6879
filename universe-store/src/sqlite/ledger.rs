//! Applies writes to the tables, within the writer's open transaction.
//!
//! Results are nested: the outer error is the database's and fails the whole transaction,
//! the inner one is the answer to this call alone.

mod tidy;

use std::collections::HashMap;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Params, Row, params};

use super::columns::{LARGE, integer, sum};
use super::frame::{Identity, write_head, write_identity};
use super::schema::{self, MARK};
use super::{Durability, reader};
use crate::adapter::failure::Failure;
use crate::model::Admission;
use crate::{
    Append, AppendError, Base, CommandId, CreateError, DeleteError, Head, KEY_TIME, Meta, NewEntry,
    Record, Revision, Snapshot, SnapshotError, TrimError, UniverseId,
};

/// Most heads that are remembered; beyond it all are forgotten and read again as needed.
const MAX_HEADS: usize = 1 << 16;

/// The writer's connection with what it remembers of the tables.
pub(super) struct Ledger {
    connection: Connection,
    heads: HashMap<UniverseId, Slot>,
    next_seq: i64,
    /// Whether what was written has filled the cache of pages to no further use.
    filled: bool,
    /// How many entries the open transaction has appended.
    appended: u32,
    /// Whether there are entries left of deleted universes and trimmed logs.
    sweeping: bool,
    /// Whether the file has much room that nothing is in.
    shrinking: bool,
    /// Whether all of that is to go.
    thorough: bool,
    /// Whether the file can shrink in steps.
    can_shrink: bool,
}

/// Where a universe stands in the tables.
#[derive(Clone, Copy)]
struct Slot {
    uni: i64,
    /// Its last entry, 0 for none.
    seq: i64,
    /// Where its log begins.
    oldest: Revision,
    head: Head,
}

/// What an append came to.
pub(super) struct Landed {
    /// The universe's number.
    pub(super) uni: i64,
    /// The head's revision before and after. The same if there was nothing to do.
    pub(super) before: Revision,
    pub(super) after: Revision,
    /// Whether it was not there before.
    pub(super) stored: bool,
}

impl Ledger {
    /// Takes the connection for writing, after a look whether the tables can be read.
    pub(super) fn open(connection: Connection, durability: Durability) -> rusqlite::Result<Self> {
        let mut ledger = Self {
            connection,
            heads: HashMap::new(),
            next_seq: 1,
            filled: false,
            appended: 0,
            sweeping: false,
            shrinking: false,
            thorough: false,
            can_shrink: false,
        };
        ledger.recall()?;
        schema::prepare_writer(&ledger.connection, durability)?;
        ledger.can_shrink = schema::can_shrink(&ledger.connection)?;
        ledger.shrinking = ledger.has_slack()?;
        Ok(ledger)
    }

    /// Whether there is something to tidy up while nothing else is to be done.
    pub(super) fn is_untidy(&self) -> bool {
        self.sweeping || self.shrinking
    }

    pub(super) fn begin(&mut self) -> rusqlite::Result<()> {
        self.appended = 0;
        self.run("BEGIN IMMEDIATE", [])
    }

    pub(super) fn commit(&mut self) -> rusqlite::Result<()> {
        self.run("COMMIT", [])?;
        if std::mem::take(&mut self.filled) {
            // What is written is written, whether its pages stay in memory or not.
            let _released = self.connection.release_memory();
        }
        Ok(())
    }

    /// Gives up the open transaction, if there is one, and what was remembered of it.
    pub(super) fn roll_back(&mut self) -> rusqlite::Result<()> {
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK", [])?;
        }
        self.recall()
    }

    pub(super) fn create(
        &mut self,
        meta: &Meta,
        base: &Base,
    ) -> rusqlite::Result<Result<(), CreateError>> {
        let taken = "SELECT EXISTS (SELECT 1 FROM universe WHERE id = ?1) OR EXISTS (SELECT 1 FROM identity WHERE id = ?1)";
        if self.get(taken, [meta.id.as_str()], |row| row.get(0))? {
            return Ok(Err(CreateError::Exists));
        }
        self.run(
            "INSERT INTO universe (id, name, created_at) VALUES (?1, ?2, ?3)",
            params![meta.id.as_str(), meta.name, meta.created_at.as_millis()],
        )?;
        let uni = self.connection.last_insert_rowid();
        let (at, rev) = (base.at.as_millis(), integer(base.revision));
        let identity = Identity {
            id: meta.id.as_str().to_owned(),
            name: meta.name.clone(),
            created_at: meta.created_at.as_millis(),
        };
        write_identity(&self.connection, uni, &identity)?;
        let slot = Slot { uni, seq: 0, oldest: base.revision, head: base.head() };
        self.write_head(slot)?;
        self.run(
            "INSERT INTO genesis (uni, body, rev, at, sum) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![uni, &base.body[..], rev, at, sum(&[uni, rev, at], &[&base.body])],
        )?;
        self.remember(&meta.id, slot);
        Ok(Ok(()))
    }

    pub(super) fn append(
        &mut self,
        id: &UniverseId,
        append: &Append,
    ) -> rusqlite::Result<Result<Landed, AppendError>> {
        let Slot { uni, mut seq, oldest, head } = match self.find(id, AppendError::NotFound)? {
            Ok(slot) => slot,
            Err(error) => return Ok(Err(error)),
        };
        let before = head.revision;
        let head = match head.admit(append) {
            Ok(Admission::Proceed(head)) => head,
            Ok(Admission::Landed) => {
                return Ok(Ok(Landed { uni, before, after: before, stored: false }));
            }
            Err(error) => return Ok(Err(error)),
        };
        let mut revision = before;
        for entry in &append.entries {
            revision = revision.next();
            let prev = seq;
            seq = self.next_seq;
            self.next_seq += 1;
            self.appended = self.appended.saturating_add(1);
            let (at, command) = (entry.at.as_millis(), entry.command_id.0.as_bytes());
            let place = [uni, integer(revision), seq, prev, at];
            let kept = sum(&place, &[command, &entry.body]);
            let is_large = entry.body.len() > LARGE;
            let body = if is_large {
                ToSqlOutput::ZeroBlob(entry.body.len() as u64)
            } else {
                ToSqlOutput::from(&entry.body[..])
            };
            self.run(
                "INSERT INTO log (seq, uni, rev, prev, at, command, body, sum) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![seq, uni, integer(revision), prev, at, command, body, kept],
            )?;
            if is_large {
                let mut room = self.connection.blob_open("main", "log", "body", seq, false)?;
                room.write_all_at(&entry.body, 0)?;
                self.filled = true;
            }
            if entry.keyed {
                self.remember_key(uni, revision, entry)?;
            }
            if revision.0.is_multiple_of(MARK) {
                self.run(
                    "INSERT INTO mark (uni, rev, seq) VALUES (?1, ?2, ?3)",
                    [uni, integer(revision), seq],
                )?;
            }
        }
        self.write_head(Slot { uni, seq, oldest, head })?;
        if let Some(name) = &append.name {
            let renamed = "UPDATE universe SET name = ?2 WHERE uni = ?1 RETURNING created_at";
            let created_at = self.get(renamed, params![uni, name], |row| row.get(0))?;
            let (id, name) = (id.as_str().to_owned(), name.clone());
            write_identity(&self.connection, uni, &Identity { id, name, created_at })?;
        }
        self.remember(id, Slot { uni, seq, oldest, head });
        Ok(Ok(Landed { uni, before, after: revision, stored: true }))
    }

    fn write_head(&self, slot: Slot) -> rusqlite::Result<()> {
        let Slot { uni, seq, oldest, head } = slot;
        let (rev, oldest) = (integer(head.revision), integer(oldest));
        let command = head.last_command_id.as_ref().map(|id| &id.0.as_bytes()[..]);
        let at = head.updated_at.as_millis();
        write_head(&self.connection, [uni, rev, seq, at, oldest], command)
    }

    /// Lets a keyed entry be found, and forgets some that are old.
    fn remember_key(&self, uni: i64, revision: Revision, entry: &NewEntry) -> rusqlite::Result<()> {
        let old = entry.at.before(KEY_TIME).as_millis();
        self.run(
            "DELETE FROM keyed WHERE (uni, command) IN \
             (SELECT uni, command FROM keyed WHERE at < ?1 LIMIT 16)",
            [old],
        )?;
        self.run(
            "INSERT INTO keyed (uni, command, rev, at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET rev = excluded.rev, at = excluded.at",
            params![uni, entry.command_id.0.as_bytes(), integer(revision), entry.at.as_millis()],
        )
    }

    /// Removes a universe from sight and leaves its entries to [`sweep`](Self::sweep). Gives its
    /// number.
    pub(super) fn delete(
        &mut self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> rusqlite::Result<Result<i64, DeleteError>> {
        let Slot { uni, seq, head, .. } = match self.find(id, DeleteError::NotFound)? {
            Ok(slot) => slot,
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = head.admit_delete(expected) {
            return Ok(Err(error));
        }
        self.run("DELETE FROM universe WHERE uni = ?1", [uni])?;
        self.run("DELETE FROM identity WHERE uni = ?1", [uni])?;
        self.run("DELETE FROM head WHERE uni = ?1", [uni])?;
        self.run("DELETE FROM genesis WHERE uni = ?1", [uni])?;
        self.run("DELETE FROM snap WHERE uni = ?1", [uni])?;
        self.run("DELETE FROM keyed WHERE uni = ?1", [uni])?;
        if seq != 0 {
            self.doom(uni, seq)?;
        }
        self.heads.remove(id);
        Ok(Ok(uni))
    }

    /// Lets a log begin later and leaves the entries before to [`tidy`](Self::tidy).
    pub(super) fn trim(
        &mut self,
        id: &UniverseId,
        last: CommandId,
        base: &Base,
    ) -> rusqlite::Result<Result<(), TrimError>> {
        let slot = match self.find(id, TrimError::NotFound)? {
            Ok(slot) => slot,
            Err(error) => return Ok(Err(error)),
        };
        let Slot { uni, seq, oldest, head } = slot;
        if base.revision <= oldest {
            return Ok(Ok(()));
        }
        if base.revision >= head.revision {
            return Ok(Err(TrimError::NotThere));
        }
        let found = reader::place(&self.connection, uni, base.revision, head.revision, seq);
        let seq = match found {
            Ok((seq, command)) if command == last => seq,
            Err(error) if !reader::is_damage(&error) => return Err(error),
            // Of another universe, or damaged.
            Ok(_) | Err(_) => return Ok(Err(TrimError::NotThere)),
        };
        let (rev, at) = (integer(base.revision), base.at.as_millis());
        let kept = sum(&[uni, rev, at], &[&base.body]);
        self.run(
            "UPDATE genesis SET body = ?2, rev = ?3, at = ?4, sum = ?5 WHERE uni = ?1",
            params![uni, &base.body[..], rev, at, kept],
        )?;
        let slot = Slot { oldest: base.revision, ..slot };
        self.write_head(slot)?;
        self.remember(id, slot);
        self.run("DELETE FROM snap WHERE uni = ?1 AND rev <= ?2", [uni, rev])?;
        self.doom(uni, seq)?;
        Ok(Ok(()))
    }

    fn doom(&mut self, uni: i64, seq: i64) -> rusqlite::Result<()> {
        self.sweeping = true;
        self.run("INSERT OR IGNORE INTO doomed (seq, uni) VALUES (?1, ?2)", [seq, uni])
    }

    pub(super) fn put_snapshot(
        &mut self,
        id: &UniverseId,
        snapshot: &Snapshot,
    ) -> rusqlite::Result<Result<(), SnapshotError>> {
        let Slot { uni, oldest, head, .. } = match self.find(id, SnapshotError::NotFound)? {
            Ok(slot) => slot,
            Err(error) => return Ok(Err(error)),
        };
        if snapshot.revision > head.revision {
            return Ok(Err(SnapshotError::Ahead { head: head.revision }));
        }
        if snapshot.revision < oldest {
            return Ok(Ok(()));
        }
        let rev = integer(snapshot.revision);
        self.run(
            "INSERT INTO snap (uni, rev, body, sum) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET rev = excluded.rev, body = excluded.body, sum = excluded.sum \
             WHERE excluded.rev > rev",
            params![uni, rev, &snapshot.body[..], sum(&[uni, rev], &[&snapshot.body])],
        )?;
        Ok(Ok(()))
    }

    /// Where a universe stands; nothing is written to one whose head is not what was written.
    fn find<E: From<Failure>>(
        &mut self,
        id: &UniverseId,
        missing: E,
    ) -> rusqlite::Result<Result<Slot, E>> {
        if let Some(slot) = self.heads.get(id) {
            return Ok(Ok(*slot));
        }
        let found = match reader::find(&self.connection, id) {
            Err(error) if reader::is_damage(&error) => {
                tracing::error!(%error, "a universe is damaged, and not written to");
                return Ok(Err(Failure::Unavailable.into()));
            }
            found => found?,
        };
        let Some((uni, seq, Record { head, oldest, .. })) = found else {
            return Ok(Err(missing));
        };
        let slot = Slot { uni, seq, oldest, head };
        self.remember(id, slot);
        Ok(Ok(slot))
    }

    fn remember(&mut self, id: &UniverseId, slot: Slot) {
        if let Some(known) = self.heads.get_mut(id) {
            *known = slot;
            return;
        }
        if self.heads.len() >= MAX_HEADS {
            self.heads.clear();
        }
        self.heads.insert(id.clone(), slot);
    }

    /// Reads again what is remembered besides heads, and forgets the heads.
    fn recall(&mut self) -> rusqlite::Result<()> {
        self.heads.clear();
        let last: i64 = self.get("SELECT coalesce(max(seq), 0) FROM log", [], |row| row.get(0))?;
        self.next_seq = last + 1;
        self.sweeping = self.get("SELECT EXISTS (SELECT 1 FROM doomed)", [], |row| row.get(0))?;
        Ok(())
    }

    fn get<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.prepare_cached(sql)?.query_row(params, row)
    }

    fn run(&self, sql: &str, params: impl Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(params).map(drop)
    }
}
