//! A query in terms of numbers of the tables, and whether a row matches it.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::index::answer::{ChatKey, Kind};
use crate::index::fold::{fold, words};
use crate::index::matcher::{Fit, Matcher};
use crate::index::people::{digits, has_number};
use crate::index::stored::micros;

/// Where to look.
#[derive(Debug)]
pub(in crate::index) struct Scope {
    /// In these sources.
    pub(in crate::index) sources: Vec<i64>,
    /// In these chats of them; all if `None`.
    pub(in crate::index) chats: Option<Vec<i64>>,
}

/// From when to when, in microseconds: `since` inclusive, `before` exclusive.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Range {
    pub(in crate::index) since: i64,
    pub(in crate::index) before: i64,
}

/// The conditions for a row, except its place and time.
#[derive(Debug, Clone)]
pub(in crate::index) struct Filter {
    /// One of these people has written it.
    pub(in crate::index) persons: Option<HashSet<i64>>,
    /// It is in one of these chats. Set only if the lists that are walked do not ensure this.
    pub(in crate::index) chats: Option<HashSet<i64>>,
    /// It matches all of these.
    pub(in crate::index) matchers: Vec<Matcher>,
    /// It has one of these bits; 0 for any.
    kinds: i64,
    /// Its topic has this in its name, folded.
    pub(in crate::index) topic: Option<String>,
}

impl Scope {
    pub(in crate::index) fn resolve(
        view: &Connection,
        source: Option<&str>,
        chats: Option<&[ChatKey]>,
    ) -> rusqlite::Result<Self> {
        let sql = "SELECT src FROM source WHERE (?1 IS NULL OR id = ?1) AND instr(id, '@') = 0 ORDER BY src";
        let mut statement = view.prepare_cached(sql)?;
        let sources = statement
            .query_map([source], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        let Some(keys) = chats else {
            return Ok(Self { sources, chats: None });
        };
        let sql = "SELECT chat FROM chat JOIN source USING (src) \
                   WHERE source.id = ?1 AND chat.id = ?2 AND (?3 IS NULL OR source.id = ?3)";
        let mut statement = view.prepare_cached(sql)?;
        let mut chats = Vec::with_capacity(keys.len());
        for key in keys {
            let found = statement
                .query_row(params![key.source, key.id, source], |row| row.get::<_, i64>(0))
                .optional()?;
            chats.extend(found);
        }
        chats.sort_unstable();
        chats.dedup();
        Ok(Self { sources, chats: Some(chats) })
    }
}

impl Range {
    pub(in crate::index) fn new(since: Option<Timestamp>, before: Option<Timestamp>) -> Self {
        Self { since: since.map_or(i64::MIN, round_up), before: before.map_or(i64::MAX, round_up) }
    }

    pub(in crate::index) const fn contains(self, at: i64) -> bool {
        at >= self.since && at < self.before
    }
}

impl Filter {
    /// Looks up who may have sent it. An empty `sender` counts as absent.
    pub(in crate::index) fn resolve(
        view: &Connection,
        scope: &Scope,
        sender: Option<&str>,
        matchers: Vec<Matcher>,
        kinds: &[Kind],
        topic: Option<&str>,
    ) -> rusqlite::Result<Self> {
        let sender = sender.map(fold).filter(|sender| !sender.is_empty());
        let persons = match sender {
            Some(sender) => Some(persons(view, scope, &sender)?),
            None => None,
        };
        Ok(Self {
            persons,
            chats: None,
            matchers,
            kinds: kinds.iter().fold(0, |bits, kind| bits | kind.bit()),
            topic: topic.map(fold).filter(|topic| !topic.is_empty()),
        })
    }

    pub(in crate::index) const fn reads_text(&self) -> bool {
        !self.matchers.is_empty()
    }

    /// How well a row matches: after its position it has person, chat, kinds and text.
    pub(in crate::index) fn fit(&mut self, row: &Row<'_>) -> rusqlite::Result<Fit> {
        if let Some(persons) = &self.persons {
            let person: Option<i64> = row.get(2)?;
            if !person.is_some_and(|person| persons.contains(&person)) {
                return Ok(Fit::No);
            }
        }
        if let Some(chats) = &self.chats
            && !chats.contains(&row.get(3)?)
        {
            return Ok(Fit::No);
        }
        if self.kinds != 0 && row.get::<_, i64>(4)? & self.kinds == 0 {
            return Ok(Fit::No);
        }
        if let Some(topic) = &self.topic {
            let known = row.get_ref(6)?.as_str_or_null()?.unwrap_or_default();
            if !fold(known).contains(topic) {
                return Ok(Fit::No);
            }
        }
        if self.matchers.is_empty() {
            return Ok(Fit::Whole);
        }
        let text = row.get_ref(5)?.as_str()?;
        let words = words(text);
        let fits = self.matchers.iter().map(|matcher| matcher.fit(&words));
        Ok(fits.max().unwrap_or(Fit::Whole))
    }
}

/// The word by which owners may refer to themselves.
const ME: &str = "me";

/// All people in these sources with this text in the name or the username.
fn persons(view: &Connection, scope: &Scope, sender: &str) -> rusqlite::Result<HashSet<i64>> {
    let sql = "SELECT person, name, username, is_me, phone FROM person WHERE src = ?1";
    let number = digits(sender);
    let mut statement = view.prepare_cached(sql)?;
    let mut persons = HashSet::new();
    for src in &scope.sources {
        let mut rows = statement.query([src])?;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(1)?.as_str()?;
            let username = row.get_ref(2)?.as_str_or_null()?.unwrap_or_default();
            let phone = row.get_ref(4)?.as_str_or_null()?.unwrap_or(name);
            let is_number = number.is_some()
                && digits(phone).is_some_and(|it| has_number(&it, number.as_deref()));
            let is_me = sender == ME && row.get(3)?;
            if is_me || is_number || fold(name).contains(sender) || fold(username).contains(sender)
            {
                persons.insert(row.get(0)?);
            }
        }
    }
    Ok(persons)
}

/// The first microsecond that is not before the timestamp.
fn round_up(at: Timestamp) -> i64 {
    let down = micros(at);
    let whole = Timestamp::from_microsecond(down);
    if whole.is_ok_and(|whole| whole < at) { down.saturating_add(1) } else { down }
}
