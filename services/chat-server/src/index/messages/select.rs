//! How the matching messages are found.
//!
//! The matching messages are mostly among the newest, or frequent: then a walk from the newest soon finds enough. If it
//! does not after [`PATIENCE`] messages, matches are rare, and an index lists all candidates: few enough to be sorted.
//! If they are too many after all, the walk continues. Candidates for parts of words are the messages with any word
//! that has the part.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::filter::{Filter, Range, Scope};
use super::walk::{Basket, By, Ended, Fits, MAX_LISTS, Position, columns, position, walk};
use crate::index::answer::{MessageQuery, Sequence};
use crate::index::matcher::Matcher;
use crate::index::vocabulary::Vocabulary;

/// How many messages are examined before another way is tried, at about a microsecond each.
const PATIENCE: usize = 8_192;

/// The most candidates that an index may give. Reading one costs as much as walking past several.
const MAX_CANDIDATES: usize = 32_768;

/// How many messages to skip, how many to return, in which order, and which.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Window {
    pub(in crate::index) offset: usize,
    pub(in crate::index) limit: usize,
    pub(in crate::index) oldest: bool,
    pub(in crate::index) fits: Fits,
}

impl From<&MessageQuery> for Window {
    fn from(query: &MessageQuery) -> Self {
        let MessageQuery { offset, limit, oldest, .. } = *query;
        Self { offset, limit, oldest, fits: Fits::Both }
    }
}

impl From<Window> for Basket {
    /// Wants one message more, which shows whether there is another page.
    fn from(window: Window) -> Self {
        Self {
            skip: window.offset,
            want: window.limit.saturating_add(1),
            rows: Vec::new(),
            inside: Vec::new(),
            fits: window.fits,
            oldest: window.oldest,
        }
    }
}

/// What was found, in order.
#[derive(Debug, Default)]
pub(in crate::index) struct Selected {
    /// By whole words, or without a search by words.
    pub(in crate::index) whole: Vec<Position>,
    /// Inside words.
    pub(in crate::index) inside: Vec<Position>,
}

impl From<Basket> for Selected {
    fn from(mut basket: Basket) -> Self {
        basket.inside.truncate(basket.want.saturating_sub(basket.rows.len()));
        Self { whole: basket.rows, inside: basket.inside }
    }
}

/// Where to look for candidates.
#[derive(Clone, Copy)]
struct Sieve<'s> {
    scope: &'s Scope,
    range: Range,
    from: Position,
}

/// Up to one more than the window's limit, in its order.
pub(in crate::index) fn select(
    view: &Connection,
    words: &Vocabulary,
    scope: &Scope,
    mut filter: Filter,
    range: Range,
    from: Position,
    window: Window,
) -> rusqlite::Result<Selected> {
    let mut basket = Basket::from(window);
    if filter.persons.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(basket.into());
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
    let matcher = filter.matchers.first().cloned();
    let few = persons.filter(|persons| persons.len() <= MAX_LISTS);
    let most = if matcher.is_some() || few.is_some() { PATIENCE } else { usize::MAX };
    let walked = walk(view, lists, from, range, &mut filter, most, &mut basket)?;
    let Ended::Tired(from) = walked else {
        return Ok(basket.into());
    };
    if filter.chats.is_none()
        && let Some(chats) = &scope.chats
    {
        filter.chats = Some(chats.iter().copied().collect());
    }
    let lists = match &few {
        Some(persons) => (By::Person, persons.as_slice()),
        None => lists,
    };
    if let Some(matcher) = matcher
        && look_up(view, words, &matcher, Sieve { scope, range, from }, &mut filter, &mut basket)?
    {
        return Ok(basket.into());
    }
    walk(view, lists, from, range, &mut filter, usize::MAX, &mut basket)?;
    Ok(basket.into())
}

/// Finds the matches through the table of words, those by whole words first: mostly they are enough. Whether this was
/// possible; else a walk has to find what the basket still wants.
fn look_up(
    view: &Connection,
    words: &Vocabulary,
    matcher: &Matcher,
    sieve: Sieve<'_>,
    filter: &mut Filter,
    basket: &mut Basket,
) -> rusqlite::Result<bool> {
    if matcher.tells_parts() && basket.fits != Fits::Inside {
        let Some(found) = candidates(view, matcher.whole())? else {
            return Ok(false);
        };
        let wanted = std::mem::replace(&mut basket.fits, Fits::Whole);
        sift(view, &found, sieve, filter, basket)?;
        if wanted == Fits::Whole || basket.is_full() {
            return Ok(true);
        }
        basket.fits = Fits::Inside;
    }
    let Some(found) = candidates(view, matcher.inside(view, words)?)? else {
        return Ok(false);
    };
    sift(view, &found, sieve, filter, basket)?;
    Ok(true)
}

/// The messages that the table of words gives; `None` if they are too many, or without an expression.
fn candidates(view: &Connection, expression: Option<String>) -> rusqlite::Result<Option<Vec<i64>>> {
    let Some(expression) = expression else {
        return Ok(None);
    };
    let sql = "SELECT rowid FROM word WHERE word MATCH ?1 LIMIT ?2";
    let mut statement = view.prepare_cached(sql)?;
    let most = i64::try_from(MAX_CANDIDATES).unwrap_or(i64::MAX);
    let found = statement
        .query_map(params![expression, most], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    Ok((found.len() < MAX_CANDIDATES).then_some(found))
}

/// Puts the matching candidates into the basket, in order. Only those that are needed are read as a whole.
fn sift(
    view: &Connection,
    candidates: &[i64],
    sieve: Sieve<'_>,
    filter: &mut Filter,
    basket: &mut Basket,
) -> rusqlite::Result<()> {
    let mut statement = view.prepare_cached("SELECT at, msg, src FROM message WHERE msg = ?1")?;
    let mut places = Vec::new();
    for msg in candidates {
        let mut rows = statement.query([msg])?;
        let Some(row) = rows.next()? else { continue };
        let place = position(row)?;
        let is_next = if basket.oldest { place > sieve.from } else { place < sieve.from };
        if is_next && sieve.range.contains(place.at) && sieve.scope.sources.contains(&row.get(2)?) {
            places.push(place);
        }
    }
    places.sort_unstable();
    if !basket.oldest {
        places.reverse();
    }
    let mut statement = view.prepare_cached(&format!("{} WHERE msg = ?1", columns(filter)))?;
    for place in places {
        let fit = statement.query_row([place.msg], |row| filter.fit(row))?;
        if basket.put(place, fit).is_break() {
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
) -> rusqlite::Result<Selected> {
    let mut basket = Basket::from(window);
    filter.chats = scope.chats.as_ref().map(|chats| chats.iter().copied().collect());
    let sql = format!(
        "{} INDEXED BY message_by_sequence WHERE src = ?1 AND seq > ?2 ORDER BY seq",
        columns(&filter)
    );
    let mut statement = view.prepare_cached(&sql)?;
    let mut rows = statement.query(params![src, sequence.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let place = position(row)?;
        if range.contains(place.at) && basket.put(place, filter.fit(row)?).is_break() {
            break;
        }
    }
    Ok(basket.into())
}
