//! Copies of chats that the lists leave out, under other names: they are known by traces of the messages that were left
//! out, and are hidden.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::twins::MINUTE;
use crate::index::cursor::Secret;
use crate::source::{Report, Trace};

/// The fewest messages that must be the same, unless the chat that was left out has fewer.
const FEWEST: usize = 3;

/// The fewest characters that these messages must have in all.
const TELLING: usize = 8;

/// What a chat has in common with one that was left out.
#[derive(Default)]
struct Common {
    same: usize,
    characters: usize,
}

/// Hides the chats that are copies of chats that were left out, in any source, after this one was read whole: its new
/// chats, which were hidden until then, are shown if they are not copies.
pub(super) fn hide(connection: &Connection, read: i64) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT src, report FROM source WHERE instr(id, '@') = 0")?;
    let mut rows = statement.query([])?;
    let mut reports = Vec::new();
    while let Some(row) = rows.next()? {
        let report = row.get_ref(1)?.as_str_or_null()?.map(serde_json::from_str::<Report>);
        let Ok(report) = report.transpose() else {
            tracing::warn!("a report in the index cannot be read: what is hidden stays hidden");
            return Ok(());
        };
        reports.push((row.get(0)?, report));
    }
    let sql = "UPDATE chat SET hidden = 0 WHERE hidden = 1 OR hidden = 2 AND src = ?1";
    connection.execute(sql, [read])?;
    let sources: Vec<i64> = reports.iter().map(|(src, _)| *src).collect();
    let key = connection.query_row("SELECT key FROM secret", [], |row| row.get(0))?;
    let secret = Secret::new(key);
    for (src, report) in &reports {
        for traces in report.iter().flat_map(|report| report.denied.values()) {
            for chat in copies(connection, &sources, *src, traces, &secret)? {
                connection.execute("UPDATE chat SET hidden = 1 WHERE chat = ?1", [chat])?;
            }
        }
    }
    Ok(())
}

/// The chats with these messages. Where chats have real ids, two chats of one source are never copies.
fn copies(
    connection: &Connection,
    sources: &[i64],
    src: i64,
    traces: &[Trace],
    secret: &Secret,
) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT message.chat, text FROM message INDEXED BY message_by_source \
               JOIN chat ON chat.chat = message.chat \
               WHERE message.src = ?1 AND at > ?2 AND at < ?3 AND kinds & 512 = 0 AND text <> '' \
               AND (message.src <> ?4 OR chat.id = chat.name)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = BTreeMap::<i64, Common>::new();
    for trace in traces {
        let mut here = BTreeMap::new();
        for of in sources {
            let values = params![of, trace.at - MINUTE, trace.at + MINUTE, src];
            let mut rows = statement.query(values)?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(1)?.as_str()?;
                if secret.pseudonym(text) == trace.said {
                    here.insert(row.get(0)?, text.chars().count());
                }
            }
        }
        for (chat, characters) in here {
            let common = found.entry(chat).or_default();
            common.same += 1;
            common.characters += characters;
        }
    }
    let mut copies = Vec::new();
    for (chat, common) in found {
        let compared = compared(connection, chat, traces)?;
        let is_enough = common.same >= FEWEST.min(traces.len()) && common.characters >= TELLING;
        if is_enough && common.same * 2 >= compared {
            copies.push(chat);
        }
    }
    Ok(copies)
}

/// How many of the messages are within the time of a chat.
fn compared(connection: &Connection, chat: i64, traces: &[Trace]) -> rusqlite::Result<usize> {
    let sql = "SELECT min(at), max(at) FROM message WHERE chat = ?1";
    let (first, last): (i64, i64) =
        connection.prepare_cached(sql)?.query_row([chat], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let within = |trace: &&Trace| trace.at > first - MINUTE && trace.at < last + MINUTE;
    Ok(traces.iter().filter(within).count())
}
