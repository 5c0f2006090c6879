//! Messages: by filters, by words, around one of them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::chats::within;
use super::scope::Scope;
use super::{Desk, Failure, News};
use crate::index::{
    self, ChatKey, Cursor, DEFAULT_LIMIT, MAX_AROUND, MAX_LIMIT, MessageQuery, StoredMessage,
};
use crate::query;
use crate::view;
use crate::view::uri::Listening;

/// Which messages, as somebody asks. All that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// Of this source; of all if `None`.
    pub source: Option<String>,
    /// Of this chat, by id, name or part of the name; of all if `None` or `*`.
    pub chat: Option<String>,
    /// Not before this: `7d`, a date in the zone of the source, or RFC 3339.
    pub since: Option<String>,
    /// Before this.
    pub before: Option<String>,
    /// A part of the name of the sender.
    pub sender: Option<String>,
    /// A part of the name of a topic.
    pub topic: Option<String>,
    /// Words of what is said, as for a search.
    pub search: Option<String>,
    /// How many; 1 to 1,000, by default 100.
    pub limit: Option<i64>,
    /// How many to pass over.
    pub offset: Option<i64>,
    /// Where to go on.
    pub cursor: Option<String>,
    /// Whether what was kept of a source that is not connected is enough.
    pub stored: bool,
}

/// Which messages to look for by words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuestion {
    /// Words, "phrases" and beginnings of words (meet*).
    pub text: String,
    /// What else must hold.
    pub messages: Question,
    /// How many messages to give before each hit; by default none.
    pub before: Option<i64>,
    /// And how many after it.
    pub after: Option<i64>,
}

/// What to tell around which message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The source of the chat.
    pub source: Option<String>,
    /// The chat.
    pub chat: String,
    /// The id of the message.
    pub id: String,
    /// How many messages before it; by default 5.
    pub before: Option<i64>,
    /// How many messages after it; by default 5.
    pub after: Option<i64>,
}

/// What to try where nothing was found.
const NOTHING_FOUND: &str = "nothing has all of this: try fewer words, OR between them, the beginning of a word, other \
    spellings, or no chat, sender, since and before";

impl Desk {
    /// The messages that fit, newest first.
    ///
    /// # Errors
    /// [`Failure`]: the source or the chat is not known or not connected, a parameter is wrong, the index is not
    /// available.
    pub async fn messages(&self, asked: &Question) -> Result<view::Messages, Failure> {
        let query = self.query(asked).await?;
        let page = self.index().messages(&query).await?;
        let none_found = page.messages.is_empty() && query.search.is_some();
        let none_found = none_found.then(|| NOTHING_FOUND.to_owned());
        let note = self.note_on(query.source.as_deref(), &page.messages);
        Ok(view::Messages {
            note: note.await?.or(none_found),
            messages: page.messages.into_iter().map(|it| self.shown(it)).collect(),
            next_cursor: page.next.map(|cursor| cursor.as_str().to_owned()),
        })
    }

