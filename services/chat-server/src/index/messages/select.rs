//! How the matching messages are found.
//!
//! The matching messages are mostly among the newest, or frequent: then a walk from the newest soon finds enough. If it
//! does not after [`PATIENCE`] messages, matches are rare, and an index lists all candidates: few enough to be sorted.
//! If they are too many after all, the walk continues.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::filter::{Filter, Range, Scope};
use super::walk::{Basket, By, Ended, MAX_LISTS, Position, position, walk};
use crate::index::answer::{MessageQuery, Sequence};
use crate::index::matcher::Matcher;

/// How many messages are examined before another way is tried, at about a microsecond each.
const PATIENCE: usize = 8_192;

/// The most candidates that an index may give. Reading one costs as much as walking past several.
const MAX_CANDIDATES: usize = 32_768;

/// How many messages to skip, and how many to return.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Window {
    pub(in crate::index) offset: usize,
    pub(in crate::index) limit: usize,
}

impl From<&MessageQuery> for Window {
    fn from(query: &MessageQuery) -> Self {
        Self { offset: query.offset, limit: query.limit }
    }
}

impl From<Window> for Basket {
    /// Wants one message more, which shows whether there is another page.
    fn from(window: Window) -> Self {
        Self { skip: window.offset, want: window.limit.saturating_add(1), rows: Vec::new() }
    }
}

/// Up to one more than the window's limit, newest first.
pub(in crate::index) fn select(
    view: &Connection,
    scope: &Scope,
    mut filter: Filter,
    range: Range,
    from: Position,
    window: Window,
) -> rusqlite::Result<Vec<Position>> {
    let mut basket = Basket::from(window);
    if filter.persons.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(basket.rows);
    }
    let lists = match &scope.chats {
        Some(chats) if chats.len() <= MAX_LISTS => (By::Chat, chats.as_slice()),
        Some(chats) => {
            filter.chats = Some(chats.iter().copied().collect());
            (By::Source, scope.sources.as_slice())
        }
        None => (By::Source, scope.sources.as_slice()),
    };
    let persons: Option<Vec<i64>> =
        filter.persons.as_ref().map(|persons| persons.iter().copied().collect());
    let candidates = filter.matchers.iter().find_map(Matcher::candidates);
    let few = persons.filter(|persons| persons.len() <= MAX_LISTS);
    let most = if candidates.is_some() || few.is_some() { PATIENCE } else { usize::MAX };
    let Ended::Tired(from) = walk(view, lists, from, range, &mut filter, most, &mut basket)? else {
        return Ok(basket.rows);
    };
    if filter.chats.is_none()
        && let Some(chats) = &scope.chats
    {
        filter.chats = Some(chats.iter().copied().collect());
    }
    if let Some(candidates) = candidates {
        let mut statement = view.prepare_cached(candidates.sql)?;
        let most = i64::try_from(MAX_CANDIDATES).unwrap_or(i64::MAX);
        let found = statement
            .query_map(params![candidates.expression, most], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        if found.len() < MAX_CANDIDATES {
            sift(view, &found, scope, &mut filter, range, from, &mut basket)?;
            return Ok(basket.rows);
        }
    }
    let lists = match &few {
        Some(persons) => (By::Person, persons.as_slice()),
        None => lists,
    };
    walk(view, lists, from, range, &mut filter, usize::MAX, &mut basket)?;
    Ok(basket.rows)
}

/// Puts the matching candidates into the basket, newest first.
fn sift(
    view: &Connection,
    candidates: &[i64],
    scope: &Scope,
    filter: &mut Filter,
    range: Range,
    from: Position,
    basket: &mut Basket,
) -> rusqlite::Result<()> {
    let sql = "SELECT at, msg, person, chat, kinds, text, topic, src FROM message WHERE msg = ?1";
    let mut statement = view.prepare_cached(sql)?;
    let mut fitting = Vec::new();
    for msg in candidates {
        let mut rows = statement.query([msg])?;
        let Some(row) = rows.next()? else { continue };
        let place = position(row)?;
        if place < from
            && range.contains(place.at)
            && scope.sources.contains(&row.get(7)?)
            && filter.passes(row)?
        {
            fitting.push(place);
        }
    }
    fitting.sort_unstable();
    for place in fitting.into_iter().rev() {
        if basket.put(place).is_break() {
            break;
        }
    }
    Ok(())
}

/// Up to one more than the window's limit of the messages of a source that came in after one, in that order.
pub(in crate::index) fn after(
    view: &Connection,
    src: i64,
    sequence: Sequence,
    scope: &Scope,
    mut filter: Filter,
    range: Range,
    window: Window,
) -> rusqlite::Result<Vec<Position>> {
    let mut basket = Basket::from(window);
    filter.chats = scope.chats.as_ref().map(|chats| chats.iter().copied().collect());
    let sql = "SELECT at, msg, person, chat, kinds, text, topic FROM message \
               INDEXED BY message_by_sequence WHERE src = ?1 AND seq > ?2 ORDER BY seq";
    let mut statement = view.prepare_cached(sql)?;
    let mut rows = statement.query(params![src, sequence.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let place = position(row)?;
        if range.contains(place.at) && filter.passes(row)? && basket.put(place).is_break() {
            break;
        }
    }
    Ok(basket.rows)
}
