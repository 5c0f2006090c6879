//! People: how much they write, and who is the same person.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

use super::chats::{id_of, within};
use super::completeness::About;
use super::doubts::names;
use super::{ChatService, Failure, GLOB, zone_name};
use crate::index::{self, Identity, SenderCount, StatisticsQuery};
use crate::view;
use crate::view::compact::UNTRUSTED;

/// The most senders and days of an answer, and how many days are named as the busiest.
const MAX_SENDERS: usize = 100;
const MAX_DAYS: usize = 31;
const BUSIEST: usize = 5;

/// What to count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatisticsQuestion {
    /// Id of the source; default all.
    pub source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    pub chat: Option<String>,
    /// Not before: 7d, yesterday, 2025-01-13, or RFC 3339.
    pub since: Option<String>,
    /// Before this, likewise.
    pub before: Option<String>,
}

/// Which people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeopleQuestion {
    /// Part of any of their names, or a phone number.
    pub name: Option<String>,
    /// How many, 1 to 1000; 100 by default.
    pub limit: Option<i64>,
    /// How many of the first to pass over.
    pub offset: Option<i64>,
}

impl ChatService {
    /// How many messages, by whom, and when.
    ///
    /// # Errors
    /// As for [`messages`](Self::messages).
    pub async fn statistics(
        &self,
        asked: &StatisticsQuestion,
    ) -> Result<view::Statistics, Failure> {
        let source = id_of(&asked.source);
        let source = source.as_deref();
        // As for messages: first whether these are times, then the zone in which their days begin.
        self.range(source, &asked.since, &asked.before)?;
        let scope = self.scope(source, asked.chat.as_deref(), true).await?;
        let (since, before) = self.range(scope.source.as_deref(), &asked.since, &asked.before)?;
        let zone = self.zone(scope.source.as_deref());
        let query = StatisticsQuery {
            source: scope.source,
            chats: scope.chats,
            since,
            before,
            zone: zone.clone(),
        };
        let seen = self.seen_chats(query.source.as_deref()).await?;
        let mut chats = names(&seen);
        if let Some(these) = &query.chats {
            chats.retain(|chat, _| these.contains(chat));
        }
        let chat = match query.chats.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        };
        let about = About { since, before, chat, ..About::chats(query.source.as_deref(), &chats) };
        let note = self.note(about).await?;
        let mut counted = self.index().statistics(&query).await?;
        let cut = counted.senders.iter().skip(MAX_SENDERS);
        let other_senders = counted.other_senders + cut.map(|sender| sender.messages).sum::<u64>();
        counted.senders.truncate(MAX_SENDERS);
        for SenderCount { sender, .. } in &mut counted.senders {
            self.0.redactor.participant(sender);
            // The counts are short; list_people has the rest.
            (sender.username, sender.phone) = (None, None);
        }
        let day = |(date, messages): (&Date, &u64)| view::DayCount {
            date: date.to_string(),
            messages: *messages,
        };
        let mut busiest: Vec<(&Date, &u64)> = counted.days.iter().collect();
        busiest.sort_by_key(|(date, messages)| (std::cmp::Reverse(**messages), **date));
        let (mut months, mut years) = (BTreeMap::new(), BTreeMap::new());
        for (date, messages) in &counted.days {
            *months.entry(date.strftime("%Y-%m").to_string()).or_default() += messages;
            *years.entry(date.year()).or_default() += messages;
        }
        // A month is shown by days, a longer time by months, and by years, which models would add up wrongly.
        let by_days = counted.days.len() <= MAX_DAYS;
        let local = |at: Timestamp| view::local(at, &zone);
        Ok(view::Statistics {
            messages: counted.messages,
            first: counted.first.map(local),
            last: counted.last.map(local),
            other_senders,
            without_sender: counted.without_sender,
            busiest_days: busiest.into_iter().take(BUSIEST).map(day).collect(),
            days: counted.days.iter().filter(|_| by_days).map(day).collect(),
            months: if by_days { BTreeMap::new() } else { months },
            years: if by_days { BTreeMap::new() } else { years },
            hours: counted.hours.to_vec(),
            weekdays: counted.weekdays.to_vec(),
            time_zone: zone_name(&zone),
            note,
            senders: counted.senders,
        })
    }

    /// People of all sources, those with the most messages first. Of sources with hidden chats, only people who wrote
    /// in the visible ones are listed, with what they wrote there.
    ///
    /// # Errors
    /// [`Failure`]: a number is out of bounds, the index is not available.
    pub async fn people(&self, asked: &PeopleQuestion) -> Result<view::People, Failure> {
        let limit = within("limit", asked.limit.unwrap_or(100), 1, 1_000)?;
        let offset = within("offset", asked.offset.unwrap_or(0), 0, i64::MAX)?;
        self.settled(None).await;
        let seen = self.seen_senders().await?;
        // Without a limit: only the visible messages decide who has written most, and who has this name.
        let found = self.index().people(&self.0.aliases).await?.into_iter();
        let mut people: Vec<view::Person> =
            found.filter_map(|person| self.person(person, &seen)).collect();
        people.sort_by_key(|person| std::cmp::Reverse(person.messages));
        let named = |person: &view::Person| match asked.name.as_deref() {
            None => true,
            Some(part) => is_called(person, part.trim_matches(GLOB)),
        };
        let people = people.into_iter().filter(named).skip(offset).take(limit);
        let people: Vec<view::Person> = people.collect();
        let chats = names(&self.seen_chats(None).await?);
        let about = About { wants_more: people.is_empty(), ..About::chats(None, &chats) };
        Ok(view::People {
            about: (!people.is_empty()).then_some(UNTRUSTED),
            people,
            note: self.note(about).await?,
        })
    }

    /// For each source with hidden chats: how much each person wrote in its visible chats.
    async fn seen_senders(&self) -> Result<HashMap<String, HashMap<String, u64>>, Failure> {
        let mut seen = HashMap::new();
        for known in self.index().sources().await? {
            if self.is_open(&known) {
                continue;
            }
            let id = known.id.as_str();
            let scope = self.scope_of(Some(id)).await?;
            let query = StatisticsQuery {
                source: scope.source,
                chats: scope.chats,
                since: None,
                before: None,
                zone: self.zone(Some(id)),
            };
            let senders = self.index().statistics(&query).await?.senders.into_iter();
            let senders = senders.map(|counted| (counted.sender.id, counted.messages));
            seen.insert(id.to_owned(), senders.collect());
        }
        Ok(seen)
    }

    /// The visible part of a person; `None` if no identity is visible.
    fn person(
        &self,
        person: index::Person,
        seen: &HashMap<String, HashMap<String, u64>>,
    ) -> Option<view::Person> {
        let mut identities = person.identities;
        identities.retain_mut(|identity| {
            let wrote = match seen.get(&identity.source) {
                None => Some(&identity.messages),
                Some(senders) => senders.get(&identity.participant.id),
            };
            let Some(wrote) = wrote.copied() else { return false };
            identity.messages = wrote;
            self.registry().get(&identity.source).is_some()
        });
        for identity in &mut identities {
            self.0.redactor.participant(&mut identity.participant);
        }
        let first = identities.first()?;
        let is_alias = self.0.aliases.iter().any(|alias| alias.name == person.name);
        // Without an alias, the name may come from a hidden chat alone.
        let mut name = if is_alias { person.name } else { first.participant.name.clone() };
        if is_alias {
            self.0.redactor.text(&mut name);
        }
        let zone = self.zone(Some(&first.source));
        // It may have been sent in a hidden chat.
        let is_whole = identities.iter().all(|identity| !seen.contains_key(&identity.source));
        Some(view::Person {
            name,
            is_me: person.is_me,
            messages: identities.iter().map(|identity| identity.messages).sum(),
            last_message: person.last.filter(|_| is_whole).map(|at| view::local(at, &zone)),
            identities,
        })
    }
}

fn is_called(person: &view::Person, part: &str) -> bool {
    index::contains(&person.name, part)
        || person.identities.iter().any(|Identity { participant, .. }| {
            let names = [Some(&participant.name), participant.username.as_ref()];
            let numbers = [participant.phone.as_ref(), Some(&participant.id)];
            names.into_iter().flatten().any(|name| index::contains(name, part))
                || numbers.into_iter().flatten().any(|number| index::is_number(number, part))
        })
}
