//! Duplicate chats: two devices or two people have exported the same one. They are found by messages with the same text
//! at the same time.
//!
//! Sample messages are compared over the time that both chats have in common. Where chats have real ids, two chats of
//! one source are never duplicates: a person may post the same text in both.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::source::Twin;

/// How many messages of a chat are sampled.
const SAMPLES: i64 = 64;

/// How many of them are also searched in other time zones, and how many characters they need for it.
const SHIFTED: usize = 4;
const TELLING: usize = 20;

/// The fewest samples that must be the same; at least half of all compared samples must be, too.
const FEWEST: u32 = 3;

/// How many chats are compared, those with the most messages.
const MAX_CHATS: i64 = 2_000;

/// How many pairs of chats are reported.
const MAX_TWINS: usize = 100;

/// A minute in the tables. Some telephones write no seconds.
pub(super) const MINUTE: i64 = 60_000_000;

/// How many half hours the clocks of two places may be apart.
const HALF_HOURS: i64 = 28;

/// A chat and its range of time.
#[derive(Clone, Copy)]
struct Span {
    chat: i64,
    first: i64,
    last: i64,
}

/// A message to look for.
struct Sample {
    at: i64,
    person: Option<i64>,
    text: String,
}

/// The duplicate chats, one of the two in this source.
pub(super) fn find(connection: &Connection, src: i64) -> rusqlite::Result<Vec<Twin>> {
    let spans = spans(connection)?;
    let sources = sources(connection)?;
    let mut candidates = BTreeSet::new();
    for span in spans.values() {
        let mut found = BTreeMap::<(i64, i64), u32>::new();
        let samples = samples(connection, *span)?;
        for sample in &samples {
            for other in same(connection, &sources, *span, sample, 0)? {
                *found.entry((other, 0)).or_default() += 1;
            }
        }
        let telling = samples.iter().filter(|sample| sample.text.chars().count() >= TELLING);
        for sample in telling.take(SHIFTED) {
            for shift in (-HALF_HOURS..=HALF_HOURS).filter(|shift| *shift != 0) {
                for other in same(connection, &sources, *span, sample, shift * 30 * MINUTE)? {
                    *found.entry((other, shift * 30 * MINUTE)).or_default() += 1;
                }
            }
        }
        let often = found.into_iter().filter(|(_, times)| *times >= FEWEST);
        candidates.extend(often.map(|((other, shift), _)| {
            if span.chat <= other { (span.chat, other, shift) } else { (other, span.chat, -shift) }
        }));
    }
    let mut twins: Vec<Twin> = Vec::new();
    for (one, other, shift) in candidates {
        let (Some(one), Some(other)) = (spans.get(&one), spans.get(&other)) else {
            continue;
        };
        let there = compared(connection, &sources, *one, *other, shift)?;
        let back = compared(connection, &sources, *other, *one, -shift)?;
        let (Some((alike, of)), Some(_)) = (there, back) else {
            continue;
        };
        if let Some(twin) = named(connection, src, one.chat, other.chat, alike, of)?
            && twins.len() < MAX_TWINS
            && twins.iter().all(|known| known.chats != twin.chats)
        {
            twins.push(twin);
        }
    }
    Ok(twins)
}

fn spans(connection: &Connection) -> rusqlite::Result<BTreeMap<i64, Span>> {
    let sql = "SELECT chat.chat, (SELECT min(at) FROM message WHERE message.chat = chat.chat), \
               (SELECT max(at) FROM message WHERE message.chat = chat.chat) \
               FROM chat JOIN source USING (src) WHERE messages >= ?1 AND instr(source.id, '@') = 0 ORDER BY messages DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let spans = statement.query_map(params![FEWEST, MAX_CHATS], |row| {
        let chat = row.get(0)?;
        let (first, last) = (row.get(1)?, row.get(2)?);
        Ok((chat, Span { chat, first, last }))
    })?;
    spans.collect()
}

fn sources(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT src FROM source WHERE instr(id, '@') = 0";
    let mut statement = connection.prepare_cached(sql)?;
    let sources = statement.query_map([], |row| row.get(0))?;
    sources.collect()
}

/// Samples of messages with words that people wrote, spread over a time of a chat.
fn samples(connection: &Connection, span: Span) -> rusqlite::Result<Vec<Sample>> {
    let sql = "SELECT msg, at, person, text FROM message INDEXED BY message_by_chat \
               WHERE chat = ?1 AND at >= ?2 AND at <= ?3 AND kinds & 512 = 0 AND text <> '' ORDER BY at, msg LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut known = BTreeSet::new();
    let mut samples = Vec::new();
    let length = span.last.saturating_sub(span.first);
    for n in 0..SAMPLES {
        let from = span.first + length / SAMPLES * n;
        let found = statement.query_row(params![span.chat, from, span.last], |row| {
            let msg: i64 = row.get(0)?;
            let (at, person, text) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((msg, Sample { at, person, text }))
        });
        if let Some((msg, sample)) = found.optional()?
            && known.insert(msg)
        {
            samples.push(sample);
        }
    }
    Ok(samples)
}

/// The chats with the same message at that time, on a clock that is ahead by `shift`. In the chat itself the message
/// must have another sender, who is the same person under another name.
fn same(
    connection: &Connection,
    sources: &[i64],
    span: Span,
    sample: &Sample,
    shift: i64,
) -> rusqlite::Result<BTreeSet<i64>> {
    let sql = "SELECT DISTINCT chat FROM message INDEXED BY message_by_source \
               WHERE src = ?1 AND at > ?2 AND at < ?3 AND text = ?4 AND (chat <> ?5 OR person IS NOT ?6)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut chats = BTreeSet::new();
    let at = sample.at.saturating_add(shift);
    for src in sources {
        let values = params![src, at - MINUTE, at + MINUTE, sample.text, span.chat, sample.person];
        for chat in statement.query_map(values, |row| row.get(0))? {
            chats.insert(chat?);
        }
    }
    Ok(chats)
}

/// How many samples of one chat are in another, and how many were compared; `None` if too few are the same.
fn compared(
    connection: &Connection,
    sources: &[i64],
    one: Span,
    other: Span,
    shift: i64,
) -> rusqlite::Result<Option<(u32, u32)>> {
    let both = Span {
        first: one.first.max(other.first - shift - MINUTE),
        last: one.last.min(other.last - shift + MINUTE),
        ..one
    };
    let (mut alike, mut of) = (0, 0);
    for sample in samples(connection, both)? {
        of += 1;
        let found = same(connection, sources, one, &sample, shift)?;
        alike += u32::from(found.contains(&other.chat));
    }
    Ok((alike >= FEWEST && alike * 2 >= of).then_some((alike, of)))
}

/// Both chats by their ids, if one is in the source and they can be one chat.
fn named(
    connection: &Connection,
    src: i64,
    one: i64,
    other: i64,
    same: u32,
    compared: u32,
) -> rusqlite::Result<Option<Twin>> {
    let sql = "SELECT source.id, one.id, other_source.id, other.id \
               FROM chat AS one JOIN source USING (src), chat AS other JOIN source AS other_source ON other_source.src = other.src \
               WHERE one.chat = ?2 AND other.chat = ?3 AND ?1 IN (one.src, other.src) \
               AND (one.src <> other.src OR one.id = one.name AND other.id = other.name)";
    connection
        .prepare_cached(sql)?
        .query_row([src, one, other], |row| {
            Ok(Twin {
                chats: [(row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)],
                same,
                compared,
            })
        })
        .optional()
}
