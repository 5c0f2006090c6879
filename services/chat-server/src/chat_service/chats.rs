//! Lists of chats.

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::completeness::{About, joined};
use super::doubts::{Doubts, Names};
use super::scope::shown_chat;
use super::{ChatService, Failure, GLOB};
use crate::index::{self, ChatKey};
use crate::query::Invalid;
use crate::view;
use crate::view::compact::UNTRUSTED;

/// The most chats of one answer.
pub const MAX_CHATS: i64 = 5_000;

/// Which chats.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatQuestion {
    /// Id of the source; default all.
    pub source: Option<String>,
    /// Which chats.
    pub filter: Option<ChatFilter>,
    /// How many, 1 to 5000; 1000 by default.
    pub limit: Option<i64>,
    /// How many of the first to pass over.
    pub offset: Option<i64>,
    /// Answer from what was kept if the source is not connected.
    pub stored: Option<bool>,
}

/// What chats are like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ChatFilter {
    /// direct, group, channel or unknown.
    #[arg(long = "type", value_name = "KIND")]
    pub chat_type: Option<String>,
    /// A part of the name, in any case.
    #[arg(long = "name", value_name = "TEXT")]
    pub name_pattern: Option<String>,
}

/// The id of a source, in lower case like all ids.
pub(super) fn id_of(source: &Option<String>) -> Option<String> {
    Some(source.as_ref()?.trim().to_lowercase())
}

/// How many of the first chats are given with their last message, and how many characters of it.
const MAX_LAST: usize = 50;
const MAX_LAST_TEXT: usize = 80;

/// The beginning of a text, in one line.
pub(super) fn beginning(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c == '\n' { ' ' } else { c });
    let mut cut: String = chars.by_ref().take(MAX_LAST_TEXT).collect();
    if chars.next().is_some() {
        cut.push('…');
    }
    cut
}

const KINDS: [&str; 4] = ["direct", "group", "channel", "unknown"];

impl ChatService {
    /// The chats that may be seen, those with the latest activity first.
    ///
    /// # Errors
    /// [`Failure`]: the source is not known or not connected, a parameter is wrong, the index is not available.
    pub async fn chats(&self, asked: &ChatQuestion) -> Result<view::Chats, Failure> {
        let filter = asked.filter.clone().unwrap_or_default();
        let kind = filter.chat_type.as_deref().map(kind).transpose()?;
        let limit = within("limit", asked.limit.unwrap_or(1_000), 1, MAX_CHATS)?;
        let offset = within("offset", asked.offset.unwrap_or(0), 0, i64::MAX)?;
        let source = id_of(&asked.source);
        let source = source.as_deref();
        if let Some(source) = source {
            self.connected(source, asked.stored.unwrap_or(false)).await?;
        }
        self.settled(source).await;
        let fits = |chat: &view::Chat| {
            kind.is_none_or(|kind| chat.kind == kind)
                && filter
                    .name_pattern
                    .as_deref()
                    .is_none_or(|part| index::contains(&chat.name, part.trim_matches(GLOB)))
        };
        let seen = self.seen_chats(source).await?;
        let known = self.known().await?;
        let doubts = Doubts::of(&known);
        let fitting: Vec<(&ChatKey, view::Chat)> = seen
            .iter()
            .map(|chat| {
                let zone = self.zone(Some(&chat.key.source));
                let local = |at: Timestamp| view::local(at, &zone);
                let shown = view::Chat {
                    date_doubt: doubts.date(&chat.key),
                    first_activity: chat.shown.first.map(local),
                    last_activity: chat.shown.last.map(local),
                    ..shown_chat(&chat.shown)
                };
                (&chat.key, shown)
            })
            .filter(|(_, chat)| fits(chat))
            .collect();
        let total = fitting.len() as u64;
        let page: Vec<(&ChatKey, view::Chat)> =
            fitting.into_iter().skip(offset).take(limit).collect();
        let keys = page.iter().take(MAX_LAST).map(|(key, _)| (*key).clone()).collect();
        let mut last = self.index().latest(keys).await?.into_iter();
        let with_last = |(_, chat): (&ChatKey, view::Chat)| match last.next().flatten() {
            Some(stored) => {
                let message = self.shown(stored);
                view::Chat {
                    last_sender: Some(message.sender.name),
                    last_message: Some(beginning(&message.content)),
                    ..chat
                }
            }
            None => chat,
        };
        let chats: Vec<view::Chat> = page.into_iter().map(with_last).collect();
        let twice = doubts.twice(&seen, None);
        let names = Names::new();
        let about = About { wants_more: total == 0, ..About::chats(source, &names) };
        let missing = self.missing(&self.records(&known, source).await?, about);
        Ok(view::Chats {
            about: (!chats.is_empty()).then_some(UNTRUSTED),
            total,
            chats,
            note: joined(self.reading(source).into_iter().chain(missing).chain(twice)),
        })
    }

    /// One chat.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn chat(&self, source: Option<&str>, chat: &str) -> Result<view::Chat, Failure> {
        let source = id_of(&source.map(str::to_owned));
        let source = source.as_deref();
        if let Some(source) = source {
            self.source(source)?;
        }
        self.settled(source).await;
        Ok(shown_chat(&self.find(source, chat).await?.shown))
    }
}

fn kind(asked: &str) -> Result<&'static str, Failure> {
    let kind = asked.trim().to_lowercase();
    let known = KINDS.into_iter().find(|known| *known == kind);
    known.ok_or_else(|| {
        let reason = format!("it is not a kind of chat: give one of {}", KINDS.join(", "));
        Invalid::new("chat_type", reason).into()
    })
}

/// Checks that a number is within its bounds.
pub(super) fn within(
    parameter: &'static str,
    given: i64,
    least: i64,
    most: i64,
) -> Result<usize, Failure> {
    let fitting = (least..=most).contains(&given).then_some(given);
    fitting.and_then(|given| usize::try_from(given).ok()).ok_or_else(|| {
        let forms = match most {
            i64::MAX => format!("give {least} or more"),
            most => format!("give a number from {least} to {most}"),
        };
        Invalid::new(parameter, format!("{given} is out of bounds: {forms}")).into()
    })
}