    /// The first message that fits and comes in from now on; none if none does in so many seconds, 1 to 50.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn wait(&self, asked: &Question, seconds: i64) -> Result<view::Messages, Failure> {
        let patience = within("seconds", seconds, 1, 50)?;
        let mut following = self.follow().await?;
        // What is wrong with the question is told at once.
        let probe = Question {
            limit: Some(1),
            ..asked.clone()
        };
        let query = self.query(&probe).await?;
        self.index().messages(&query).await?;
        let to = Listening {
            source: query.source.clone(),
            chat: None,
            chat_filter: None,
            sender: asked.sender.clone(),
            search: given(&asked.search),
        };
        let next = async {
            loop {
                match following.next().await {
                    Some(News::Told(told)) => {
                        let key = ChatKey {
                            source: told.message.source.clone(),
                            id: told.message.chat_id.clone(),
                        };
                        let is_there = query
                            .chats
                            .as_ref()
                            .is_none_or(|chats| chats.contains(&key));
                        let told = News::Told(told);
                        if is_there && told.concerns(&to, None) {
                            return Some(told);
                        }
                    }
                    Some(News::Missed { .. }) => {}
                    None => return None,
                }
            }
        };
        let patience = Duration::from_secs(patience as u64);
        let told = tokio::time::timeout(patience, next).await.ok().flatten();
        let (messages, note) = match told {
            Some(News::Told(told)) => (vec![told.message], None),
            _ => (
                Vec::new(),
                Some("no such message has come in: call again to go on waiting".to_owned()),
            ),
        };
        Ok(view::Messages {
            messages,
            next_cursor: None,
            note,
        })
    }

    /// The messages with these words, newest first, and what was said around them.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn search(&self, asked: &SearchQuestion) -> Result<view::Hits, Failure> {
        let around = MAX_AROUND.try_into().unwrap_or(i64::MAX);
        let query = index::SearchQuery {
            text: asked.text.clone(),
            before: within("context_before", asked.before.unwrap_or(0), 0, around)?,
            after: within("context_after", asked.after.unwrap_or(0), 0, around)?,
            messages: self.query(&asked.messages).await?,
        };
        let found = self.index().search(&query).await?;
        let messages = found.hits.iter().map(|hit| &hit.message);
        let note = self.note_on(query.messages.source.as_deref(), messages);
        let note = note.await?;
        let none_found = found.hits.is_empty().then(|| NOTHING_FOUND.to_owned());
        let hit = |hit: index::Hit| {
            let raw = view::content(&hit.message.message);
            let message = self.shown(hit.message);
            view::Hit {
                // Marks may stand within a number.
                snippet: (raw == message.content).then(|| hit.snippet.marked("**", "**")),
                message,
                before: hit
                    .around
                    .before
                    .into_iter()
                    .map(|it| self.shown(it))
                    .collect(),
                after: hit
                    .around
                    .after
                    .into_iter()
                    .map(|it| self.shown(it))
                    .collect(),
            }
        };
        Ok(view::Hits {
            hits: found.hits.into_iter().map(hit).collect(),
            next_cursor: found.next.map(|cursor| cursor.as_str().to_owned()),
            note: note.or(none_found),
        })
    }

    /// A message and what was said around it.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages), and `MESSAGE_NOT_FOUND`.
    pub async fn around(&self, asked: &Around) -> Result<view::Around, Failure> {
        let most = MAX_AROUND.try_into().unwrap_or(i64::MAX);
        let before = within("before", asked.before.unwrap_or(5), 0, most)?;
        let after = within("after", asked.after.unwrap_or(5), 0, most)?;
        let scope = self
            .scope(asked.source.as_deref(), Some(&asked.chat), true)
            .await?;
        let Some([key]) = scope.chats.as_deref() else {
            let reason = "give one chat, by id or name";
            return Err(query::Invalid::new("chat", reason).into());
        };
        let id = self.message_id(key, &asked.id).await?;
        let found = self.index().context(key, &id, before, after).await?;
        let (message, around) = found.ok_or_else(|| Failure::message_not_found(key, &asked.id))?;
        let note = self.note_on(Some(&key.source), [&message]).await?;
        Ok(view::Around {
            note,
            before: around.before.into_iter().map(|it| self.shown(it)).collect(),
            message: self.shown(message),
            after: around.after.into_iter().map(|it| self.shown(it)).collect(),
        })
    }

    /// The id of a message by what is shown of it: where a number is left out, it is that of one of the messages of its
    /// time.
    pub(super) async fn message_id(&self, chat: &ChatKey, shown: &str) -> Result<String, Failure> {
        let time = shown
            .split_once('-')
            .and_then(|(time, _)| time.parse().ok());
        let Some(since) = time.and_then(|time| Timestamp::from_millisecond(time).ok()) else {
            return Ok(shown.to_owned());
        };
        if !self.0.redactor.is_on() {
            return Ok(shown.to_owned());
        }
        let of_its_time = MessageQuery {
            chats: Some(vec![chat.clone()]),
            since: Some(since),
            before: since.checked_add(SignedDuration::from_millis(1)).ok(),
            limit: MAX_LIMIT,
            ..MessageQuery::default()
        };
        let page = self.index().messages(&of_its_time).await?;
        let is_shown_so = |id: &String| {
            let mut id = id.clone();
            self.0.redactor.message_id(&mut id);
            id == shown
        };
        let mut ids = page.messages.into_iter().map(|it| it.message.id);
        Ok(ids.find(is_shown_so).unwrap_or_else(|| shown.to_owned()))
    }

    /// What is not complete or not certain about these messages.
    async fn note_on<'m>(
        &self,
        source: Option<&str>,
        messages: impl IntoIterator<Item = &'m StoredMessage>,
    ) -> Result<Option<String>, Failure> {
        let named = |stored: &StoredMessage| {
            let mut name = stored.chat_name.clone();
            self.0.redactor.text(&mut name);
            let (source, id) = (stored.source.clone(), stored.chat.clone());
            (ChatKey { source, id }, name)
        };
        let chats = messages.into_iter().map(named).collect();
        self.note(source, &chats).await
    }

    /// What may be told of a message.
    pub(super) fn shown(&self, mut stored: StoredMessage) -> view::Message {
        self.0.redactor.stored(&mut stored);
        view::Message::new(&stored, &self.zone(Some(&stored.source)))
    }

    async fn query(&self, asked: &Question) -> Result<MessageQuery, Failure> {
        let most = MAX_LIMIT.try_into().unwrap_or(i64::MAX);
        let default = DEFAULT_LIMIT.try_into().unwrap_or(i64::MAX);
        let limit = within("limit", asked.limit.unwrap_or(default), 1, most)?;
        let offset = within("offset", asked.offset.unwrap_or(0), 0, i64::MAX)?;
        let source = asked.source.as_deref();
        // What is no time is told before anything is waited for.
        self.range(source, &asked.since, &asked.before)?;
        let Scope { source, chats } = self
            .scope(source, asked.chat.as_deref(), asked.stored)
            .await?;
        // The chat may have named the source, and so the zone in which a day begins.
        let (since, before) = self.range(source.as_deref(), &asked.since, &asked.before)?;
        Ok(MessageQuery {
            source,
            chats,
            since,
            before,
            sender: given(&asked.sender),
            search: given(&asked.search),
            kinds: Vec::new(),
            topic: given(&asked.topic),
            limit,
            offset,
            cursor: asked.cursor.as_ref().map(Cursor::new),
        })
    }

    /// From when to when.
    pub(super) fn range(
        &self,
        source: Option<&str>,
        since: &Option<String>,
        before: &Option<String>,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Failure> {
        let (now, zone) = (Timestamp::now(), self.zone(source));
        let time = |parameter, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| query::time(parameter, text, now, &zone))
                .transpose()
        };
        let (since, before) = (time("since", since)?, time("before", before)?);
        query::range(since, before)?;
        Ok((since, before))
    }
}

/// A part to look for; an empty one is in every text.
fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}
