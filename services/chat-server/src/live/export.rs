//! An export as a source: read once, and again whenever it changes if it is watched.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use service_host::{Changes, Depth, Watcher};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::import::{self, Format, ImportError, Options, Summary};
use crate::lock::lock;
use crate::outgoing::{Outgoing, SendError, Sent};
use crate::source::{
    Batch, ChatSource, Connection, Event, Head, MAX_BATCH, Report, Sink, SourceError,
};

/// How many bytes a batch may have, unless it is a single event.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// How many batches may wait between the reader and the index.
const BATCHES: usize = 2;

/// How often a missing export is looked for.
const LOOK: Duration = Duration::from_secs(2);

/// The progress of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were read.
    pub done: u64,
    /// The bytes of the whole export.
    pub total: u64,
    /// The result, once the reading has finished.
    pub summary: Option<Summary>,
}

/// A source that is an export.
#[derive(Debug)]
pub struct Export {
    head: Head,
    format: Format,
    path: PathBuf,
    watch: bool,
    options: Options,
    progress: watch::Sender<Progress>,
    /// Whether the first reading has finished or failed.
    settled: watch::Sender<bool>,
    /// The fingerprint of an export that could not be read the last time, and why.
    damaged: Mutex<Option<(String, String)>>,
}

/// Why a reading ended early.
enum Ended {
    /// The export, and what is wrong with it.
    Export(String),
    /// The index accepts no more batches.
    Index(SourceError),
    /// The program is to stop.
    Stopped,
}

impl Export {
    /// Creates the source, which reads when it is run.
    pub fn new(
        id: String,
        name: String,
        format: Format,
        path: PathBuf,
        watch: bool,
        options: Options,
    ) -> Self {
        let connection = if path.exists() {
            Connection::Connected
        } else {
            Connection::Disconnected(advice(&path, "it is not there"))
        };
        Self {
            head: Head::new(id, name, connection),
            format,
            path,
            watch,
            options,
            progress: watch::Sender::new(Progress::default()),
            settled: watch::Sender::new(false),
            damaged: Mutex::default(),
        }
    }

    /// The progress of the current or the last reading.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Resolves once the export was read since the program began, was found unchanged, or could not be read.
    pub async fn settled(&self) {
        let mut settled = self.settled.subscribe();
        // The sender is here, so it does not end.
        let _ = settled.wait_for(|settled| *settled).await;
    }

    /// Whether [`settled`](Self::settled) has resolved.
    pub fn is_settled(&self) -> bool {
        *self.settled.borrow()
    }

    /// Notifies after each reading.
    pub fn readings(&self) -> watch::Receiver<bool> {
        self.settled.subscribe()
    }

    /// What kind of export it is.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The folder or file, for the bytes of attachments.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the export into `sink` if it has changed since the last time (or always, with `again`).
    ///
    /// # Errors
    /// Why it cannot be read, in words; the part that was read before is kept.
    pub async fn import(
        &self,
        sink: &dyn Sink,
        again: bool,
        stop: &CancellationToken,
    ) -> Result<(), SourceError> {
        match self.settle(sink, again, stop).await {
            Ok(()) | Err(Ended::Stopped) => Ok(()),
            Err(Ended::Index(error)) => Err(error),
            Err(Ended::Export(problem)) => Err(SourceError(problem)),
        }
    }

    /// Reads it, and records the outcome.
    async fn settle(
        &self,
        sink: &dyn Sink,
        again: bool,
        stop: &CancellationToken,
    ) -> Result<(), Ended> {
        let read = self.read(sink, again, stop).await;
        self.settled.send_replace(true);
        match &read {
            Ok(()) => self.head.set(Connection::Connected),
            Err(Ended::Export(problem)) => {
                self.head.set(Connection::Disconnected(advice(&self.path, problem)))
            }
            Err(Ended::Index(_) | Ended::Stopped) => {}
        }
        read
    }

