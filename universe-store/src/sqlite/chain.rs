//! Goes through the log of all universes once: whether each entry says the place that it has, and where each log ends.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::columns::is_sum;
use super::frame::{Fault, Frame, HeadRow, numbers};
use super::schema::MARK;
use crate::Finding;

/// The most entries that are tried in places where one is missing.
const MAX_MISPLACED: usize = 1_000;

/// How many of the last entries are looked for beyond the heads when a directory is opened.
const RECENT: i64 = 1_024;

/// What the logs say.
#[derive(Default)]
pub(super) struct Chain {
    /// The last entry of each universe.
    pub(super) ends: HashMap<i64, End>,
    /// Entries that say another place than they have, with where they belong.
    pub(super) misplaced: Vec<(i64, Place)>,
    /// Marks that are missing or point elsewhere.
    pub(super) marks: Vec<Place>,
    /// The places where an entry is missing between others, and the entries that are not what was written.
    holes: Vec<Place>,
    odd: Vec<i64>,
}

/// The last entry of a log.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) rev: i64,
    pub(super) seq: i64,
    pub(super) command: Vec<u8>,
    pub(super) at: i64,
}

/// The place of an entry in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) uni: i64,
    pub(super) rev: i64,
    pub(super) seq: i64,
    pub(super) prev: i64,
}

/// An entry as it is stored.
struct Stored {
    place: Place,
    at: i64,
    command: Vec<u8>,
    body: Vec<u8>,
    sum: Option<i64>,
}

impl Chain {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut chain = Self::default();
        let heads = heads(connection)?;
        let sql = "SELECT uni, rev, seq, prev, at, command, body, sum FROM log ORDER BY seq";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        loop {
            // Entries that cannot be read at all are found by those who read them.
            let entry = match rows.next()? {
                None => break,
                Some(row) => to_stored(row)?,
            };
            chain.add(entry, &heads);
        }
        for (uni, HeadRow { rev, seq, .. }) in heads {
            let end = chain.ends.get(&uni);
            if let Some(end) = end.filter(|end| end.rev + 1 == rev) {
                chain.holes.push(Place { uni, rev, seq, prev: end.seq });
            }
        }
        for hole in std::mem::take(&mut chain.holes) {
            chain.misplaced.extend(fitting(connection, &chain.odd, hole)?);
        }
        chain.compare_marks(connection)?;
        Ok(chain)
    }

    /// What does not fit in a frame, and between it and its log.
    pub(super) fn faults(
        &self,
        connection: &Connection,
        frame: &Frame,
    ) -> rusqlite::Result<Vec<Fault>> {
        let mut faults = frame.faults(connection)?;
        if let (Some(head), Some(end)) = (&frame.head, self.ends.get(&frame.uni))
            && end.rev > head.rev
            && faults.is_empty()
        {
            let (at, end) = (head.rev, end.rev);
            let problem = format!("its head is at revision {at}, and its log ends at {end}");
            faults.push(Fault::Head(problem));
        }
        Ok(faults)
    }

    fn add(&mut self, entry: Stored, heads: &HashMap<i64, HeadRow>) {
        let Place { uni, rev, seq, prev } = entry.place;
        let end = self.ends.get(&uni).map(|end| (end.rev, end.seq));
        let end = end.or_else(|| heads.get(&uni).map(|head| (head.oldest, prev)));
        // An older sum says nothing of the place: the neighbours do.
        let is_torn = entry.sum.is_none_or(|sum| sum >> 32 == 0)
            && end.is_some_and(|(last, place)| rev > last && (rev == last + 1) != (prev == place));
        if is_torn || !entry.is_at(entry.place) {
            self.odd.push(seq);
            return;
        }
        if let Some((last, place)) = end
            && rev == last + 2
        {
            // It says itself where the one before is.
            self.holes.push(Place { uni, rev: rev - 1, seq: prev, prev: place });
        }
        let Stored { command, at, .. } = entry;
        self.ends.insert(uni, End { rev, seq, command, at });
        if rev.cast_unsigned().is_multiple_of(MARK) {
            self.marks.push(entry.place);
        }
    }

    /// Keeps those of the marks that are not in the table.
    fn compare_marks(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut wrong = Vec::new();
        for mark in std::mem::take(&mut self.marks) {
            let sql = "SELECT seq FROM mark WHERE uni = ?1 AND rev = ?2";
            let found = connection.query_row(sql, [mark.uni, mark.rev], |row| row.get::<_, i64>(0));
            if found.optional()? != Some(mark.seq) {
                wrong.push(mark);
            }
        }
        self.marks = wrong;
        Ok(())
    }
}

impl Stored {
    /// Whether it is what was written for a place. Without a sum nothing says that it is not.
    fn is_at(&self, place: Place) -> bool {
        let numbers = place.numbers(self.at);
        self.sum.is_none_or(|sum| is_sum(sum, &numbers, &[&self.command, &self.body]))
    }
}

impl Place {
    /// What the sum of an entry is over, besides its content.
    pub(super) fn numbers(self, at: i64) -> [i64; 5] {
        [self.uni, self.rev, self.seq, self.prev, at]
    }
}

