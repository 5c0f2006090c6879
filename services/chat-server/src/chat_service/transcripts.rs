//! Transcripts of recordings in exports, by the program that the configuration names.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{join_all, select_all};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::attachment::read_file;
use super::{ChatService, Failure};
use crate::event::{Change, Event};
use crate::index::{Kind, MAX_LIMIT, MessageQuery, StoredMessage};
use crate::model::{AttachmentKind, AttachmentPlace};
use crate::source::Batch;

/// After what time a server continues with what is left.
const PAUSE: Duration = Duration::from_secs(60);

/// After how many failures in a row the program is not run again for a while.
const MAX_FAILED: usize = 3;

/// What has become of the recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcribed {
    /// How many were transcribed.
    pub done: usize,
    /// How many the program could not do.
    pub failed: usize,
    /// How many are left for another time.
    pub left: usize,
    /// Why it failed the last time.
    pub problem: Option<String>,
    /// How many it has failed for without one that it has done.
    in_a_row: usize,
}

/// How many recordings for which the program has failed are remembered. Further ones are tried again.
const MAX_REMEMBERED: usize = 10_000;

/// The recordings for which the program has failed, which are not tried again: source, chat, message, file; at most
/// [`MAX_REMEMBERED`].
type Failed = HashSet<(String, String, String, usize)>;

impl ChatService {
    /// Transcribes recordings of visible chats that have no transcript, the newest first, one at a time and as many as
    /// the configuration says. Does nothing without a program.
    ///
    /// # Errors
    /// [`Failure`] if the index is not available.
    pub async fn transcribe(&self) -> Result<Transcribed, Failure> {
        self.transcribe_but(&mut Failed::new()).await
    }

    /// Transcribes new recordings whenever an export was read, until `stop`.
    pub(super) async fn keep_transcribing(&self, stop: &CancellationToken) {
        let exports = self.registry().iter().filter_map(|entry| entry.export.as_ref());
        let (read, mut readings): (Vec<_>, Vec<_>) =
            exports.map(|export| (export.settled(), export.readings())).unzip();
        if self.0.transcriber.is_none() || readings.is_empty() {
            return;
        }
        let mut failed = Failed::new();
        let working = async {
            join_all(read).await;
            loop {
                readings.iter_mut().for_each(watch::Receiver::mark_unchanged);
                let done = self.transcribe_but(&mut failed).await;
                match &done {
                    Ok(Transcribed { done, failed, problem, .. }) if done + failed > 0 => {
                        tracing::info!(done, failed, problem, "transcribed recordings");
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "recordings cannot be transcribed"),
                }
                let read = select_all(readings.iter_mut().map(|it| it.changed().boxed())).map(drop);
                if done.is_ok_and(|done| done.left == 0) {
                    read.await;
                } else {
                    // The rest has its turn then in any case.
                    let _ = tokio::time::timeout(PAUSE, read).await;
                }
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = working => {}
        }
    }

    async fn transcribe_but(&self, failed: &mut Failed) -> Result<Transcribed, Failure> {
        let mut result = Transcribed::default();
        if self.0.transcriber.is_none() {
            return Ok(result);
        }
        let chats = self.scope_of(None).await?.chats;
        let mut query = MessageQuery {
            chats,
            kinds: vec![Kind::Audio],
            limit: MAX_LIMIT,
            ..MessageQuery::default()
        };
        loop {
            let page = self.index().messages(&query).await?;
            for stored in page.messages {
                self.transcribe_files(&stored, failed, &mut result).await?;
            }
            query.cursor = page.next;
            if query.cursor.is_none() {
                return Ok(result);
            }
        }
    }

    async fn transcribe_files(
        &self,
        stored: &StoredMessage,
        failed: &mut Failed,
        result: &mut Transcribed,
    ) -> Result<(), Failure> {
        let (Some(transcriber), Some(entry)) =
            (&self.0.transcriber, self.registry().get(&stored.source))
        else {
            return Ok(());
        };
        let Some(export) = &entry.export else { return Ok(()) };
        for (file, attachment) in stored.message.attachments.iter().enumerate() {
            let AttachmentPlace::Export(path) = &attachment.place else { continue };
            let place =
                (stored.source.clone(), stored.chat.clone(), stored.message.id.clone(), file);
            if attachment.kind != AttachmentKind::Audio
                || attachment.transcript.is_some()
                || failed.contains(&place)
            {
                continue;
            }
            if result.done + result.failed >= transcriber.most || result.in_a_row >= MAX_FAILED {
                result.left += 1;
                continue;
            }
            let said = match read_file(export.path(), path).await {
                Ok(bytes) => transcriber.run(&bytes, end_of(path), self.index().dir()).await,
                Err(error) => Err(error.to_string()),
            };
            match said {
                Ok(text) => {
                    let (source, chat, id, _) = place;
                    let change = Change::Transcribed { file, text };
                    let events = vec![Event::Changed { chat, id, change }];
                    let sink = self.registry().sink(&source, self.index());
                    let kept = sink.keep(Batch { events, ..Batch::default() }).await;
                    kept.map_err(|error| Failure::new("INDEX_UNAVAILABLE", error.to_string()))?;
                    result.done += 1;
                    result.in_a_row = 0;
                }
                Err(problem) => {
                    result.failed += 1;
                    result.in_a_row += 1;
                    result.problem = Some(problem);
                    if failed.len() < MAX_REMEMBERED {
                        failed.insert(place);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The end of a file's name, by which programs know what is in it.
fn end_of(path: &str) -> &str {
    let end = Path::new(path).extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_plain = end.len() <= 5 && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain && !end.is_empty() { end } else { "audio" }
}
