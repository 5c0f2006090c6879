//! Where to look: visible sources and chats by the names that a caller gives.

use super::{ChatService, Failure, Mode, failure};
use crate::index::{ChatKey, ChatSummary, FoundChat, SourceSummary, find_among};
use crate::query::ChatArgument;
use crate::registry::RegisteredSource;
use crate::source::Connection;
use crate::view;
use crate::view::uri;

/// A chat that may be seen.
#[derive(Debug, Clone)]
pub(super) struct SeenChat {
    /// Where it is in the index.
    pub(super) key: ChatKey,
    /// Its visible form.
    pub(super) shown: ChatSummary,
}

/// Where to look.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// In this source.
    pub(super) source: Option<String>,
    /// In these chats; in all if `None`.
    pub(super) chats: Option<Vec<ChatKey>>,
}

impl ChatService {
    /// A source of the configuration.
    pub(super) fn source(&self, id: &str) -> Result<&RegisteredSource, Failure> {
        let registry = self.registry();
        registry.get(id).ok_or_else(|| {
            let ids = registry.iter().map(|entry| entry.source.id());
            failure::source_not_found(id, ids)
        })
    }

    /// The same, if the source is connected, or if its stored messages are enough.
    pub(super) async fn connected(
        &self,
        id: &str,
        stored: bool,
    ) -> Result<&RegisteredSource, Failure> {
        let entry = self.source(id)?;
        self.settled(Some(id)).await;
        if let Some(failure) = self.closed(entry) {
            return Err(failure);
        }
        if stored {
            return Ok(entry);
        }
        match self.connection(id) {
            Connection::Connected => Ok(entry),
            Connection::Disconnected(advice) => {
                let kept = self.seen_chats(Some(id)).await?;
                let kept = kept.iter().map(|chat| chat.shown.messages).sum();
                let name = &entry.source.head().name;
                Err(failure::not_connected(name, id, &advice, kept))
            }
        }
    }

    /// Whether a source with lists of chats is read with them for the first time, here or by another process. Until
    /// then nothing is served of any source, which may have a copy of a chat that is denied.
    pub(super) fn is_unchecked(&self) -> bool {
        self.0.mode == Mode::Runs && self.registry().iter().any(RegisteredSource::is_unchecked)
    }

    /// Why nothing of a source is served; `None` if it is served.
    pub(super) fn closed(&self, entry: &RegisteredSource) -> Option<Failure> {
        let id = entry.source.id();
        if self.is_unchecked() {
            let reading = self.reading(None);
            let reading = reading.as_deref().unwrap_or("another process reads them");
            let message =
                format!("no chat is shown before the lists of chats are checked: {reading}");
            return Some(Failure::new("SOURCE_NOT_CONNECTED", message));
        }
        entry.is_closed().then(|| match self.reading(Some(id)) {
            Some(reading) => Failure::new(
                "SOURCE_NOT_CONNECTED",
                format!(
                    "Source '{id}' has lists of chats, and is shown once they are checked: {reading}"
                ),
            ),
            None => failure::private(id, entry.unmatched().len()),
        })
    }

    /// The visible chats of a source, or of all sources of the configuration; those with the latest activity first.
    pub(super) async fn seen_chats(&self, source: Option<&str>) -> Result<Vec<SeenChat>, Failure> {
        let chats = self.index().chats(source).await?;
        if self.is_unchecked() {
            return Ok(Vec::new());
        }
        let seen = chats
            .into_iter()
            .filter(|chat| self.owns(&chat.source, chat.owner.as_deref()))
            .filter(|chat| self.registry().serves(&chat.source, &chat.chat.id, &chat.chat.name));
        Ok(seen
            .map(|mut chat| {
                let key = chat.key();
                self.0.redactor.chat(&mut chat);
                SeenChat { key, shown: chat }
            })
            .collect())
    }

    /// All visible chats, as keys for a query to the index.
    pub(super) async fn scope_of(&self, source: Option<&str>) -> Result<Scope, Failure> {
        let known = self.index().sources().await?;
        let asked = |known: &&SourceSummary| source.is_none_or(|source| source == known.id);
        let all_may_be_seen = known.iter().filter(asked).all(|known| self.is_open(known));
        let chats = if all_may_be_seen {
            None
        } else {
            let seen = self.seen_chats(source).await?;
            Some(seen.into_iter().map(|chat| chat.key).collect())
        };
        Ok(Scope { source: source.map(str::to_owned), chats })
    }