/// What is wrong in the frames and the logs of all universes.
pub(super) fn findings(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let chain = Chain::read(connection)?;
    let mut found = Vec::new();
    let mut names = HashMap::new();
    for uni in numbers(connection)? {
        let frame = Frame::read(connection, uni)?;
        names.insert(uni, frame.name());
        for fault in chain.faults(connection, &frame)? {
            found.push(Finding { universe: frame.name(), problem: fault.to_string() });
        }
    }
    let mut say = |uni: i64, problem: String| {
        let universe = names.get(&uni).cloned().unwrap_or_else(|| format!("number {uni}"));
        found.push(Finding { universe, problem });
    };
    for (_, place) in &chain.misplaced {
        let rev = place.rev;
        say(place.uni, format!("the entry of revision {rev} says another place than its own"));
    }
    for mark in chain.marks.iter().filter(|mark| names.contains_key(&mark.uni)) {
        say(mark.uni, format!("the mark of revision {} does not lead to its entry", mark.rev));
    }
    for uni in chain.ends.keys().filter(|uni| !names.contains_key(uni)) {
        let doomed = "SELECT EXISTS (SELECT 1 FROM doomed WHERE uni = ?1)";
        if !connection.query_row(doomed, [uni], |row| row.get::<_, bool>(0))? {
            say(*uni, "its entries are there, and nothing else of it".to_owned());
        }
    }
    Ok(found)
}

/// Compares all frames, and the heads with the newest entries, without going through the whole log. Gives what does not
/// fit, and the universes whose heads are behind.
pub(super) fn look(connection: &Connection) -> rusqlite::Result<(Vec<Finding>, Vec<i64>)> {
    let behind = behind(connection)?;
    let mut findings = Vec::new();
    for uni in numbers(connection)? {
        let frame = Frame::read(connection, uni)?;
        let faults = frame.faults(connection)?.into_iter().map(|fault| fault.to_string());
        let problems = faults.chain(behind.get(&uni).cloned());
        findings.extend(problems.map(|problem| Finding { universe: frame.name(), problem }));
    }
    Ok((findings, behind.into_keys().collect()))
}

/// Logs what a look finds, and gives the universes whose heads are behind.
pub(super) fn report(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let (findings, behind) = look(connection)?;
    Finding::log(&findings);
    Ok(behind)
}

/// The universes whose heads are from before the end of their logs, although their sums are right, with what is said of
/// each. What is beyond a head is found among the newest entries, and by the marks.
pub(super) fn behind(connection: &Connection) -> rusqlite::Result<BTreeMap<i64, String>> {
    let sql = "SELECT l.seq FROM (SELECT uni, seq FROM log ORDER BY seq DESC LIMIT ?1) l JOIN head h USING (uni) \
                 WHERE l.seq > h.seq \
               UNION ALL SELECT l.seq FROM head h JOIN mark m ON m.uni = h.uni AND m.rev > h.rev \
                 JOIN log l ON l.seq = m.seq AND l.uni = m.uni AND l.rev = m.rev";
    let mut beyond_heads = connection.prepare(sql)?;
    let mut found = beyond_heads.query([RECENT])?;
    let mut ends = BTreeMap::new();
    while let Some(row) = found.next()? {
        let entry = stored(connection, row.get(0)?)?;
        let Place { uni, rev, .. } = entry.place;
        // One that says another place than its own says nothing of the universe whose number it has.
        if entry.is_at(entry.place) {
            let end = ends.entry(uni).or_insert(rev);
            *end = rev.max(*end);
        }
    }
    let mut behind = BTreeMap::new();
    for (uni, end) in ends {
        if let Some(head) = HeadRow::read(connection, uni)?
            && head.is_right(connection, uni)?
        {
            // What goes on behind a mark is not looked at.
            let problem =
                format!("its head is at revision {}, and its log goes on to {end}", head.rev);
            behind.insert(uni, problem);
        }
    }
    Ok(behind)
}

/// The entry at a place of the log.
fn stored(connection: &Connection, seq: i64) -> rusqlite::Result<Stored> {
    let sql = "SELECT uni, rev, seq, prev, at, command, body, sum FROM log WHERE seq = ?1";
    connection.prepare_cached(sql)?.query_row([seq], to_stored)
}

/// The entry among the odd ones that was written for a place, by its sum.
fn fitting(
    connection: &Connection,
    odd: &[i64],
    hole: Place,
) -> rusqlite::Result<Option<(i64, Place)>> {
    for &seq in odd.iter().take(MAX_MISPLACED) {
        let entry = stored(connection, seq)?;
        let is_placed = entry.sum.is_some_and(|sum| sum >> 32 != 0) || seq == hole.seq;
        // Before the first entry that is left, it knows itself what was before it.
        for prev in [hole.prev, entry.place.prev] {
            let place = Place { prev, ..hole };
            if is_placed && entry.is_at(place) {
                return Ok(Some((seq, place)));
            }
        }
    }
    Ok(None)
}

fn heads(connection: &Connection) -> rusqlite::Result<HashMap<i64, HeadRow>> {
    let mut heads = HashMap::new();
    for uni in numbers(connection)? {
        heads.extend(HeadRow::read(connection, uni)?.map(|head| (uni, head)));
    }
    Ok(heads)
}

fn to_stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let (uni, rev, seq, prev) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(Stored {
        place: Place { uni, rev, seq, prev },
        at: row.get(4)?,
        command: row.get(5)?,
        body: row.get(6)?,
        sum: row.get(7)?,
    })
}