    async fn read(
        &self,
        sink: &dyn Sink,
        again: bool,
        stop: &CancellationToken,
    ) -> Result<(), Ended> {
        let (path, format, options) = (self.path.clone(), self.format, self.options.clone());
        let before = if again { None } else { sink.mark().await.map_err(Ended::Index)? };
        let known = before.clone();
        let plan =
            blocking(move || import::plan(&path, Some(format), &options, known.as_deref())).await?;
        let mark = plan.mark.clone();
        let is_whole = before.is_none();
        let mut report =
            if is_whole { Report::default() } else { sink.report().await.map_err(Ended::Index)? };
        // Nothing is missing behind the end of a file that somebody has taken away.
        report.cut.retain(|file, _| plan.has(file));
        if plan.is_empty() && !is_whole {
            // Files that were only touched cost their digest once.
            return if before.as_ref() == Some(&mark) {
                Ok(())
            } else {
                let done = Batch { mark: Some(mark), report: Some(report), ..Batch::default() };
                sink.keep(done).await.map_err(Ended::Index)
            };
        }
        // A damaged export stays damaged until it changes, so it is not read again.
        let damaged = lock(&self.damaged).clone().filter(|_| !again);
        if let Some((_, problem)) = damaged.filter(|(what, _)| *what == mark) {
            return Err(Ended::Export(problem));
        }
        let (send, mut receive) = mpsc::channel(BATCHES);
        let (options, progress) = (self.options.clone(), self.progress.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let mut batches = Batches { send, events: Vec::new(), bytes: 0, has_messages: false };
            let mut report = |done, total| {
                progress.send_replace(Progress { done, total, summary: None });
            };
            let read =
                import::carry_out(&plan, &options, &mut |event| batches.add(event), &mut report);
            // An export in which nothing can be read leaves nothing. The reader may have ended.
            if read.is_ok() || batches.has_messages {
                let _ = batches.send();
            }
            let summary = read?;
            progress.send_modify(|progress| {
                progress.done = progress.total;
                progress.summary = Some(summary.clone());
            });
            Ok::<Summary, ImportError>(summary)
        });
        loop {
            let events = tokio::select! {
                () = stop.cancelled() => return Err(Ended::Stopped),
                events = receive.recv() => events,
            };
            let Some(events) = events else { break };
            sink.keep(Batch { events, ..Batch::default() }).await.map_err(Ended::Index)?;
        }
        let summary = match reading.await {
            Ok(Ok(summary)) => summary,
            Ok(Err(error)) => {
                let problem = error.to_string();
                // A disk may recover without a change of the export.
                if !matches!(error, ImportError::Io { .. }) {
                    *lock(&self.damaged) = Some((mark, problem.clone()));
                }
                return Err(Ended::Export(problem));
            }
            Err(failed) => return Err(Ended::Index(SourceError(failed.to_string()))),
        };
        if !summary.warnings.is_empty() {
            // Chats have the names of people: those are for the person who imports, not for a log.
            tracing::warn!(
                source = self.head.id,
                warnings = summary.warnings.len(),
                skipped = summary.skipped,
                "something in the export is odd: `chat-server import --again` shows what"
            );
        }
        tracing::info!(
            source = self.head.id,
            chats = summary.chats,
            messages = summary.messages,
            skipped = summary.skipped,
            "read"
        );
        report.take(&summary);
        let done = Batch { mark: Some(mark), report: Some(report), ..Batch::default() };
        sink.keep(done).await.map_err(Ended::Index)
    }

    /// Resolves when something has changed at the path of the export.
    async fn changed(&self, watcher: &mut Option<Watcher>) {
        if watcher.is_none() {
            *watcher = self.watcher();
        }
        let Some(watching) = watcher else {
            return tokio::time::sleep(LOOK).await;
        };
        loop {
            match watching.changed().await {
                Changes::Paths(paths) if !paths.iter().any(|path| self.concerns(path)) => {}
                _ => return,
            }
        }
    }

    /// A file is replaced by renaming, so its folder is watched.
    fn watcher(&self) -> Option<Watcher> {
        let (folder, depth) = if self.path.is_dir() {
            (self.path.as_path(), Depth::Tree)
        } else {
            (self.path.parent()?, Depth::Entries)
        };
        let watcher = Watcher::new(&[(folder, depth)]);
        watcher
            .inspect_err(
                |error| tracing::warn!(source = self.head.id, %error, "looking every two seconds"),
            )
            .ok()
    }

    fn concerns(&self, changed: &Path) -> bool {
        let real = self.path.canonicalize();
        let ours = real.as_deref().unwrap_or(&self.path);
        changed.starts_with(ours) || changed.starts_with(&self.path)
    }
}

/// Gathers events into batches.
struct Batches {
    send: mpsc::Sender<Vec<Event>>,
    events: Vec<Event>,
    bytes: usize,
    has_messages: bool,
}

impl Batches {
    fn add(&mut self, event: Event) -> ControlFlow<()> {
        let bytes = event.bytes();
        if self.bytes + bytes > BATCH_BYTES {
            self.send()?;
        }
        self.bytes += bytes;
        self.has_messages |= matches!(event, Event::Message { .. });
        self.events.push(event);
        if self.events.len() >= MAX_BATCH { self.send() } else { ControlFlow::Continue(()) }
    }

    /// Waits until the queue has space. Breaks if the receiver is gone.
    fn send(&mut self) -> ControlFlow<()> {
        self.bytes = 0;
        let events = std::mem::take(&mut self.events);
        if events.is_empty() || self.send.blocking_send(events).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ImportError> + Send + 'static,
) -> Result<T, Ended> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| Ended::Export(error.to_string())),
        Err(failed) => Err(Ended::Index(SourceError(failed.to_string()))),
    }
}

fn advice(path: &Path, problem: &str) -> String {
    format!(
        "the export at {} cannot be read ({problem}): export the chat again and put it there, or change \
         `path` in the configuration",
        path.display()
    )
}

impl ChatSource for Export {
    fn head(&self) -> &Head {
        &self.head
    }

    fn streams(&self) -> bool {
        self.watch
    }

    fn run(
        self: Arc<Self>,
        sink: Arc<dyn Sink>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Result<(), SourceError>> {
        async move {
            // Watched before it is read, so that no change falls in between.
            let mut watcher = if self.watch { self.watcher() } else { None };
            loop {
                match self.settle(&*sink, false, &stop).await {
                    // The export has not changed, so only another run reads it again.
                    Err(Ended::Index(error)) => return Err(error),
                    Err(Ended::Export(problem)) if !self.watch => return Err(SourceError(problem)),
                    Err(Ended::Export(problem)) => {
                        tracing::warn!(
                            source = self.head.id,
                            problem,
                            "the export could not be read"
                        );
                    }
                    Err(Ended::Stopped) => return Ok(()),
                    Ok(()) if !self.watch => return Ok(()),
                    Ok(()) => {}
                }
                tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    () = self.changed(&mut watcher) => {}
                }
            }
        }
        .boxed()
    }

    fn sends(&self) -> bool {
        false
    }

    fn send(self: Arc<Self>, _: Outgoing) -> BoxFuture<'static, Result<Sent, SendError>> {
        let problem = "nothing can be sent into an export".to_owned();
        ready(Err(SendError::Refused(problem))).boxed()
    }
}
