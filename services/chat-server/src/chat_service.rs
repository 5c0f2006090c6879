//! The index behind the privacy rules of the configuration. Tools, resources and the command line all use it. They
//! get no hidden chats, no telephone numbers if those are redacted, and times in the zone of the source.

mod attachment;
mod chats;
mod completeness;
mod doubts;
mod failure;
mod messages;
mod news;
mod people;
mod redact;
mod scope;
mod send;
mod transcripts;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

pub use attachment::{Contents, MAX_ATTACHMENT_BYTES};
pub use chats::{ChatFilter, ChatQuestion, MAX_CHATS};
pub use messages::{Around, Order, Question, SearchQuestion, WaitQuestion};
pub use news::{Following, NewMessage, News};
pub use people::{PeopleQuestion, StatisticsQuestion};
pub use send::{Prepared, ReactQuestion, SendQuestion};
pub use service_host::Failure;
pub use transcripts::Transcribed;

use crate::config::{Config, SourceKind};
use crate::index::Index;
use crate::model::Alias;
use crate::registry::Registry;
use crate::source::Connection;
use crate::transcribe::Transcriber;
use crate::view;
use doubts::Doubts;
use redact::Redactor;

/// How long a question waits for an export that is read for the first time since the program began.
const PATIENCE: Duration = Duration::from_millis(500);

/// What callers put around a part of a name, which is found anywhere in the name.
const GLOB: [char; 2] = ['*', '%'];

/// How often a process that only reads checks whether it may write.
const LOOK: Duration = Duration::from_secs(2);

/// Whether a service runs its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// [`ChatService::run`] keeps the sources running. Requests wait a little for exports that are being read.
    Runs,
    /// The sources do not run: answers come from the index alone.
    Reads,
}

/// The chats, filtered by the privacy rules. A clone is the same service.
#[derive(Debug, Clone)]
pub struct ChatService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    mode: Mode,
    index: Index,
    registry: Registry,
    /// The zone of each export, and that of everything else.
    zones: BTreeMap<String, TimeZone>,
    zone: TimeZone,
    aliases: Vec<Alias>,
    redactor: Redactor,
    transcriber: Option<Transcriber>,
}

impl ChatService {
    /// The parts of `index` that `config` allows. Reads nothing and connects to no network before
    /// [`run`](Self::run).
    pub fn new(config: &Config, index: Index, mode: Mode) -> Self {
        let zones = config.sources.iter().filter_map(|source| match &source.kind {
            SourceKind::Export { options, .. } => Some((source.id.clone(), options.zone.clone())),
            SourceKind::TelegramBot { .. } | SourceKind::SignalCli { .. } => None,
        });
        let zones: BTreeMap<String, TimeZone> = zones.collect();
        // The person's own zone is that of the exports, if they agree; the machine may be somewhere else.
        let mut known = zones.values();
        let zone = known.next().filter(|first| known.all(|zone| zone == *first)).cloned();
        Self(Arc::new(Inner {
            mode,
            registry: Registry::new(config),
            zone: zone.unwrap_or_else(TimeZone::system),
            zones,
            aliases: config.people.clone(),
            redactor: Redactor::new(&index, config.redact_phone_numbers),
            transcriber: config.transcriber.clone(),
            index,
        }))
    }

    /// The sources.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// The index of the service.
    pub fn index(&self) -> &Index {
        &self.0.index
    }

    /// Keeps the sources running until `stop`. While another process writes to the index, that process runs them. This
    /// one takes over when the other has ended.
    pub async fn run(&self, stop: &CancellationToken) {
        let index = self.index();
        if !index.is_writer() {
            tracing::info!("another process keeps the index up to date: this one reads");
        }
        while !index.is_writer() {
            if tokio::time::timeout(LOOK, stop.cancelled()).await.is_ok() {
                return;
            }
            self.recall().await;
            let promoting = index.clone();
            let promoted = tokio::task::spawn_blocking(move || promoting.promote()).await;
            if let Ok(Err(error)) = promoted {
                tracing::warn!(%error, "the index cannot be taken over");
            }
        }
        self.recall().await;
        tokio::join!(self.registry().run(index, stop), self.keep_transcribing(stop));
    }

    /// Learns from the index which lists of chats have matched.
    pub async fn recall(&self) {
        self.registry().recall(self.index()).await;
    }

