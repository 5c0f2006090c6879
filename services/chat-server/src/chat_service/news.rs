//! New messages as they come in, and which listener gets which.

use super::{ChatService, Failure};
use crate::index::{self, Followed, Follower};
use crate::view;
use crate::view::uri::Listening;

/// An event for listeners.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A message came in.
    Message(Box<NewMessage>),
    /// More messages came in than can be sent one by one.
    Missed {
        /// The source.
        source: String,
        /// How many.
        missed: u64,
        /// The cursor from which [`ChatService::messages`] returns them.
        cursor: String,
    },
}

/// A message that came in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// The message.
    pub message: view::Message,
    /// The cursor from which [`ChatService::messages`] returns the messages after it.
    pub cursor: Option<String>,
}

/// The events that happen from now on.
#[derive(Debug)]
pub struct Following {
    service: ChatService,
    follower: Follower,
}

impl ChatService {
    /// Follows all sources that report new messages.
    ///
    /// # Errors
    /// [`Failure`] if the index is not available.
    pub async fn follow(&self) -> Result<Following, Failure> {
        Ok(Following { service: self.clone(), follower: self.index().follow().await? })
    }

    /// Whether a source, or any, reports new messages as they arrive.
    pub(super) fn streams(&self, source: Option<&str>) -> bool {
        let mut meant = self
            .registry()
            .iter()
            .filter(|entry| source.is_none_or(|source| source == entry.source.id()));
        meant.any(|entry| entry.source.streams())
    }

    /// Whether there is something to listen to; the id of the chat, if it is one.
    ///
    /// # Errors
    /// [`Failure`]: the source or the chat is not known, or the source does not report new messages.
    pub async fn may_listen(&self, to: &Listening) -> Result<Option<String>, Failure> {
        let what = match to.source.as_deref() {
            Some(source) => {
                self.source(source)?;
                format!("Source '{source}' does not report")
            }
            None => "No source reports".to_owned(),
        };
        if !self.streams(to.source.as_deref()) {
            let message = format!(
                "{what} new messages as they arrive: streaming is not supported. An export does if its configuration \
                 says watch = true; else read its messages from time to time"
            );
            return Err(Failure::invalid("STREAMING_NOT_SUPPORTED", message));
        }
        // Waits, so that old messages do not count as new.
        self.settled(to.source.as_deref()).await;
        match &to.chat {
            Some(chat) => {
                let found = self.chat(to.source.as_deref(), chat).await?;
                Ok(Some(found.id))
            }
            None => Ok(None),
        }
    }
}

impl Following {
    /// The next visible event; `None` once the index is closed. Dropping the future loses only what it has read.
    pub async fn next(&mut self) -> Option<News> {
        loop {
            match self.follower.next().await? {
                Followed::Lagged(lag) if self.service.streams(Some(&lag.source)) => {
                    return Some(News::Missed {
                        source: lag.source,
                        missed: lag.missed,
                        cursor: lag.cursor.as_str().to_owned(),
                    });
                }
                Followed::Message(stored) if self.serves(&stored) => {
                    let place = self.service.index().cursor_after(&stored.source, stored.sequence);
                    let cursor = place.await.ok().flatten();
                    return Some(News::Message(Box::new(NewMessage {
                        message: self.service.shown(*stored),
                        cursor: cursor.map(|cursor| cursor.as_str().to_owned()),
                    })));
                }
                Followed::Lagged(_) | Followed::Message(_) => {}
            }
        }
    }

    fn serves(&self, stored: &index::StoredMessage) -> bool {
        let registry = self.service.registry();
        self.service.streams(Some(&stored.source))
            && !self.service.is_unchecked()
            && registry.serves(&stored.source, &stored.chat, &stored.chat_name)
    }
}

impl News {
    /// Whether the event is for a listener to this address. `chat` is the id of the chat, if it is known.
    pub fn concerns(&self, to: &Listening, chat: Option<&str>) -> bool {
        let is_source = |source: &str| to.source.as_deref().is_none_or(|wanted| wanted == source);
        match self {
            Self::Missed { source, .. } => is_source(source),
            Self::Message(new) => {
                let message = &new.message;
                is_source(&message.source)
                    && to.chat.as_deref().is_none_or(|wanted| match chat {
                        Some(id) => message.chat_id == id,
                        None => is_called(message, wanted),
                    })
                    && to.chat_filter.as_deref().is_none_or(|part| {
                        message.chat_id == part || index::contains(&message.chat, part)
                    })
                    && to.sender.as_deref().is_none_or(|part| is_sender(message, part))
                    && to
                        .search
                        .as_deref()
                        .is_none_or(|asked| index::says(&message.content, asked).unwrap_or(false))
            }
        }
    }
}

fn is_called(message: &view::Message, name: &str) -> bool {
    message.chat_id == name
        || index::contains(&message.chat, name) && index::contains(name, &message.chat)
}

fn is_sender(message: &view::Message, part: &str) -> bool {
    let sender = &message.sender;
    if sender.is_me && part.trim().eq_ignore_ascii_case("me") {
        return true;
    }
    let names = [Some(&sender.name), sender.username.as_ref()];
    let number = sender.phone.as_ref().unwrap_or(&sender.name);
    names.into_iter().flatten().any(|name| index::contains(name, part))
        || index::is_number(number, part)
}
