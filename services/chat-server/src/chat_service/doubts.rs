//! Doubts about chats: dates that can be read in two ways, and duplicate chats.

use std::collections::BTreeMap;

use super::chats::joined;
use super::scope::SeenChat;
use super::{ChatService, Failure};
use crate::index::ChatKey;
use crate::source::{Report, Twin};
use crate::view;

/// The most chats with doubtful dates that are listed for a source, and the most that a sentence names.
const MAX_DOUBTS: usize = 20;
const MAX_NAMED: usize = 3;

/// The reports of the sources, by source.
pub(super) struct Doubts(BTreeMap<String, Report>);

/// The names of visible chats.
pub(super) type Names = BTreeMap<ChatKey, String>;

impl ChatService {
    /// The reports of the sources.
    pub(super) async fn doubts(&self) -> Result<Doubts, Failure> {
        let known = self.index().sources().await?.into_iter();
        Ok(Doubts(known.map(|known| (known.id, known.report)).collect()))
    }

    /// What is incomplete or uncertain in an answer about these chats, in words.
    pub(super) async fn note(
        &self,
        source: Option<&str>,
        chats: &Names,
    ) -> Result<Option<String>, Failure> {
        let doubts = self.doubts().await?;
        let parts = self.reading(source).into_iter();
        let parts = parts.chain(doubts.of_dates(chats));
        Ok(joined(parts.chain(doubts.twins(chats, None))))
    }
}

/// The names of chats, by key.
pub(super) fn names(seen: &[SeenChat]) -> Names {
    let named = |seen: &SeenChat| (seen.key.clone(), seen.shown.chat.name.clone());
    seen.iter().map(named).collect()
}

impl Doubts {
    /// How many entries the last reading of a source has left out.
    pub(super) fn left_out(&self, source: &str) -> u64 {
        self.0.get(source).map_or(0, |report| report.left_out)
    }

    /// How the dates of a chat are read, if there are two ways.
    pub(super) fn date(&self, chat: &ChatKey) -> Option<view::Doubt> {
        let doubts = &self.0.get(&chat.source)?.doubts;
        let doubt = doubts.iter().find(|doubt| doubt.chat == chat.id)?;
        Some(view::Doubt {
            read_as: doubt.order,
            or_perhaps: doubt.alternative,
            confidence: doubt.confidence.clone(),
            because: doubt.why.clone(),
        })
    }

    /// The first of these chats whose dates can be read in two ways, and how many more there are.
    pub(super) fn dates(&self, chats: &[SeenChat]) -> (Vec<view::DoubtfulChat>, u64) {
        let mut doubtful = chats.iter().filter_map(|chat| {
            Some(view::DoubtfulChat {
                chat: chat.shown.chat.name.clone(),
                doubt: self.date(&chat.key)?,
            })
        });
        let first = doubtful.by_ref().take(MAX_DOUBTS).collect();
        (first, doubtful.count() as u64)
    }

    /// The same in words.
    fn of_dates(&self, chats: &Names) -> Option<String> {
        let doubtful: Vec<(&String, view::Doubt)> =
            chats.iter().filter_map(|(key, name)| Some((name, self.date(key)?))).collect();
        let named: Vec<String> = doubtful
            .iter()
            .take(MAX_NAMED)
            .map(|(name, doubt)| {
                format!(
                    "{name} ({}: {}, or perhaps {})",
                    doubt.confidence,
                    doubt.read_as.name(),
                    doubt.or_perhaps.name()
                )
            })
            .collect();
        let more = match doubtful.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!named.is_empty()).then(|| {
            format!(
                "dates can be read in two ways in {}{more}: `chat-server day-order` settles it",
                named.join(", ")
            )
        })
    }

    /// Duplicate chats, in words: those of one source, or of all sources.
    pub(super) fn twice(&self, seen: &[SeenChat], source: Option<&str>) -> Vec<String> {
        self.twins(&names(seen), source).collect()
    }

    fn twins<'d>(
        &'d self,
        chats: &'d Names,
        source: Option<&'d str>,
    ) -> impl Iterator<Item = String> + 'd {
        // A pair of two sources is in the reports of both.
        let mut listed: Vec<&Twin> = Vec::new();
        let twins = self.0.values().flat_map(|report| &report.twins);
        for twin in twins {
            let is_of = |id: &str| twin.chats.iter().any(|(of, _)| of == id);
            if source.is_none_or(is_of) && listed.iter().all(|known| known.chats != twin.chats) {
                listed.push(twin);
            }
        }
        listed.into_iter().filter_map(move |twin| {
            let name = |(source, id): &(String, String)| {
                let key = ChatKey { source: source.clone(), id: id.clone() };
                Some(format!("{source}:{}", chats.get(&key)?))
            };
            let [one, other] = &twin.chats;
            let [one, other] = [name(one)?, name(other)?];
            let what = if one == other {
                format!("{one} was perhaps exported by two people")
            } else {
                format!("{one} and {other} are perhaps one chat, exported twice")
            };
            Some(format!(
                "{what}: {} of {} messages that were compared are the same, and count twice",
                twin.same, twin.compared
            ))
        })
    }
}