    /// All sources of the configuration, by id.
    ///
    /// # Errors
    /// [`Failure`] if the index is not available.
    pub async fn sources(&self) -> Result<Vec<view::Source>, Failure> {
        self.settled(None).await;
        let (known, all) = (self.known().await?, self.seen_chats(None).await?);
        let doubts = Doubts::of(&known);
        let mut sources = Vec::new();
        for (entry, record) in self.registry().iter().zip(self.records(&known, None).await?) {
            let id = entry.source.id();
            let chats = || all.iter().filter(|chat| chat.key.source == id);
            let (date_doubts, more_date_doubts) = doubts.dates(chats());
            let local = |at: Timestamp| view::local(at, &self.zone(Some(id)));
            let report = record.report;
            let read_at = report.and_then(|it| Timestamp::from_second(it.read_at?).ok());
            sources.push(view::Source {
                id: id.to_owned(),
                name: entry.source.head().name.clone(),
                is_connected: record.connection == Connection::Connected,
                newest: record.newest.map(local),
                read_at: read_at.map(local),
                cut: self.cut(&record),
                denied: record.denied,
                phone_languages: report
                    .map_or_else(Vec::new, |report| report.languages.iter().cloned().collect()),
                status: match record.connection {
                    Connection::Connected => self.reading(Some(id)),
                    Connection::Disconnected(advice) => Some(advice),
                },
                not_served: self.closed(entry).map(|failure| failure.message),
                lists_matching_nothing: entry.unmatched().len() as u64,
                left_out: report.map_or(0, |report| report.left_out),
                date_doubts,
                more_date_doubts,
                twice: doubts.twice(&all, Some(id)),
                streams: entry.source.streams(),
                time_zone: zone_name(&self.zone(Some(id))),
                chats: chats().count() as u64,
                messages: chats().map(|chat| chat.shown.messages).sum(),
            });
        }
        Ok(sources)
    }

    /// The duplicate chats of a source, in words.
    ///
    /// # Errors
    /// [`Failure`] if the index is not available.
    pub async fn twice(&self, source: &str) -> Result<Vec<String>, Failure> {
        let seen = self.seen_chats(None).await?;
        Ok(Doubts::of(&self.known().await?).twice(&seen, Some(source)))
    }

    /// Whether a source of the configuration is connected. A source that another process runs counts as connected,
    /// since only that process knows.
    fn connection(&self, source: &str) -> Connection {
        match self.registry().get(source) {
            Some(entry) if self.runs() || self.0.mode == Mode::Reads => {
                let mut connection = entry.source.head().connection();
                if let Connection::Disconnected(advice) = &mut connection {
                    // Files of exports are named after people, or their numbers.
                    self.0.redactor.text(advice);
                }
                connection
            }
            _ => Connection::Connected,
        }
    }

    /// Whether the sources are run here, and not by another process.
    fn runs(&self) -> bool {
        self.0.mode == Mode::Runs && self.index().is_writer()
    }

    /// The zone of a source, or of all of them.
    fn zone(&self, source: Option<&str>) -> TimeZone {
        let zone = source.and_then(|source| self.0.zones.get(source));
        zone.unwrap_or(&self.0.zone).clone()
    }

    /// Waits a little for exports that were not read yet, of any source whose lists must be checked first.
    async fn settled(&self, source: Option<&str>) {
        if !self.runs() {
            return;
        }
        let waiting = self
            .registry()
            .iter()
            .filter(|entry| {
                entry.is_unchecked() || source.is_none_or(|source| source == entry.source.id())
            })
            .filter_map(|entry| entry.export.as_ref())
            .map(|export| export.settled());
        // What is not done in this time is left out.
        let _ = tokio::time::timeout(PATIENCE, join_all(waiting)).await;
    }

    /// What is still being read of a source, or of any, in words.
    fn reading(&self, source: Option<&str>) -> Option<String> {
        if !self.runs() {
            return None;
        }
        let reading: Vec<String> = self
            .registry()
            .iter()
            .filter(|entry| source.is_none_or(|source| source == entry.source.id()))
            .filter_map(|entry| {
                let export = entry.export.as_ref().filter(|export| !export.is_settled())?;
                let progress = export.progress().borrow().clone();
                let percent = (progress.done * 100).checked_div(progress.total).unwrap_or(0);
                Some(format!("{} ({percent} %)", entry.source.id()))
            })
            .collect();
        (!reading.is_empty())
            .then(|| format!("still being read: {}; ask again for the rest", reading.join(", ")))
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("local time").to_owned()
}
