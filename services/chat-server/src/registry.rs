//! All sources of a configuration: built, identified by their ids, and kept running.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::config::{ChatFilter, Config, SourceConfig, SourceKind};
use crate::digest::digest;
use crate::index::Index;
use crate::live::export::Export;
use crate::live::signal_cli::SignalCli;
use crate::live::telegram_bot::TelegramBot;
use crate::lock::lock;
use crate::model::{Body, Message};
use crate::source::{Batch, ChatSource, Event, Report, Sink, SourceError, Trace};

/// How long to wait before a source that has failed is run again.
const PAUSE: Duration = Duration::from_secs(10);

/// The sources by id.
#[derive(Debug, Clone, Default)]
pub struct Registry(BTreeMap<String, RegisteredSource>);

/// A source and the privacy rules for its chats.
#[derive(Debug, Clone)]
pub struct RegisteredSource {
    /// The source.
    pub source: Arc<dyn ChatSource>,
    /// The same, if it is an export.
    pub export: Option<Arc<Export>>,
    /// What its rows belong to: its kind, and its path or account.
    pub owner: String,
    /// Which of its chats may be seen.
    pub chats: ChatFilter,
    /// The entries of these lists that have matched a chat.
    pub matched: Arc<Mutex<BTreeSet<String>>>,
    /// The chats into which something may be sent.
    pub send_to: BTreeSet<String>,
    /// Whether it was read to its end, with these lists, before the program began.
    was_read: Arc<AtomicBool>,
}

impl RegisteredSource {
    /// The entries that match no chat, because of which nothing of the source is served.
    pub fn unmatched(&self) -> Vec<String> {
        let matched = lock(&self.matched);
        self.chats.unmatched(&matched).into_iter().map(str::to_owned).collect()
    }

    /// Whether rows of this owner are the source's; rows of an older index have none.
    pub fn owns(&self, owner: Option<&str>) -> bool {
        owner.is_none_or(|owner| owner == self.owner)
    }

    /// Whether it has lists of chats and is read with them for the first time: copies of chats that they leave out are
    /// not known.
    pub fn is_unchecked(&self) -> bool {
        let export = self.export.as_ref().filter(|_| self.chats.has_lists());
        export.is_some_and(|export| !export.is_settled()) && !self.was_read.load(Ordering::Relaxed)
    }

    /// Whether nothing of the source is served: privacy fails closed.
    pub fn is_closed(&self) -> bool {
        !self.chats.lenient && self.chats.has_lists() && !self.unmatched().is_empty()
    }
}

impl Registry {
    /// The sources of a configuration. Nothing is read and no network is connected to before [`run`](Self::run).
    pub fn new(config: &Config) -> Self {
        let mut registry = Self::default();
        for source in &config.sources {
            let entry = entry(source);
            // The configuration has each id once.
            registry.0.insert(source.id.clone(), entry);
        }
        registry
    }

    /// The source of this id.
    pub fn get(&self, id: &str) -> Option<&RegisteredSource> {
        self.0.get(id)
    }

