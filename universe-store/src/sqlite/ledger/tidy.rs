//! Cleanup of entries that can no longer be read, and of unused pages.

use rusqlite::OptionalExtension;

use super::Ledger;
use crate::Size;
use crate::sqlite::repair;
use crate::sqlite::schema::{self, MARK};

/// Free pages that the file keeps: this many, or this share of all its pages.
const FREE_PAGES: i64 = 256;
const FREE_SHARE: i64 = 8;

/// Entries removed in one transaction while there is nothing else to do for anybody.
const SWEEP: u32 = 10_000;

/// How many entries are removed for each that is appended meanwhile, so that what is to go becomes less however much
/// comes.
const SWEEP_PER_ENTRY: u32 = 2;

/// How many entries may be removed in the time of giving back a page.
const ROWS_PER_PAGE: u32 = 4;

impl Ledger {
    /// Removes up to `rows` entries that no reader sees any more, or twice as many as the open transaction appends if
    /// that is more. When no such entries are left, some unused space of the file is returned to the system.
    pub(in crate::sqlite) fn tidy(&mut self, rows: u32) -> rusqlite::Result<()> {
        if self.sweeping {
            return self.sweep(rows.max(self.appended.saturating_mul(SWEEP_PER_ENTRY)));
        }
        let pages = rows / ROWS_PER_PAGE;
        self.connection.execute_batch(&format!("PRAGMA incremental_vacuum({pages})"))?;
        self.shrinking = self.has_slack()?;
        self.thorough &= self.shrinking;
        Ok(())
    }

    /// Removes all entries that no reader sees any more and writes the whole file afresh. Gives the sizes before and
    /// after.
    pub(in crate::sqlite) fn compact(&mut self) -> rusqlite::Result<(Size, Size)> {
        let before = schema::sizes(&self.connection)?;
        while self.sweeping {
            self.begin()?;
            self.sweep(SWEEP)?;
            self.commit()?;
        }
        schema::rewrite(&self.connection)?;
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok((before, schema::sizes(&self.connection)?))
    }

    /// Puts right what the rest of the tables proves.
    pub(in crate::sqlite) fn repair(self) -> rusqlite::Result<Vec<String>> {
        repair::repair(&self.connection)
    }

    /// Has the file give back all its free room, as far as it can shrink. Gives whether it can.
    pub(in crate::sqlite) fn shrink(&mut self) -> bool {
        self.thorough = self.can_shrink;
        self.shrinking |= self.can_shrink;
        self.can_shrink
    }

    /// Brings what the log of the database has into the file, which then has its new size, as far as no reader is in
    /// the way.
    pub(in crate::sqlite) fn checkpoint(&self) -> rusqlite::Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }

    /// Removes up to `rows` entries, from one chain.
    fn sweep(&mut self, rows: u32) -> rusqlite::Result<()> {
        let next = "SELECT uni, seq FROM doomed LIMIT 1";
        let doomed = self.get(next, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((uni, first)): Option<(i64, i64)> = doomed.optional()? else {
            self.sweeping = false;
            self.shrinking = self.has_slack()?;
            return Ok(());
        };
        let mut seq = first;
        for _ in 0..rows {
            let step = "DELETE FROM log WHERE seq = ?1 AND uni = ?2 RETURNING prev, rev";
            let step = self.get(step, [seq, uni], |row| Ok((row.get(0)?, row.get(1)?)));
            // Past the first entry, or where another chain was removed.
            let Some((prev, rev)): Option<(i64, i64)> = step.optional()? else {
                seq = 0;
                break;
            };
            if rev.cast_unsigned().is_multiple_of(MARK) {
                self.run("DELETE FROM mark WHERE uni = ?1 AND rev = ?2", [uni, rev])?;
            }
            seq = prev;
        }
        self.run("DELETE FROM doomed WHERE seq = ?1", [first])?;
        if seq != 0 {
            self.doom(uni, seq)?;
        }
        Ok(())
    }

    /// Whether the file can and should shrink: some free room is kept, since it will be used again.
    pub(super) fn has_slack(&self) -> rusqlite::Result<bool> {
        if !self.can_shrink {
            return Ok(false);
        }
        let number = |name| {
            let sql = format!("PRAGMA {name}");
            self.get(&sql, [], |row| row.get::<_, i64>(0))
        };
        let (free, all) = (number("freelist_count")?, number("page_count")?);
        if self.thorough {
            return Ok(free > 0);
        }
        Ok(free > FREE_PAGES.max(all / FREE_SHARE))
    }

    /// Leaves off tidying, which has failed, until there is something new to tidy up or the store is opened again.
    pub(in crate::sqlite) fn rest(&mut self) {
        (self.sweeping, self.shrinking, self.thorough) = (false, false, false);
    }
}
