//! What an answer does not know: one record for each source, which is joined to every answer as one line.

use jiff::{SignedDuration, Timestamp};

use super::doubts::{Doubts, Names, named};
use super::{ChatService, Failure};
use crate::import::Format;
use crate::index::{ChatKey, SourceSummary};
use crate::registry::RegisteredSource;
use crate::source::{Connection, Report};

/// What is known about how complete a source is.
pub(super) struct Record<'k> {
    pub(super) id: &'k str,
    pub(super) connection: Connection,
    /// Why nothing of it is served.
    closed: Option<&'static str>,
    /// When its oldest visible message was sent.
    oldest: Option<Timestamp>,
    /// When its newest visible message was sent.
    pub(super) newest: Option<Timestamp>,
    /// What its readings have found; `None` if nothing of it was read yet.
    pub(super) report: Option<&'k Report>,
    /// How many chats its lists leave out, copies of them included.
    pub(super) denied: u64,
    /// Whether messages come in from a network as they are sent.
    is_live: bool,
}

/// What an answer is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    /// This source; all if `None`.
    pub(super) source: Option<&'a str>,
    /// From when on it was asked.
    pub(super) since: Option<Timestamp>,
    /// Until when.
    pub(super) before: Option<Timestamp>,
    /// The one chat that was asked about.
    pub(super) chat: Option<&'a ChatKey>,
    /// The chats in the answer.
    pub(super) chats: &'a Names,
    /// Whether nothing was found, or what is new is asked for: then it counts that there may be more.
    pub(super) wants_more: bool,
}

impl<'a> About<'a> {
    /// Chats of a source, or of all, at any time.
    pub(super) const fn chats(source: Option<&'a str>, chats: &'a Names) -> Self {
        Self { source, since: None, before: None, chat: None, chats, wants_more: false }
    }
}

impl ChatService {
    /// What the index has of the sources of the configuration.
    pub(super) async fn known(&self) -> Result<Vec<SourceSummary>, Failure> {
        let mut known = self.index().sources().await?;
        known.retain(|known| self.owns(&known.id, known.owner.as_deref()));
        Ok(known)
    }

