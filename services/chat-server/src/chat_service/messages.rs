//! Messages: by filters, by words, around one of them.

use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

use super::chats::{id_of, within};
use super::completeness::{About, joined};
use super::scope::Scope;
use super::{ChatService, Failure, News, failure};
use crate::index::{
    self, ChatKey, Cursor, DEFAULT_LIMIT, Kind, MAX_AROUND, MAX_LIMIT, MessageQuery,
    StatisticsQuery, StoredMessage,
};
use crate::model::Participant;
use crate::query;
use crate::view;
use crate::view::uri::Listening;

/// Which messages, as somebody asks. All that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Id, name or part of the name of the chat, SOURCE: and one of these, or *; default all.
    #[arg(allow_negative_numbers = true)]
    pub chat: Option<String>,
    /// Id of the source; default all.
    #[arg(long, value_name = "ID")]
    pub source: Option<String>,
    /// Not before: 15m, 2h, 7d or 1w ago, today, yesterday, 2025-01-13 (local), or RFC 3339.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this, likewise.
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    #[arg(long, value_name = "TEXT")]
    pub sender: Option<String>,
    /// Words or parts of words, "phrases", a OR b, -not, emoji.
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    /// Part of the name of a forum topic.
    #[arg(long, value_name = "TEXT")]
    pub topic: Option<String>,
    /// Only messages with this.
    #[arg(long, value_enum)]
    pub has: Option<Kind>,
    /// Newest first by default.
    #[arg(long, value_enum)]
    pub order: Option<Order>,
    /// How many, 1 to 1000; 100 by default.
    #[arg(long)]
    pub limit: Option<i64>,
    /// How many of the first to pass over.
    #[arg(long)]
    pub offset: Option<i64>,
    /// next_cursor of the answer before; other arguments the same.
    #[arg(long)]
    pub cursor: Option<String>,
    /// Answer from what was kept if the source is not connected.
    #[arg(skip = Some(true))]
    pub stored: Option<bool>,
}

/// The order of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Order {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// Which messages to look for by words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchQuestion {
    /// Words or parts of words, "phrases", a OR b, -not, emoji.
    pub query: String,
    /// Id of the source; default all.
    pub source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    pub chat: Option<String>,
    /// Not before: 7d, yesterday, 2025-01-13, or RFC 3339.
    pub since: Option<String>,
    /// Before this, likewise.
    pub before: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    pub sender: Option<String>,
    /// Part of the name of a forum topic.
    pub topic: Option<String>,
    /// Only messages with this.
    pub has: Option<Kind>,
    /// How many hits, 1 to 1000; 20 by default.
    pub limit: Option<i64>,
    /// next_cursor of the answer before; other arguments the same.
    pub cursor: Option<String>,
    /// How many messages to give before each hit; 0 by default.
    pub context_before: Option<i64>,
    /// How many messages to give after each hit; 0 by default.
    pub context_after: Option<i64>,
}

/// Which message to wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitQuestion {
    /// Id of the source; default all.
    pub source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    pub chat: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    pub sender: Option<String>,
    /// Words, as query of search_messages.
    pub search: Option<String>,
    /// How long to wait at most, 1 to 50; default 30.
    pub seconds: Option<i64>,
}

/// What to tell around which message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// The id of the source; may be left out if the chat is the only one of its id or name.
    pub source: Option<String>,
    /// The chat: its id or its name.
    pub chat: String,
    /// The id of the message.
    pub message_id: String,
    /// How many messages before it, 0 to 500; 5 by default.
    pub before: Option<i64>,
    /// How many messages after it, 0 to 500; 5 by default.
    pub after: Option<i64>,
}

/// What to try if nothing was found.
const NOTHING_FOUND: &str = "nothing has all of this: try fewer words, OR between them, a part of a word, other \
    spellings, or no chat, sender, since and before";

/// What to do if no message has come in, and if none ever does.
const NONE_CAME: &str = "no such message has come in: call again to continue waiting";
const NONE_COMES: &str = "no message comes in while you wait, since this export is not watched (watch = true in its \
    configuration): read it again later";

impl ChatService {
    /// The messages that fit, newest first by default.
    ///
    /// # Errors
    /// [`Failure`]: the source or the chat is not known or not connected, a parameter is wrong, the index is not
    /// available.
    pub async fn messages(&self, asked: &Question) -> Result<view::Messages, Failure> {
        let query = self.query(asked).await?;
        let page = self.index().messages(&query).await?;
        let none_found = page.messages.is_empty() && query.search.is_some();
        let none_found = none_found.then(|| NOTHING_FOUND.to_owned());
        let note = self.note_on(&query, page.messages.is_empty(), &page.messages);
        Ok(view::Messages {
            note: joined(note.await?.into_iter().chain(none_found)),
            messages: page.messages.into_iter().map(|it| self.shown(it)).collect(),
            next_cursor: page.next.map(|cursor| cursor.as_str().to_owned()),
        })
    }

