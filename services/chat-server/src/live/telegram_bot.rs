//! A Telegram bot: the messages in its chats, from the first request on (long polling of the Bot API).
//!
//! The number of the last update is stored together with its content, and only then confirmed to Telegram, which holds
//! updates for a day. So nothing is lost or duplicated if this program ends at any moment.

mod api;
mod send;
mod update;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::back_off::BackOff;
use crate::outgoing::{Outgoing, SendError, Sent};
use crate::source::{Batch, ChatSource, Connection, Head, Sink, SourceError};
use api::{Api, Failed};

/// How long to wait before the next request after a failure, at first and at most.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A source that is a bot.
#[derive(Debug)]
pub struct TelegramBot {
    head: Head,
    base_url: String,
    token_file: PathBuf,
}

impl TelegramBot {
    /// Creates the source, which sends requests when it is run.
    pub fn new(id: String, name: String, base_url: String, token_file: PathBuf) -> Self {
        let connection = Connection::Disconnected("the bot has not been asked yet".to_owned());
        Self { head: Head::new(id, name, connection), base_url, token_file }
    }

    async fn listen(&self, sink: &dyn Sink, stop: &CancellationToken) -> Result<(), SourceError> {
        let mut back_off = BackOff::new(PAUSE, LONGEST_PAUSE);
        // The number of the first update that is not kept yet.
        let mut offset = sink.mark().await?.and_then(|mark| mark.parse::<i64>().ok());
        loop {
            let failed = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                failed = self.poll(sink, &mut offset, &mut back_off) => failed,
            };
            let Failed { problem, retry_after: pause, code, .. } = match failed {
                Ended::Index(error) => return Err(error),
                Ended::Api(failed) => failed,
            };
            tracing::info!(source = self.head.id, problem, "the bot cannot be asked");
            // Telegram's other refusals say themselves what to do.
            let advice = match code {
                0 | 401 | 404 => {
                    format!(": check the token in {} and the network", self.token_file.display())
                }
                _ => String::new(),
            };
            let told = format!("the Bot API cannot be asked ({problem}){advice}");
            self.head.set(Connection::Disconnected(told));
            if let Some(pause) = pause {
                let pause = pause.min(LONGEST_PAUSE);
                if tokio::time::timeout(pause, stop.cancelled()).await.is_ok() {
                    return Ok(());
                }
            }
            if !back_off.wait(stop).await {
                return Ok(());
            }
        }
    }

    /// Requests updates until a request fails.
    async fn poll(
        &self,
        sink: &dyn Sink,
        offset: &mut Option<i64>,
        back_off: &mut BackOff,
    ) -> Ended {
        let api = match self.api().await {
            Ok(api) => api,
            Err(failed) => return Ended::Api(failed),
        };
        loop {
            let updates = match api.updates(*offset).await {
                Ok(updates) => updates,
                Err(failed) => return Ended::Api(failed),
            };
            self.head.set(Connection::Connected);
            back_off.reset();
            if updates.is_empty() {
                continue;
            }
            let mut events = Vec::new();
            let mut last = None;
            for it in &updates {
                update::read(it, &mut events);
                last = it.get("update_id").and_then(Value::as_i64).max(last);
            }
            // Not the highest of all: after a week of silence Telegram continues with any number.
            let Some(next) = last.map(|last| last.saturating_add(1)) else {
                return Ended::Api(Failed::because("updates without a number".to_owned()));
            };
            let mark = Some(next.to_string());
            if let Err(error) = sink.keep(Batch { events, mark, ..Batch::default() }).await {
                return Ended::Index(error);
            }
            *offset = Some(next);
        }
    }

    async fn api(&self) -> Result<Api, Failed> {
        let file = self.token_file.clone();
        let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(file)).await;
        let text = read.map_err(|error| Failed::of(&error))?.map_err(|error| Failed::of(&error))?;
        let token = text.lines().next().unwrap_or_default().trim();
        Api::new(&self.base_url, token)
    }
}

/// Why the requests ended.
enum Ended {
    /// Telegram does not answer as expected.
    Api(Failed),
    /// The index accepts no more batches.
    Index(SourceError),
}

impl ChatSource for TelegramBot {
    fn head(&self) -> &Head {
        &self.head
    }

    fn run(
        self: Arc<Self>,
        sink: Arc<dyn Sink>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Result<(), SourceError>> {
        async move { self.listen(&*sink, &stop).await }.boxed()
    }

    fn send(self: Arc<Self>, outgoing: Outgoing) -> BoxFuture<'static, Result<Sent, SendError>> {
        async move { self.deliver(&outgoing).await }.boxed()
    }
}
