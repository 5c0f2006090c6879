//! Whether the rows that say what a universe is fit each other: its record, its identity, its head, its beginning.
//!
//! A sum guards each row. Rows are compared besides, so that a row that is gone or old is noticed, too.

use std::fmt;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use super::columns::{head_sum, identity_sum};

/// What is known of a universe besides its bodies. A part that is missing is `None`.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) uni: i64,
    pub(super) record: Option<Identity>,
    pub(super) identity: Option<Identity>,
    /// Whether the identity is what was written.
    is_identity: bool,
    pub(super) head: Option<HeadRow>,
    /// The revision of the body that the log begins with.
    pub(super) base: Option<i64>,
}

/// What a universe is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) created_at: i64,
}

/// Where a log ends and begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadRow {
    pub(super) rev: i64,
    pub(super) seq: i64,
    pub(super) command: Option<Vec<u8>>,
    pub(super) at: i64,
    pub(super) oldest: i64,
    /// `None` as long as it was not seen to be right.
    sum: Option<i64>,
}

/// A part of a frame that does not fit the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The record is missing, or another one than the identity says.
    Record(&'static str),
    /// The identity is missing or damaged. The universe can be used without.
    Identity(&'static str),
    /// The head is missing or wrong.
    Head(String),
    /// The beginning is of another revision than the head says.
    Base(String),
    /// A row of no universe.
    Stray(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(problem) | Self::Identity(problem) | Self::Stray(problem) => {
                f.write_str(problem)
            }
            Self::Head(problem) | Self::Base(problem) => f.write_str(problem),
        }
    }
}

impl Frame {
    pub(super) fn read(connection: &Connection, uni: i64) -> rusqlite::Result<Self> {
        Self::select(connection, "SELECT ?1 AS uni", uni)
    }

    /// That of a universe that is called so in its record or its identity. In one statement, so that one that is being
    /// deleted is there wholly or not at all.
    pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Self>> {
        let named = "SELECT uni FROM universe WHERE id = ?1 UNION ALL SELECT uni FROM identity WHERE id = ?1 LIMIT 1";
        Self::select(connection, named, id).optional()
    }

    fn select(connection: &Connection, of: &str, key: impl ToSql) -> rusqlite::Result<Self> {
        let sql = format!(
            "SELECT u.id, u.name, u.created_at, i.id, i.name, i.created_at, i.sum, \
               h.rev, h.seq, h.command, h.at, h.oldest, h.sum, g.rev, k.uni \
             FROM ({of}) k LEFT JOIN universe u ON u.uni = k.uni \
               LEFT JOIN identity i ON i.uni = k.uni LEFT JOIN head h ON h.uni = k.uni \
               LEFT JOIN genesis g ON g.uni = k.uni"
        );
        connection.prepare_cached(&sql)?.query_row([key], |row| {
            let uni = row.get(14)?;
            let identity = part(row, 3, Identity::of_row)?;
            let is_identity = match (&identity, row.get::<_, Option<i64>>(6)?) {
                (Some(it), Some(kept)) => {
                    kept == identity_sum(uni, &it.id, &it.name, it.created_at)
                }
                _ => true,
            };
            let record = part(row, 0, Identity::of_row)?;
            let head = part(row, 7, HeadRow::of_row)?;
            Ok(Self { uni, record, identity, is_identity, head, base: row.get(13)? })
        })
    }

    /// How the universe is called in a report: by its id, as far as that is known.
    pub(super) fn name(&self) -> String {
        let known = self.identity.as_ref().filter(|_| self.is_identity).or(self.record.as_ref());
        known.map_or_else(|| format!("number {}", self.uni), |it| it.id.clone())
    }

    /// Why nothing of the universe may be served. The second copy of its record is only needed where that is missing.
    pub(super) fn problem(&self, connection: &Connection) -> rusqlite::Result<Option<Fault>> {
        let faults = self.faults(connection)?;
        Ok(faults.into_iter().find(|fault| !matches!(fault, Fault::Identity(_))))
    }

    /// What does not fit.
    pub(super) fn faults(&self, connection: &Connection) -> rusqlite::Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let is_alone = self.head.is_none() && self.base.is_none();
        match (&self.record, &self.identity) {
            (None, None) => faults.push(match (&self.head, self.base) {
                (Some(_), None) => Fault::Stray("a head belongs to no universe"),
                _ => Fault::Record("its record is missing, and so is its name"),
            }),
            (None, Some(_)) if is_alone => {
                faults.push(Fault::Stray("a second copy of a record belongs to no universe"));
            }
            (None, Some(_)) => faults.push(Fault::Record("its record is missing")),
            (Some(_), None) if is_alone => {
                faults.push(Fault::Stray("a record has neither a log nor a beginning"));
            }
            (Some(_), None) => {
                faults.push(Fault::Identity("the second copy of its record is missing"));
            }
            (Some(_), Some(_)) if !self.is_identity => {
                faults.push(Fault::Identity("the second copy of its record is damaged"));
            }
            (Some(record), Some(identity)) if record != identity => {
                faults.push(Fault::Record(
                    "its id, its name or the time of its creation is not what was written",
                ));
            }
            (Some(_), Some(_)) => {}
        }
        if matches!(faults.first(), Some(Fault::Stray(_))) {
            return Ok(faults);
        }
        match &self.head {
            None => faults.push(Fault::Head("its head is missing".to_owned())),
            Some(head) if !head.is_right(connection, self.uni)? => {
                let rev = head.rev;
                faults.push(Fault::Head(format!(
                    "its head, at revision {rev}, is not what was written"
                )));
            }
            Some(HeadRow { oldest, .. }) => {
                if let Some(base) = self.base.filter(|base| base != oldest) {
                    faults.push(Fault::Base(format!(
                        "the state at its beginning is said to be that of revision {base}, and its history begins at {oldest}"
                    )));
                }
            }
        }
        Ok(faults)
    }
}