    /// The records of the sources that are asked about, by id.
    pub(super) async fn records<'k>(
        &'k self,
        known: &'k [SourceSummary],
        source: Option<&str>,
    ) -> Result<Vec<Record<'k>>, Failure> {
        let mut records = Vec::new();
        for entry in self.registry().iter() {
            let id = entry.source.id();
            if source.is_none_or(|source| source == id) {
                let known = known.iter().find(|known| known.id == id);
                records.push(self.record(entry, known).await?);
            }
        }
        Ok(records)
    }

    async fn record<'k>(
        &self,
        entry: &'k RegisteredSource,
        known: Option<&'k SourceSummary>,
    ) -> Result<Record<'k>, Failure> {
        let id = entry.source.id();
        let hidden = known.map_or(0, |known| known.hidden);
        let unchecked = known.map_or(0, |known| known.unchecked);
        let (oldest, newest) = if entry.chats.has_lists() || hidden + unchecked > 0 {
            let seen = self.seen_chats(Some(id)).await?;
            let seen = || seen.iter().map(|chat| &chat.shown);
            (seen().filter_map(|it| it.first).min(), seen().filter_map(|it| it.last).max())
        } else {
            (known.and_then(|known| known.oldest), known.and_then(|known| known.newest))
        };
        let report = known.map(|known| &known.report);
        Ok(Record {
            id,
            connection: self.connection(id),
            oldest,
            closed: if self.is_unchecked() {
                Some("the lists of chats are not checked yet")
            } else {
                entry.is_closed().then_some("its lists of chats match nothing")
            },
            newest,
            report,
            denied: report.map_or(0, |report| report.denied.len() as u64) + hidden,
            is_live: entry.export.is_none(),
        })
    }

    /// What is incomplete or uncertain in an answer, in one line; `None` if nothing is.
    pub(super) async fn note(&self, about: About<'_>) -> Result<Option<String>, Failure> {
        let known = self.known().await?;
        let mut records = self.records(&known, about.source).await?;
        self.ends_of_chat(&mut records, about).await?;
        let doubts = Doubts::of(&known);
        // Most chats have no twin, and then nothing is read for it.
        let twins = if doubts.has_twins(about.chats) {
            doubts.twins_of(&self.seen_chats(None).await?, about.chats)
        } else {
            Vec::new()
        };
        Ok(joined(
            self.reading(about.source)
                .into_iter()
                .chain(self.missing(&records, about))
                .chain(doubts.of_dates(about.chats))
                .chain(twins),
        ))
    }

    /// Each chat of WhatsApp is an export of its own, which ends when it was made, and begins where the app has cut it.
    async fn ends_of_chat(
        &self,
        records: &mut [Record<'_>],
        about: About<'_>,
    ) -> Result<(), Failure> {
        let Some(key) = about.chat else { return Ok(()) };
        let entry = self.registry().get(&key.source);
        let export = entry.and_then(|entry| entry.export.as_ref());
        if export.is_some_and(|export| export.format() == Format::WhatsApp) {
            let seen = self.seen_chats(Some(&key.source)).await?;
            let chat = seen.into_iter().find(|chat| chat.key == *key);
            for record in records.iter_mut().filter(|record| record.id == key.source) {
                record.oldest = chat.as_ref().and_then(|chat| chat.shown.first);
                record.newest = chat.as_ref().and_then(|chat| chat.shown.last);
            }
        }
        Ok(())
    }

    /// What the records say about an answer.
    pub(super) fn missing(&self, records: &[Record<'_>], about: About<'_>) -> Vec<String> {
        let day = |record: &Record<'_>, at: Timestamp| {
            let zoned = at.to_zoned(self.zone(Some(record.id)));
            zoned.strftime("%Y-%m-%d").to_string()
        };
        let not_searched = named(records.iter().filter_map(|record| {
            let why = match &record.connection {
                _ if record.closed.is_some() => record.closed?,
                Connection::Disconnected(_) if record.newest.is_none() => "not connected",
                _ if record.report.is_none()
                    && !record.is_live
                    && self.reading(Some(record.id)).is_none() =>
                {
                    "not read yet"
                }
                _ => return None,
            };
            Some(format!("{} ({why})", record.id))
        }));
        let stored = named(records.iter().filter_map(|record| {
            let newest = record.newest.filter(|_| record.closed.is_none())?;
            matches!(record.connection, Connection::Disconnected(_))
                .then(|| format!("{} is known until {}", record.id, day(record, newest)))
        }));
        let begins = named(records.iter().filter_map(|record| {
            let oldest = record.oldest.filter(|_| record.closed.is_none())?;
            let from = about.since.or(about.before.filter(|_| about.wants_more))?;
            (oldest.duration_since(from) > SignedDuration::from_hours(24))
                .then(|| format!("{} begins on {}", record.id, day(record, oldest)))
        }));
        let until = about.before.unwrap_or(Timestamp::MAX).min(Timestamp::now());
        let ends = named(records.iter().filter_map(|record| {
            let newest = record.newest.filter(|_| !record.is_live && record.closed.is_none())?;
            // A day without a message is nothing unusual.
            let is_late = until.duration_since(newest) > SignedDuration::from_hours(24);
            let is_asked = about.since.is_some() || about.wants_more;
            let is_connected = record.connection == Connection::Connected;
            (is_late && is_asked && is_connected)
                .then(|| format!("{} ends on {}", record.id, day(record, newest)))
        }));
        let cut = named(records.iter().flat_map(|record| self.cut(record)));
        let left_out = named(records.iter().filter_map(|record| {
            let count = record.report?.left_out;
            (about.wants_more && count > 0)
                .then(|| format!("{} has left out {count} entries", record.id))
        }));
        let parts = [
            not_searched.map(|named| format!("not searched: {named}")),
            stored.map(|named| format!("not connected: {named}")),
            begins,
            ends,
            cut,
            left_out,
        ];
        parts.into_iter().flatten().collect()
    }

    /// The files of a source that end too early, in words.
    pub(super) fn cut(&self, record: &Record<'_>) -> Vec<String> {
        let cut = record.report.iter().flat_map(|report| &report.cut).map(|(file, why)| {
            let place = why.split(": ").next().unwrap_or_default();
            let mut words =
                format!("{}: {file} is damaged {place}, what follows is missing", record.id);
            // Files are named after people, or their numbers.
            self.0.redactor.name(&mut words);
            words
        });
        cut.collect()
    }
}

/// Joins sentences; `None` if there are none.
pub(super) fn joined(parts: impl IntoIterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