    /// All sources, by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &RegisteredSource> {
        self.0.values()
    }

    /// Learns from the index which entries of the lists have matched a chat before.
    pub async fn recall(&self, index: &Index) {
        for known in index.sources().await.unwrap_or_default() {
            if let Some(entry) = self.get(&known.id).filter(|it| it.owns(known.owner.as_deref())) {
                let mut matched = lock(&entry.matched);
                matched.extend(known.report.matched);
                let mark = known.mark.filter(|mark| mark.starts_with(&prefix(&entry.chats)));
                entry.was_read.store(mark.is_some(), Ordering::Relaxed);
            }
        }
    }

    /// Whether any source has a list of chats, of which another may have copies.
    fn has_lists(&self) -> bool {
        self.iter().any(|entry| entry.chats.has_lists())
    }

    /// Whether a chat of a source is served: it is visible, and the lists of the source are right.
    pub fn serves(&self, source: &str, chat: &str, name: &str) -> bool {
        self.get(source).is_some_and(|entry| entry.chats.allows(chat, name) && !entry.is_closed())
    }

    /// The sink of a source: the index, without the chats that may not be seen.
    pub fn sink(&self, source: &str, index: &Index) -> Arc<dyn Sink> {
        let entry = self.get(source);
        let chats = entry.map(|entry| entry.chats.clone()).unwrap_or_default();
        let owner = entry.map(|entry| entry.owner.as_str());
        Arc::new(Filtered {
            sink: owner.map_or_else(|| index.sink(source), |owner| index.sink_of(source, owner)),
            index: index.clone(),
            traces: Mutex::default(),
            prefix: prefix(&chats),
            hidden: Mutex::default(),
            unchecked: self.has_lists() && entry.is_some_and(|entry| entry.export.is_some()),
            matched: entry.map(|entry| Arc::clone(&entry.matched)).unwrap_or_default(),
            chats,
        })
    }

    /// Runs all sources into the index until `stop`, each by itself; one that fails is run again after a pause.
    /// Resolves when all have ended.
    pub async fn run(&self, index: &Index, stop: &CancellationToken) {
        let mut running = JoinSet::new();
        for (id, entry) in &self.0 {
            running.spawn(keep_running(
                Arc::clone(&entry.source),
                self.sink(id, index),
                stop.clone(),
            ));
        }
        if let Some(id) = self.0.keys().next() {
            running.spawn(sweep(self.sink(id, index), stop.clone()));
        }
        while running.join_next().await.is_some() {}
    }
}

/// Deletes disappeared messages from the index, which every batch does, even an empty one.
async fn sweep(sink: Arc<dyn Sink>, stop: CancellationToken) {
    while tokio::time::timeout(PAUSE, stop.cancelled()).await.is_err() {
        if let Err(error) = sink.keep(Batch::default()).await {
            tracing::warn!(%error, "what has disappeared cannot be taken out of the index yet");
        }
    }
}

async fn keep_running(source: Arc<dyn ChatSource>, sink: Arc<dyn Sink>, stop: CancellationToken) {
    while let Err(error) = Arc::clone(&source).run(Arc::clone(&sink), stop.clone()).await {
        tracing::warn!(source = source.id(), %error, "the source has failed and is tried again in 10 s");
        if tokio::time::timeout(PAUSE, stop.cancelled()).await.is_ok() {
            return;
        }
    }
}

fn entry(config: &SourceConfig) -> RegisteredSource {
    let (id, name) = (config.id.clone(), config.name.clone());
    let chats = config.chats.clone();
    let plain = |source, owner| RegisteredSource {
        source,
        export: None,
        owner,
        chats: chats.clone(),
        matched: Arc::default(),
        send_to: config.send_to.clone(),
        was_read: Arc::default(),
    };
    match config.kind.clone() {
        SourceKind::Export { format, path, watch, options } => {
            let owner = format!("{}:{}", format.name(), path.display());
            let export = Arc::new(Export::new(id, name, format, path, watch, options));
            RegisteredSource { export: Some(Arc::clone(&export)), ..plain(export, owner) }
        }
        SourceKind::TelegramBot { base_url, token_file } => {
            let bot = TelegramBot::new(id, name, base_url, token_file);
            plain(Arc::new(bot), "telegram-bot".to_owned())
        }
        SourceKind::SignalCli { address, account } => {
            // Where the daemon listens may change; the account may not.
            let owner = format!("signal-cli:{}", account.as_deref().unwrap_or_default());
            plain(Arc::new(SignalCli::new(id, name, address, account)), owner)
        }
    }
}

/// A sink that drops the events of chats that may not be seen, so that they are not even stored.
struct Filtered {
    sink: Arc<dyn Sink>,
    chats: ChatFilter,
    /// A prefix of every mark: with other lists an export has to be read again.
    prefix: String,
    matched: Arc<Mutex<BTreeSet<String>>>,
    /// The ids of chats that were left out. As many as a source has chats.
    hidden: Mutex<HashSet<String>>,
    /// Whether new chats may turn out to be copies of chats that a list leaves out.
    unchecked: bool,
    index: Index,
    /// Some messages of each of them; at most [`MAX_TRACED`] chats.
    traces: Mutex<BTreeMap<String, Traced>>,
}

