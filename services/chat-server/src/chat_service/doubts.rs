//! Doubts about chats: dates that can be read in two ways, and duplicate chats.

use std::collections::BTreeMap;

use super::scope::SeenChat;
use crate::index::{ChatKey, SourceSummary};
use crate::source::{Report, Twin};
use crate::view;

/// The most chats with doubtful dates that are listed for a source.
const MAX_DOUBTS: usize = 20;

/// The most sources, files and chats that a part of a note names.
const MAX_NAMED: usize = 3;

/// The reports of the sources, by source.
pub(super) struct Doubts<'k>(BTreeMap<&'k str, &'k Report>);

/// The names of visible chats.
pub(super) type Names = BTreeMap<ChatKey, String>;

/// The names of chats, by key.
pub(super) fn names(seen: &[SeenChat]) -> Names {
    let named = |seen: &SeenChat| (seen.key.clone(), seen.shown.chat.name.clone());
    seen.iter().map(named).collect()
}

impl<'k> Doubts<'k> {
    /// The doubts about these sources.
    pub(super) fn of(known: &'k [SourceSummary]) -> Self {
        Self(known.iter().map(|known| (known.id.as_str(), &known.report)).collect())
    }

    /// How the dates of a chat are read, if there are two ways.
    pub(super) fn date(&self, chat: &ChatKey) -> Option<view::Doubt> {
        let doubts = &self.0.get(chat.source.as_str())?.doubts;
        let doubt = doubts.iter().find(|doubt| doubt.chat == chat.id)?;
        Some(view::Doubt {
            read_as: doubt.order,
            or_perhaps: doubt.alternative,
            confidence: doubt.confidence.clone(),
            because: doubt.why.clone(),
        })
    }

    /// The first of these chats whose dates can be read in two ways, and how many more there are.
    pub(super) fn dates<'c>(
        &self,
        chats: impl Iterator<Item = &'c SeenChat>,
    ) -> (Vec<view::DoubtfulChat>, u64) {
        let mut doubtful = chats.filter_map(|chat| {
            Some(view::DoubtfulChat {
                chat: chat.shown.chat.name.clone(),
                doubt: self.date(&chat.key)?,
            })
        });
        let first = doubtful.by_ref().take(MAX_DOUBTS).collect();
        (first, doubtful.count() as u64)
    }

    /// The same in words.
    pub(super) fn of_dates(&self, chats: &Names) -> Option<String> {
        let doubtful = named(chats.iter().filter_map(|(key, name)| {
            let doubt = self.date(key)?;
            let (order, other) = (doubt.read_as.name(), doubt.or_perhaps.name());
            Some(format!("{name} ({}: {order}, or perhaps {other})", doubt.confidence))
        }))?;
        Some(format!(
            "dates can be read in two ways in {doubtful}: `chat-server day-order` settles it"
        ))
    }

    /// Duplicate chats, in words: those of one source, or of all sources.
    pub(super) fn twice(&self, seen: &[SeenChat], source: Option<&str>) -> Vec<String> {
        let is_of =
            |twin: &Twin| source.is_none_or(|source| twin.chats.iter().any(|(of, _)| of == source));
        self.twins(seen, is_of)
    }

    /// The same for these chats, each of which may have its duplicate elsewhere.
    pub(super) fn twins_of(&self, seen: &[SeenChat], chats: &Names) -> Vec<String> {
        self.twins(seen, |twin| twin.is_of(chats))
    }

    /// Whether any of these chats has a duplicate.
    pub(super) fn has_twins(&self, chats: &Names) -> bool {
        self.0.values().flat_map(|report| &report.twins).any(|twin| twin.is_of(chats))
    }

    fn twins(&self, seen: &[SeenChat], is_meant: impl Fn(&Twin) -> bool) -> Vec<String> {
        // A pair of two sources is in the reports of both.
        let mut listed: Vec<&Twin> = Vec::new();
        for twin in self.0.values().flat_map(|report| &report.twins) {
            if is_meant(twin) && listed.iter().all(|known| known.chats != twin.chats) {
                listed.push(twin);
            }
        }
        let words = |twin: &Twin| {
            let keys = twin.keys();
            let find = |key: &ChatKey| seen.iter().find(|chat| chat.key == *key);
            let [one, other] = [find(&keys[0])?, find(&keys[1])?];
            let name = |chat: &SeenChat| format!("{}:{}", chat.key.source, chat.shown.chat.name);
            let what = if one.key == other.key {
                format!("{} was perhaps exported by two people", name(one))
            } else {
                let newer = if one.shown.last < other.shown.last { other } else { one };
                format!(
                    "{} and {} are perhaps one chat, exported twice, {} has the newer messages",
                    name(one),
                    name(other),
                    name(newer)
                )
            };
            Some(format!(
                "{what}: {} of {} messages that were compared are the same, and count twice",
                twin.same, twin.compared
            ))
        };
        listed.into_iter().filter_map(words).collect()
    }
}

impl Twin {
    fn is_of(&self, chats: &Names) -> bool {
        self.keys().iter().any(|key| chats.contains_key(key))
    }

    fn keys(&self) -> [ChatKey; 2] {
        self.chats.clone().map(|(source, id)| ChatKey { source, id })
    }
}

/// The first few of these, and how many more there are.
pub(super) fn named(parts: impl Iterator<Item = String>) -> Option<String> {
    let mut parts = parts.fuse();
    let first: Vec<String> = parts.by_ref().take(MAX_NAMED).collect();
    let more = match parts.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!first.is_empty()).then(|| format!("{}{more}", first.join(", ")))
}