    /// The first matching message that arrives from now on; `None` if the time runs out.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn wait(&self, asked: WaitQuestion) -> Result<view::Messages, Failure> {
        let patience = within("seconds", asked.seconds.unwrap_or(30), 1, 50)?;
        let mut following = self.follow().await?;
        // Errors in the arguments are reported at once.
        let probe = Question {
            source: asked.source,
            chat: asked.chat,
            sender: asked.sender.clone(),
            search: asked.search.clone(),
            limit: Some(1),
            ..Question::default()
        };
        let query = self.query(&probe).await?;
        self.index().messages(&query).await?;
        // By the id that messages are shown with; what may not be seen does not come in.
        let chat = match query.chats.as_deref() {
            Some([only]) if probe.chat.is_some() => {
                let mut seen = self.seen_chats(Some(&only.source)).await?.into_iter();
                seen.find(|chat| chat.key == *only).map(|chat| chat.shown.chat.id)
            }
            _ => None,
        };
        let to = Listening {
            source: query.source.clone(),
            chat: chat.clone(),
            chat_filter: None,
            sender: asked.sender,
            search: given(&asked.search),
        };
        let next = async {
            loop {
                let news = following.next().await?;
                if matches!(news, News::Message(_)) && news.concerns(&to, chat.as_deref()) {
                    return Some(news);
                }
            }
        };
        let patience = Duration::from_secs(patience as u64);
        let streams = self.streams(query.source.as_deref());
        let news = if streams { tokio::time::timeout(patience, next).await } else { Ok(None) };
        let note = self.note_on(&query, true, []).await?;
        let (messages, none_came) = match news {
            Ok(Some(News::Message(new))) => (vec![new.message], None),
            _ if streams => (Vec::new(), Some(NONE_CAME)),
            _ => (Vec::new(), Some(NONE_COMES)),
        };
        let note = joined(note.into_iter().chain(none_came.map(str::to_owned)));
        Ok(view::Messages { messages, next_cursor: None, note })
    }

    /// The messages with these words and the messages around them: whole words first, then parts of words, each newest
    /// first.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn search(&self, asked: SearchQuestion) -> Result<view::Hits, Failure> {
        let around = MAX_AROUND.try_into().unwrap_or(i64::MAX);
        let context = |name, given: Option<i64>| within(name, given.unwrap_or(0), 0, around);
        let query = index::SearchQuery {
            text: asked.query,
            before: context("context_before", asked.context_before)?,
            after: context("context_after", asked.context_after)?,
            messages: self
                .query(&Question {
                    source: asked.source,
                    chat: asked.chat,
                    since: asked.since,
                    before: asked.before,
                    sender: asked.sender,
                    topic: asked.topic,
                    has: asked.has,
                    limit: Some(asked.limit.unwrap_or(20)),
                    cursor: asked.cursor,
                    stored: Some(true),
                    ..Question::default()
                })
                .await?,
        };
        let found = self.index().search(&query).await?;
        let messages = found.hits.iter().map(|hit| &hit.message);
        let note = self.note_on(&query.messages, found.hits.is_empty(), messages).await?;
        let none_found = found.hits.is_empty().then(|| NOTHING_FOUND.to_owned());
        let hit = |hit: index::Hit| {
            let raw = view::content(&hit.message.message);
            let message = self.shown(hit.message);
            view::Hit {
                // Marks may stand within a number.
                snippet: (raw == message.content).then_some(hit.snippet),
                inside_word: hit.inside,
                message,
                before: hit.around.before.into_iter().map(|it| self.shown(it)).collect(),
                after: hit.around.after.into_iter().map(|it| self.shown(it)).collect(),
            }
        };
        Ok(view::Hits {
            hits: found.hits.into_iter().map(hit).collect(),
            next_cursor: found.next.map(|cursor| cursor.as_str().to_owned()),
            note: joined(note.into_iter().chain(none_found)),
        })
    }

    /// A message and the messages around it.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages), and `MESSAGE_NOT_FOUND`.
    pub async fn around(&self, asked: &Around) -> Result<view::Around, Failure> {
        let most = MAX_AROUND.try_into().unwrap_or(i64::MAX);
        let before = within("before", asked.before.unwrap_or(5), 0, most)?;
        let after = within("after", asked.after.unwrap_or(5), 0, most)?;
        let scope = self.scope(id_of(&asked.source).as_deref(), Some(&asked.chat), true).await?;
        let Some([key]) = scope.chats.as_deref() else {
            let reason = "give one chat, by id or name";
            return Err(query::Invalid::new("chat", reason).into());
        };
        let id = self.message_id(key, &asked.message_id).await?;
        let found = self.index().context(key, &id, before, after).await?;
        let (message, around) =
            found.ok_or_else(|| failure::message_not_found(key, &asked.message_id))?;
        let of_source =
            MessageQuery { source: Some(key.source.clone()), ..MessageQuery::default() };
        let note = self.note_on(&of_source, false, [&message]).await?;
        Ok(view::Around {
            note,
            before: around.before.into_iter().map(|it| self.shown(it)).collect(),
            message: self.shown(message),
            after: around.after.into_iter().map(|it| self.shown(it)).collect(),
        })
    }

    /// The id of a message by its visible form. If a number is redacted from the id, the messages with the same time
    /// are searched for the one that is shown like this.
    pub(super) async fn message_id(&self, chat: &ChatKey, shown: &str) -> Result<String, Failure> {
        let time = shown.split_once('-').and_then(|(time, _)| time.parse().ok());
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

    /// What is incomplete or uncertain about these messages.
    async fn note_on<'m>(
        &self,
        query: &MessageQuery,
        wants_more: bool,
        messages: impl IntoIterator<Item = &'m StoredMessage>,
    ) -> Result<Option<String>, Failure> {
        let named = |stored: &StoredMessage| {
            let mut name = stored.chat_name.clone();
            self.0.redactor.name(&mut name);
            let (source, id) = (stored.source.clone(), stored.chat.clone());
            (ChatKey { source, id }, name)
        };
        let chats = messages.into_iter().map(named).collect();
        let MessageQuery { since, before, .. } = *query;
        let source = query.source.as_deref();
        let chat = match query.chats.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        };
        let nobody = if wants_more { self.nobody(query).await? } else { None };
        let note = self.note(About { source, since, before, chat, chats: &chats, wants_more });
        Ok(joined(note.await?.into_iter().chain(nobody)))
    }

    /// That a sender has nothing there because no name fits, if so.
    async fn nobody(&self, query: &MessageQuery) -> Result<Option<String>, Failure> {
        let Some(sender) = query.sender.as_deref() else { return Ok(None) };
        let all = StatisticsQuery {
            source: query.source.clone(),
            chats: query.chats.clone(),
            since: None,
            before: None,
            zone: TimeZone::UTC,
        };
        let wrote = self.index().statistics(&all).await?;
        let is_me = sender.trim().eq_ignore_ascii_case("me");
        let is_called = |Participant { name, username, phone, is_me: me, .. }: &Participant| {
            let mut names = [Some(name), username.as_ref(), phone.as_ref()].into_iter().flatten();
            (is_me && *me)
                || names.any(|it| index::contains(it, sender) || index::is_number(it, sender))
        };
        if wrote.other_senders > 0 || wrote.senders.iter().any(|it| is_called(&it.sender)) {
            return Ok(None);
        }
        let why = if is_me {
            "none of the senders there is known to be you: `me` in the configuration gives your name"
        } else {
            "no sender there has this name or number: list_people shows who writes"
        };
        Ok(Some(why.to_owned()))
    }

    /// The visible part of a message.
    pub(super) fn shown(&self, mut stored: StoredMessage) -> view::Message {
        self.0.redactor.stored(&mut stored);
        view::Message::new(&stored, &self.zone(Some(&stored.source)))
    }

    async fn query(&self, asked: &Question) -> Result<MessageQuery, Failure> {
        let most = MAX_LIMIT.try_into().unwrap_or(i64::MAX);
        let default = DEFAULT_LIMIT.try_into().unwrap_or(i64::MAX);
        let limit = within("limit", asked.limit.unwrap_or(default), 1, most)?;
        let offset = within("offset", asked.offset.unwrap_or(0), 0, i64::MAX)?;
        let source = id_of(&asked.source);
        let source = source.as_deref();
        // An invalid time is reported before anything is waited for.
        self.range(source, &asked.since, &asked.before)?;
        let Scope { source, chats } =
            self.scope(source, asked.chat.as_deref(), asked.stored.unwrap_or(false)).await?;
        // The chat may have named the source, and so the zone in which a day begins.
        let (since, before) = self.range(source.as_deref(), &asked.since, &asked.before)?;
        Ok(MessageQuery {
            source,
            chats,
            since,
            before,
            sender: given(&asked.sender),
            search: given(&asked.search),
            kinds: asked.has.into_iter().collect(),
            oldest: asked.order == Some(Order::Oldest),
            topic: given(&asked.topic),
            limit,
            offset,
            cursor: asked.cursor.as_ref().map(Cursor::new),
        })
    }

    /// The parsed bounds `since` and `before`.
    pub(super) fn range(
        &self,
        source: Option<&str>,
        since: &Option<String>,
        before: &Option<String>,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Failure> {
        let (now, zone) = (Timestamp::now(), self.zone(source));
        let time = |parameter, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| query::time(parameter, text, now, &zone)).transpose()
        };
        let (since, before) = (time("since", since)?, time("before", before)?);
        query::range(since, before)?;
        Ok((since, before))
    }
}

/// A text to look for; `None` for an empty one, which every text contains.
fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}
