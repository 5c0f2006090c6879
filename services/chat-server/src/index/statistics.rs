//! Statistics: who writes how much, and when.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::{Connection, params};
use serde::Serialize;

use super::Index;
use super::answer::ChatKey;
use super::error::IndexError;
use super::messages::{Range, Scope};
use super::readers::ReadError;
use super::stored::{participant, timestamp};
use crate::model::Participant;
use crate::query;

/// The most senders that are listed one by one.
const MAX_SENDERS: usize = 1_000;

/// What to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatisticsQuery {
    /// In this source; in all if `None`.
    pub source: Option<String>,
    /// In these chats; in all if `None`.
    pub chats: Option<Vec<ChatKey>>,
    /// Not before this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub before: Option<Timestamp>,
    /// Days, hours and weekdays are those of this zone.
    pub zone: TimeZone,
}

/// Counts of messages by people; service messages and calls do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The total.
    pub messages: u64,
    /// When the first was sent.
    pub first: Option<Timestamp>,
    /// When the last was sent.
    pub last: Option<Timestamp>,
    /// Of each sender, those with the most first; at most 1,000 senders.
    pub senders: Vec<SenderCount>,
    /// Of the senders beyond those.
    pub other_senders: u64,
    /// Without a sender: service messages, and deleted accounts.
    pub without_sender: u64,
    /// On each day with at least one message.
    pub days: BTreeMap<Date, u64>,
    /// In each hour of the day, from 0.
    pub hours: [u64; 24],
    /// On each day of the week, from Monday.
    pub weekdays: [u64; 7],
}

/// How many messages of one sender. Answers have it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SenderCount {
    /// The source.
    pub source: String,
    /// The sender.
    #[serde(flatten)]
    pub sender: Participant,
    /// How many.
    pub messages: u64,
}

impl Index {
    /// Counts messages.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for an empty range of time; [`IndexError::Unavailable`].
    pub async fn statistics(&self, query: &StatisticsQuery) -> Result<Statistics, IndexError> {
        query::range(query.since, query.before)?;
        let query = query.clone();
        self.inner.readers.read(move |view| statistics(view, &query)).await
    }
}

fn statistics(view: &Connection, query: &StatisticsQuery) -> Result<Statistics, ReadError> {
    let scope = Scope::resolve(view, query.source.as_deref(), query.chats.as_deref())?;
    let range = Range::new(query.since, query.before);
    let (index, column, lists) = match &scope.chats {
        Some(chats) => ("message_by_chat", "chat", chats),
        None => ("message_by_source", "src", &scope.sources),
    };
    // All of it is in the index.
    let sql = format!(
        "SELECT at, person FROM message INDEXED BY {index} \
         WHERE {column} = ?1 AND at >= ?2 AND at < ?3 AND kinds & 512 = 0"
    );
    let mut statement = view.prepare_cached(&sql)?;
    let mut counted = Statistics::default();
    let mut senders = HashMap::new();
    for list in lists {
        let mut rows = statement.query(params![list, range.since, range.before])?;
        while let Some(row) = rows.next()? {
            counted.count(timestamp(row.get(0)?), &query.zone);
            match row.get::<_, Option<i64>>(1)? {
                Some(person) => *senders.entry(person).or_insert(0) += 1,
                None => counted.without_sender += 1,
            }
        }
    }
    counted.name(view, senders)?;
    Ok(counted)
}

impl Statistics {
    fn count(&mut self, at: Timestamp, zone: &TimeZone) {
        self.messages += 1;
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = self.last.max(Some(at));
        let local = zone.to_datetime(at);
        *self.days.entry(local.date()).or_insert(0) += 1;
        let hour = usize::try_from(local.hour()).unwrap_or(0);
        if let Some(count) = self.hours.get_mut(hour) {
            *count += 1;
        }
        let weekday = usize::try_from(local.weekday().to_monday_zero_offset()).unwrap_or(0);
        if let Some(count) = self.weekdays.get_mut(weekday) {
            *count += 1;
        }
    }

    fn name(&mut self, view: &Connection, senders: HashMap<i64, u64>) -> rusqlite::Result<()> {
        let mut senders: Vec<(u64, i64)> =
            senders.into_iter().map(|(person, messages)| (messages, person)).collect();
        senders.sort_unstable_by_key(|(messages, person)| (std::cmp::Reverse(*messages), *person));
        let sql = "SELECT source.id, person.id, name, username, phone, is_me \
                   FROM person JOIN source USING (src) WHERE person = ?1";
        let mut statement = view.prepare_cached(sql)?;
        for (messages, person) in senders {
            if self.senders.len() == MAX_SENDERS {
                self.other_senders += messages;
                continue;
            }
            self.senders.push(statement.query_row([person], |row| {
                Ok(SenderCount { source: row.get(0)?, sender: participant(row, 1)?, messages })
            })?);
        }
        Ok(())
    }
}
