//! Newest first through several lists at once: each is read from an index in order, and the newest of their heads is
//! next. Nothing is sorted, and only rows that are examined are read.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use rusqlite::{CachedStatement, Connection, Row, Rows, params};

use super::filter::{Filter, Range};
use crate::index::matcher::Fit;

/// The most lists that are walked at once: each is an open statement.
pub(in crate::index) const MAX_LISTS: usize = 64;

/// The position of a message among all, by time and then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::index) struct Position {
    pub(in crate::index) at: i64,
    pub(in crate::index) msg: i64,
}

impl Position {
    /// Newer than every message.
    pub(in crate::index) const NEWEST: Self = Self { at: i64::MAX, msg: i64::MAX };
    /// Older than every message.
    pub(in crate::index) const OLDEST: Self = Self { at: i64::MIN, msg: i64::MIN };
}

/// What the lists are by: one for each source, chat or person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) enum By {
    Source,
    Chat,
    Person,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) enum Ended {
    /// No messages are left.
    AtEnd,
    /// Enough messages were found.
    Enough,
    /// As many messages as allowed were examined; this was the last.
    Tired(Position),
}

/// The messages that a walk finds: after `skip`, up to `want`.
#[derive(Debug)]
pub(in crate::index) struct Basket {
    pub(in crate::index) skip: usize,
    pub(in crate::index) want: usize,
    pub(in crate::index) rows: Vec<Position>,
    /// Those that match inside a word.
    pub(in crate::index) inside: Vec<Position>,
    /// Which of the two are wanted.
    pub(in crate::index) fits: Fits,
    /// Whether the oldest come first.
    pub(in crate::index) oldest: bool,
}

/// Which matches are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) enum Fits {
    /// Both, those by whole words first.
    Both,
    /// Those by whole words.
    Whole,
    /// Those inside words.
    Inside,
}

impl Basket {
    pub(in crate::index) fn put(&mut self, position: Position, fit: Fit) -> ControlFlow<()> {
        match (fit, self.fits) {
            (Fit::Whole, Fits::Both | Fits::Whole) if self.skip > 0 => self.skip -= 1,
            (Fit::Whole, Fits::Both | Fits::Whole) => self.rows.push(position),
            (Fit::Inside, Fits::Both | Fits::Inside) if !self.is_full() => {
                self.inside.push(position);
            }
            _ => {}
        }
        // A match by whole words takes the place of one inside a word.
        let is_enough =
            if self.fits == Fits::Inside { self.is_full() } else { self.rows.len() >= self.want };
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether there are as many as are wanted, by whole words and inside words.
    pub(in crate::index) const fn is_full(&self) -> bool {
        self.rows.len() + self.inside.len() >= self.want
    }
}

/// Puts matching messages older than `from`, or newer if the oldest come first, into the basket. Examines no more than
/// `most` messages.
pub(in crate::index) fn walk(
    view: &Connection,
    (by, lists): (By, &[i64]),
    from: Position,
    range: Range,
    filter: &mut Filter,
    most: usize,
    basket: &mut Basket,
) -> rusqlite::Result<Ended> {
    let oldest = basket.oldest;
    let sql = sql(by, oldest, filter);
    let mut statements = lists
        .iter()
        .map(|_| view.prepare_cached(&sql))
        .collect::<rusqlite::Result<Vec<CachedStatement<'_>>>>()?;
    let bound = |at| Position { at, msg: i64::MIN };
    let from = if oldest { from.max(bound(range.since)) } else { from.min(bound(range.before)) };
    let end = if oldest { range.before } else { range.since };
    let mut heads = BinaryHeap::with_capacity(lists.len());
    let mut open: Vec<Rows<'_>> = Vec::with_capacity(lists.len());
    for (statement, list) in statements.iter_mut().zip(lists) {
        let mut rows = statement.query(params![list, end, from.at, from.msg])?;
        heads.extend(next(&mut rows, open.len(), oldest, filter)?);
        open.push(rows);
    }
    let mut looked = 0;
    while let Some(Head { position, list, fit, .. }) = heads.pop() {
        if basket.put(position, fit).is_break() {
            return Ok(Ended::Enough);
        }
        looked += 1;
        if looked >= most {
            return Ok(Ended::Tired(position));
        }
        if let Some(rows) = open.get_mut(list) {
            heads.extend(next(rows, list, oldest, filter)?);
        }
    }
    Ok(Ended::AtEnd)
}

/// The next message of a list. Ordered by rank first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    /// The position, turned round if the oldest comes first.
    rank: Position,
    list: usize,
    position: Position,
    fit: Fit,
}

fn next(
    rows: &mut Rows<'_>,
    list: usize,
    oldest: bool,
    filter: &mut Filter,
) -> rusqlite::Result<Option<Head>> {
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let position = position(row)?;
    // The complement of a number falls as the number rises.
    let turned = Position { at: !position.at, msg: !position.msg };
    let rank = if oldest { turned } else { position };
    Ok(Some(Head { rank, list, position, fit: filter.fit(row)? }))
}

/// The columns that [`Filter::fit`] examines, of messages.
pub(in crate::index) fn columns(filter: &Filter) -> String {
    // Without them an index alone is read.
    let text = if filter.reads_text() {
        "CASE WHEN names IS NULL THEN text ELSE text || char(10) || names END"
    } else {
        "''"
    };
    let topic = if filter.topic.is_some() { "topic" } else { "NULL" };
    format!("SELECT at, msg, person, chat, kinds, {text}, {topic} FROM message")
}

fn sql(by: By, oldest: bool, filter: &Filter) -> String {
    let (index, column) = match by {
        By::Source => ("message_by_source", "src"),
        By::Chat => ("message_by_chat", "chat"),
        By::Person => ("message_by_person", "person"),
    };
    let order = if oldest {
        "at < ?2 AND at >= ?3 AND (at > ?3 OR msg > ?4) ORDER BY at, msg"
    } else {
        "at >= ?2 AND at <= ?3 AND (at < ?3 OR msg < ?4) ORDER BY at DESC, msg DESC"
    };
    let columns = columns(filter);
    format!("{columns} INDEXED BY {index} WHERE {column} = ?1 AND {order}")
}

pub(in crate::index) fn position(row: &Row<'_>) -> rusqlite::Result<Position> {
    Ok(Position { at: row.get(0)?, msg: row.get(1)? })
}
