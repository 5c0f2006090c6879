//! Puts right what the rest of the store proves: entries in their places, marks, heads, records.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::chain::{Chain, Place};
use super::columns::is_sum;
use super::frame::{Fault, Frame, HeadRow, Identity, numbers, write_head, write_identity};

/// Repairs all that can be repaired, or nothing. Gives a line for each thing done.
pub(super) fn repair(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut done = Vec::new();
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let mut chain = Chain::read(connection)?;
    for &(from, Place { uni, rev, seq, prev }) in &chain.misplaced {
        let sql = "UPDATE log SET uni = ?2, rev = ?3, seq = ?4, prev = ?5 WHERE seq = ?1";
        connection.execute(sql, [from, uni, rev, seq, prev])?;
        let name = name(connection, uni)?;
        done.push(format!("{name}: the entry of revision {rev} is in its place"));
    }
    if !done.is_empty() {
        // What was moved may be the last one, or have a mark.
        chain = Chain::read(connection)?;
    }
    for &Place { uni, rev, seq, .. } in &chain.marks {
        let sql = "INSERT OR REPLACE INTO mark (uni, rev, seq) VALUES (?1, ?2, ?3)";
        connection.execute(sql, [uni, rev, seq])?;
        let name = name(connection, uni)?;
        done.push(format!("{name}: the mark of revision {rev} leads to its entry"));
    }
    // First, since a row under another number is in the way of the one that is made anew.
    for uni in numbers(connection)? {
        remove_stray(connection, uni, &chain, &mut done)?;
    }
    for uni in numbers(connection)? {
        mend(connection, uni, &chain, &mut done)?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(done)
}

fn name(connection: &Connection, uni: i64) -> rusqlite::Result<String> {
    Ok(format!("universe {}", Frame::read(connection, uni)?.name()))
}

/// Removes a row that stands alone, where nothing is lost with it.
fn remove_stray(
    connection: &Connection,
    uni: i64,
    chain: &Chain,
    done: &mut Vec<String>,
) -> rusqlite::Result<()> {
    let frame = Frame::read(connection, uni)?;
    let is_stray = matches!(frame.faults(connection)?.first(), Some(Fault::Stray(_)));
    if !is_stray || chain.ends.contains_key(&uni) {
        return Ok(());
    }
    let elsewhere = "SELECT EXISTS (SELECT 1 FROM universe JOIN identity USING (id) \
                     WHERE id = ?1 AND universe.uni <> identity.uni)";
    if let Some(Identity { id, .. }) = frame.record.as_ref().or(frame.identity.as_ref())
        && !connection.query_row(elsewhere, [id], |row| row.get::<_, bool>(0))?
    {
        return Ok(());
    }
    for table in ["universe", "identity", "head"] {
        connection.execute(&format!("DELETE FROM {table} WHERE uni = ?1"), [uni])?;
    }
    done.push(format!("universe {}: a row under the number {uni} is removed", frame.name()));
    Ok(())
}

fn mend(
    connection: &Connection,
    uni: i64,
    chain: &Chain,
    done: &mut Vec<String>,
) -> rusqlite::Result<()> {
    if find_base(connection, uni)? {
        done.push(format!("{}: its beginning is found again", name(connection, uni)?));
    }
    let frame = Frame::read(connection, uni)?;
    for fault in chain.faults(connection, &frame)? {
        let mended = match fault {
            Fault::Record(_) => mend_record(connection, &frame, chain)?,
            Fault::Identity(_) => mend_identity(connection, &frame)?,
            Fault::Head(_) => mend_head(connection, &frame, chain)?,
            Fault::Base(_) => mend_base(connection, &frame)?,
            Fault::Stray(_) => None,
        };
        if let Some(mended) = mended {
            done.push(format!("{}: {mended}", name(connection, uni)?));
        }
    }
    Ok(())
}

/// The record from the identity; without one, a record under a new name, as long as there is a log.
fn mend_record(
    connection: &Connection,
    frame: &Frame,
    chain: &Chain,
) -> rusqlite::Result<Option<String>> {
    let uni = frame.uni;
    let (identity, mended) = match &frame.identity {
        Some(identity) => (identity.clone(), "its record is made again".to_owned()),
        None if frame.base.is_none()
            || (frame.head.is_none() && !chain.ends.contains_key(&uni)) =>
        {
            return Ok(None);
        }
        None => {
            let id = format!("recovered-{uni}");
            let mended = format!("what it was called is not known, so that it is called {id} now");
            let created_at = base_time(connection, uni)?.unwrap_or_default();
            (Identity { name: id.clone(), id, created_at }, mended)
        }
    };
    let Identity { id, name, created_at } = &identity;
    let taken = "SELECT EXISTS (SELECT 1 FROM universe WHERE id = ?1 AND uni <> ?2)";
    if connection.query_row(taken, params![id, uni], |row| row.get::<_, bool>(0))? {
        return Ok(None);
    }
    let sql = "INSERT OR REPLACE INTO universe (uni, id, name, created_at) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![uni, id, name, created_at])?;
    write_identity(connection, uni, &identity)?;
    Ok(Some(mended))
}

fn mend_identity(connection: &Connection, frame: &Frame) -> rusqlite::Result<Option<String>> {
    let Some(record) = &frame.record else {
        return Ok(None);
    };
    write_identity(connection, frame.uni, record)?;
    Ok(Some("the second copy of its record is made again".to_owned()))
}

/// The head from the last entry of the log and its beginning.
fn mend_head(
    connection: &Connection,
    frame: &Frame,
    chain: &Chain,
) -> rusqlite::Result<Option<String>> {
    let (uni, Some(oldest)) = (frame.uni, frame.base) else {
        return Ok(None);
    };
    let end = chain.ends.get(&uni).filter(|end| end.rev > oldest);
    let (rev, seq, command, at) = match end {
        Some(end) => (end.rev, end.seq, Some(&end.command[..]), end.at),
        None => {
            let created = frame.record.as_ref().map(|record| record.created_at);
            let at = base_time(connection, uni)?.or(created).unwrap_or_default();
            (oldest, 0, None, at)
        }
    };
    // An entry after that one which cannot be read was acknowledged, and is not to be written over.
    let more = "SELECT EXISTS (SELECT 1 FROM log WHERE seq > ?1 AND uni = ?2 AND rev > ?3)";
    if connection.query_row(more, [seq, uni, rev], |row| row.get::<_, bool>(0))? {
        return Ok(None);
    }
    write_head(connection, [uni, rev, seq, at, oldest], command)?;
    Ok(Some(format!("its head is at revision {rev}, the end of its log")))
}

/// The revision of the beginning, if its sum says that it is the one of the head.
fn mend_base(connection: &Connection, frame: &Frame) -> rusqlite::Result<Option<String>> {
    let Some(head) = &frame.head else {
        return Ok(None);
    };
    let (uni, oldest) = (frame.uni, head.oldest);
    if !is_base(connection, uni, uni, oldest)? {
        return Ok(None);
    }
    connection.execute("UPDATE genesis SET rev = ?2 WHERE uni = ?1", [uni, oldest])?;
    Ok(Some(format!("the state at its beginning is that of revision {oldest}")))
}

/// Finds the beginning of a universe under another number. Tells whether it was there.
fn find_base(connection: &Connection, uni: i64) -> rusqlite::Result<bool> {
    let frame = Frame::read(connection, uni)?;
    let (None, Some(head)) = (frame.base, &frame.head) else {
        return Ok(false);
    };
    for stray in numbers(connection)? {
        let is_stray = HeadRow::read(connection, stray)?.is_none();
        if is_stray && is_base(connection, stray, uni, head.oldest)? {
            connection.execute("UPDATE genesis SET uni = ?2 WHERE uni = ?1", [stray, uni])?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the beginning under the number `at` was written for a universe and a revision.
fn is_base(connection: &Connection, at: i64, uni: i64, rev: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT at, body, sum FROM genesis WHERE uni = ?1";
    let found = connection.query_row(sql, [at], |row| {
        let (time, body): (Option<i64>, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let kept: Option<i64> = row.get(2)?;
        let place = [uni, rev, time.unwrap_or_default()];
        // An older sum does not know its number.
        Ok(kept.map_or(at == uni, |kept| {
            (at == uni || kept >> 32 != 0) && is_sum(kept, &place, &[&body])
        }))
    });
    Ok(found.optional()? == Some(true))
}

fn base_time(connection: &Connection, uni: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT at FROM genesis WHERE uni = ?1";
    Ok(connection.query_row(sql, [uni], |row| row.get(0)).optional()?.flatten())
}