/// How many chats that are left out are known by traces, and how many messages of each.
const MAX_TRACED: usize = 1_000;
const MAX_TRACES: usize = 32;

/// Messages of a chat that is left out, spread over its time.
#[derive(Default)]
struct Traced {
    traces: Vec<Trace>,
    /// One of so many messages is kept.
    step: usize,
    seen: usize,
}

impl Traced {
    fn add(&mut self, message: &Message, index: &Index) {
        let Body::Text(text) = &message.body else { return };
        if text.is_empty() {
            return;
        }
        let step = self.step.max(1);
        if self.seen.is_multiple_of(step) {
            self.traces.push(Trace {
                at: message.timestamp.as_microsecond(),
                said: index.pseudonym(text),
            });
        }
        self.seen += 1;
        if self.traces.len() > MAX_TRACES {
            let mut n = 0;
            self.traces.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.step = step * 2;
        }
    }
}

fn prefix(chats: &ChatFilter) -> String {
    if !chats.has_lists() {
        return String::new();
    }
    let mut text = format!("{:?}", chats.allow.is_some());
    for name in chats.allow.iter().flatten() {
        let _ = write!(text, "\n+{name}");
    }
    for name in &chats.deny {
        let _ = write!(text, "\n-{name}");
    }
    format!("{}|", digest(text, 8))
}

impl Filtered {
    fn takes(&self, event: &Event) -> bool {
        if let Event::Chat(chat) = event {
            let entries = self.chats.entries_for(&chat.id, &chat.name).cloned();
            lock(&self.matched).extend(entries);
        }
        let mut hidden = lock(&self.hidden);
        match event {
            // Each run of a source sends a chat before its messages.
            Event::Chat(chat) if self.chats.allows(&chat.id, &chat.name) => {
                hidden.remove(&chat.id);
                true
            }
            Event::Chat(chat) => {
                hidden.insert(chat.id.clone());
                false
            }
            Event::Message { chat, message } if hidden.contains(chat) => {
                self.trace(chat, message);
                false
            }
            Event::Message { chat, .. }
            | Event::Revised { chat, .. }
            | Event::Changed { chat, .. } => !hidden.contains(chat),
        }
    }

    fn trace(&self, chat: &str, message: &Message) {
        let digest = digest(chat, 8);
        let mut traces = lock(&self.traces);
        if traces.len() < MAX_TRACED || traces.contains_key(&digest) {
            traces.entry(digest).or_default().add(message, &self.index);
        }
    }

    /// Adds the traces of this reading, and forgets those of lists that have changed.
    fn add_traces(&self, report: &mut Report) {
        let mut traces = lock(&self.traces);
        if !self.chats.has_lists() {
            report.denied.clear();
        }
        for (chat, traced) in std::mem::take(&mut *traces) {
            report.denied.insert(chat, traced.traces);
        }
        while report.denied.len() > MAX_TRACED {
            report.denied.pop_last();
        }
    }
}

impl Sink for Filtered {
    fn keep(&self, mut batch: Batch) -> BoxFuture<'_, Result<(), SourceError>> {
        let before = lock(&self.matched).len();
        batch.unchecked = self.unchecked;
        batch.events.retain(|event| self.takes(event));
        batch.mark = batch.mark.map(|mark| format!("{}{mark}", self.prefix));
        let matched = lock(&self.matched).clone();
        if let Some(report) = &mut batch.report {
            report.matched = matched;
            self.add_traces(report);
        } else if matched.len() != before {
            return async move {
                batch.report = Some(Report { matched, ..self.sink.report().await? });
                self.sink.keep(batch).await
            }
            .boxed();
        }
        self.sink.keep(batch)
    }

    fn report(&self) -> BoxFuture<'_, Result<Report, SourceError>> {
        self.sink.report()
    }

    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>> {
        async move {
            let mark = self.sink.mark().await?;
            Ok(mark.and_then(|mark| mark.strip_prefix(&self.prefix).map(str::to_owned)))
        }
        .boxed()
    }
}