impl Identity {
    /// From three columns, in the order of the table.
    pub(super) fn of_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let (id, name) = (row.get(first)?, row.get(first + 1)?);
        Ok(Self { id, name, created_at: row.get(first + 2)? })
    }
}

impl HeadRow {
    /// From six columns, in the order of the table.
    pub(super) fn of_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            rev: row.get(first)?,
            seq: row.get(first + 1)?,
            command: row.get(first + 2)?,
            at: row.get(first + 3)?,
            oldest: row.get(first + 4)?,
            sum: row.get(first + 5)?,
        })
    }

    pub(super) fn read(connection: &Connection, uni: i64) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT rev, seq, command, at, oldest, sum FROM head WHERE uni = ?1";
        let found = connection.prepare_cached(sql)?.query_row([uni], |row| Self::of_row(row, 0));
        found.optional()
    }

    pub(super) fn sum(&self, uni: i64) -> i64 {
        let Self { rev, seq, at, oldest, command, .. } = self;
        head_sum([uni, *rev, *seq, *at, *oldest], command.as_deref())
    }

    /// Whether it is what was written; without a sum, whether it is what its last entry says.
    pub(super) fn is_right(&self, connection: &Connection, uni: i64) -> rusqlite::Result<bool> {
        if let Some(kept) = self.sum {
            return Ok(kept == self.sum(uni));
        }
        if self.seq == 0 {
            return Ok(self.rev == self.oldest && self.command.is_none());
        }
        let sql = "SELECT rev, command, at FROM log WHERE seq = ?1 AND uni = ?2";
        let entry = connection.prepare_cached(sql)?.query_row([self.seq, uni], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<Vec<u8>>>(1)?, row.get::<_, i64>(2)?))
        });
        Ok(entry.optional()?.is_some_and(|(rev, command, at)| {
            rev == self.rev && command == self.command && at == self.at
        }))
    }
}

/// The numbers of all universes of which there is anything but entries.
pub(super) fn numbers(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT uni FROM universe UNION SELECT uni FROM identity UNION SELECT uni FROM head \
               UNION SELECT uni FROM genesis ORDER BY uni";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Makes the identities of a file that has none, and the sums of all heads that fit their logs. One that does not fit
/// stays without: it is compared each time.
pub(super) fn seal(connection: &Connection) -> rusqlite::Result<()> {
    for uni in numbers(connection)? {
        let frame = Frame::read(connection, uni)?;
        if let Some(record) = &frame.record {
            write_identity(connection, uni, record)?;
        }
        if let Some(head) = &frame.head
            && frame.problem(connection)?.is_none()
        {
            let sum = "UPDATE head SET sum = ?2 WHERE uni = ?1";
            connection.prepare_cached(sum)?.execute([uni, head.sum(uni)])?;
        }
    }
    Ok(())
}

pub(super) fn write_identity(
    connection: &Connection,
    uni: i64,
    identity: &Identity,
) -> rusqlite::Result<()> {
    let Identity { id, name, created_at } = identity;
    let sql = "INSERT INTO identity (uni, id, name, created_at, sum) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (uni) DO UPDATE SET id = excluded.id, name = excluded.name, \
                 created_at = excluded.created_at, sum = excluded.sum";
    let sum = identity_sum(uni, id, name, *created_at);
    connection.prepare_cached(sql)?.execute(params![uni, id, name, created_at, sum]).map(drop)
}

/// Writes a head: universe, revision, place of the entry, time, oldest revision; command.
pub(super) fn write_head(
    connection: &Connection,
    numbers: [i64; 5],
    command: Option<&[u8]>,
) -> rusqlite::Result<()> {
    let [uni, rev, seq, at, oldest] = numbers;
    let sum = head_sum(numbers, command);
    let sql = "INSERT OR REPLACE INTO head (uni, rev, seq, command, at, oldest, sum) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let all = params![uni, rev, seq, command, at, oldest, sum];
    connection.prepare_cached(sql)?.execute(all).map(drop)
}

/// A part of a frame, if its row is there.
fn part<T>(
    row: &Row<'_>,
    first: usize,
    read: fn(&Row<'_>, usize) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    if row.get_ref(first)? == ValueRef::Null { Ok(None) } else { read(row, first).map(Some) }
}