    /// Whether rows are those of a source of the configuration: its id alone does not decide.
    pub(super) fn owns(&self, source: &str, owner: Option<&str>) -> bool {
        self.registry().get(source).is_some_and(|entry| entry.owns(owner))
    }

    /// Whether all chats of a source may be seen.
    pub(super) fn is_open(&self, known: &SourceSummary) -> bool {
        let entry = self.registry().get(&known.id);
        known.hidden + known.unchecked == 0
            && !self.is_unchecked()
            && entry
                .is_some_and(|entry| entry.owns(known.owner.as_deref()) && !entry.chats.has_lists())
    }

    /// The scope of a request with these arguments. Without a chat, or with `*`, it is all chats.
    pub(super) async fn scope(
        &self,
        source: Option<&str>,
        chat: Option<&str>,
        stored: bool,
    ) -> Result<Scope, Failure> {
        if let Some(source) = source {
            self.source(source)?;
        }
        let Some(chat) = chat else {
            if let Some(source) = source {
                self.connected(source, stored).await?;
            }
            self.settled(source).await;
            return self.scope_of(source).await;
        };
        // With a separate source, the text is a name even if it begins like a source.
        let is_source = |id: &str| source.is_none() && self.registry().get(id).is_some();
        let argument = ChatArgument::parse("chat", chat, is_source)?;
        let source = source.or(argument.source);
        if let Some(source) = source {
            self.connected(source, stored).await?;
        }
        self.settled(source).await;
        match argument.chat {
            None => self.scope_of(source).await,
            Some(chat) => {
                let found = match self.find(source, chat).await {
                    // Nothing of it may have been stored yet.
                    Err(not_found) => match source {
                        Some(source) if self.seen_chats(Some(source)).await?.is_empty() => {
                            self.connected(source, false).await?;
                            return Err(not_found);
                        }
                        _ => return Err(not_found),
                    },
                    found => found?,
                };
                Ok(Scope { source: Some(found.key.source.clone()), chats: Some(vec![found.key]) })
            }
        }
    }

    /// The chat that a caller gives this name.
    pub(super) async fn find(&self, source: Option<&str>, chat: &str) -> Result<SeenChat, Failure> {
        let seen = self.seen_chats(source).await?;
        let shown = seen.iter().map(|chat| chat.shown.clone()).collect();
        let views = |chats: &[ChatSummary]| chats.iter().map(shown_chat).collect::<Vec<_>>();
        match find_among(shown, chat) {
            FoundChat::Found(found) => seen
                .into_iter()
                .find(|chat| chat.shown == *found)
                .ok_or_else(|| failure::chat_not_found(chat, source, &[])),
            FoundChat::Ambiguous { candidates, total } => {
                Err(failure::ambiguous(chat, &views(&candidates), total))
            }
            FoundChat::NotFound { nearest } => {
                let mut failure = failure::chat_not_found(chat, source, &views(&nearest));
                if let Some(reading) = self.reading(source) {
                    failure.message = format!("{}; {reading}", failure.message);
                }
                Err(failure)
            }
        }
    }
}

/// The visible form of a chat, with times in UTC.
pub(super) fn shown_chat(chat: &ChatSummary) -> view::Chat {
    view::Chat {
        id: chat.chat.id.clone(),
        name: chat.chat.name.clone(),
        kind: chat.chat.kind.name().to_owned(),
        participant_count: chat.chat.participants.unwrap_or(chat.writers),
        counted: match chat.chat.participants {
            Some(_) => "members",
            None => "writers",
        },
        source: chat.source.clone(),
        message_count: chat.messages,
        first_activity: chat.first.map(|at| at.to_string()),
        last_activity: chat.last.map(|at| at.to_string()),
        last_sender: None,
        last_message: None,
        date_doubt: None,
        uri: uri::messages(&chat.source, &chat.chat.id),
    }
}
