//! The connection to the servers: asking their leaders, and storing messages once.
use std::time::Duration;

use async_nats::jetstream::context::{Context, ContextBuilder};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Request, RequestErrorKind};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;
use universe_store::adapter::failure::Failure;
use universe_store::adapter::tls;

use super::NatsOptions;
use super::error::{Away, NatsError, Refusal, Verdict, judge};
use super::url::{Login, NatsUrl};

/// The first and the longest pause before a request is repeated.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(250)];

/// The longest time for one request, because a leader that has died does not answer.
const QUESTION: Duration = Duration::from_secs(2);

/// The status that ends a series of messages.
const END_OF_BATCH: u16 = 204;

/// The connection, which is restored automatically when it is lost.
pub(super) struct Link {
    client: Client,
    context: Context,
    state: watch::Receiver<State>,
    patience: Duration,
    timeout: Duration,
}

/// Whether there is a connection, and how often this has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    is_there: bool,
    changes: u64,
}

/// The server's answer to a message that is to be stored.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    seq: u64,
    /// Whether the server already had a message with this id.
    #[serde(default)]
    duplicate: bool,
    error: Option<AnswerError>,
}

/// The position of a message in a stream.
pub(super) struct Stored {
    pub(super) sequence: u64,
    /// Whether it was stored by this call. Otherwise another server may have stored it with the same id.
    pub(super) is_new: bool,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl Link {
    pub(super) async fn connect(url: &NatsUrl, options: &NatsOptions) -> Result<Self, NatsError> {
        let (states, state) = watch::channel(State::default());
        let mut connecting = ConnectOptions::new()
            .name("universe-server")
            .require_tls(url.is_tls)
            .connection_timeout(options.connect_timeout)
            .ping_interval(Duration::from_secs(10))
            .reconnect_delay_callback(|attempts| {
                let times = u32::try_from(attempts).unwrap_or(u32::MAX).min(40);
                Duration::from_millis(50) * times
            })
            .event_callback(move |event| {
                if let Event::Connected | Event::Disconnected = event {
                    let is_there = matches!(event, Event::Connected);
                    states.send_modify(|state| {
                        *state = State { is_there, changes: state.changes + 1 };
                    });
                }
                if let Event::Disconnected = event {
                    tracing::warn!(
                        "the connection to the servers of NATS was lost, and is made again"
                    );
                }
                std::future::ready(())
            });
        let config = tls::client(options.authorities.as_deref());
        connecting =
            connecting.tls_client_config(config.map_err(|problem| NatsError::Authorities {
                path: options.authorities.clone().unwrap_or_default(),
                problem,
            })?);
        connecting = match &url.login {
            Login::Anybody => connecting,
            Login::Token(token) => connecting.token(token.clone()),
            Login::User(user, password) => {
                connecting.user_and_password(user.clone(), password.clone())
            }
        };
        let unreachable =
            |problem: &(dyn std::error::Error + 'static)| NatsError::Unreachable(causes(problem));
        let client = connecting.connect(url.servers.clone()).await;
        let client = client.map_err(|problem| unreachable(&problem))?;
        let context = ContextBuilder::new().timeout(QUESTION).build(client.clone());
        Ok(Self {
            client,
            context,
            state,
            patience: options.connect_timeout,
            timeout: options.write_timeout,
        })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The longest time to wait for an answer.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The longest time between sending a message and storing it.
    pub(super) fn latest(&self) -> Duration {
        self.patience.saturating_add(self.timeout)
    }

    /// Changes whenever the connection is lost or restored.
    pub(super) fn state(&self) -> watch::Receiver<State> {
        let mut state = self.state.clone();
        state.mark_unchanged();
        state
    }

    /// The state of the connection, once there is one. Fails at the given time.
    async fn connected(&self, until: Instant) -> Result<State, Away> {
        let mut state = self.state.clone();
        let there = tokio::time::timeout_at(until, state.wait_for(|state| state.is_there)).await;
        match there {
            Ok(Ok(state)) => Ok(*state),
            Ok(Err(_)) | Err(_) => Err(Away),
        }
    }

    /// Resolves when the connection in that state is lost.
    async fn lost(&self, there: State) {
        let mut state = self.state.clone();
        if state.wait_for(|state| *state != there).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Repeats an idempotent request until it is answered or the time is over.
    pub(super) async fn ask<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        once: impl Fn() -> F,
    ) -> Result<T, Away> {
        let until = Instant::now() + self.patience;
        let [mut pause, longest] = PAUSES;
        loop {
            let there = self.connected(until).await?;
            let asked = async {
                tokio::select! {
                    answer = once() => Some(answer),
                    () = self.lost(there) => None,
                }
            };
            match tokio::time::timeout_at(until, asked).await {
                Ok(Some(Ok(answer))) => return Ok(answer),
                Ok(Some(Err(problem))) => tracing::debug!(%problem, "NATS does not answer"),
                Ok(None) => {}
                Err(_) => return Err(Away),
            }
            if Instant::now() + pause >= until {
                return Err(Away);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    pub(super) async fn stream(&self, name: &str) -> Result<Stream<()>, Away> {
        // Only looks at the name.
        self.context.get_stream_no_info(name).await.map_err(|_| Away)
    }

    /// The last message of a subject, from the stream's leader.
    pub(super) async fn last(
        &self,
        stream: &str,
        subject: &str,
    ) -> Result<Option<StreamMessage>, Away> {
        let stream = &self.stream(stream).await?;
        let asked = || stream.raw_message_builder().last_by_subject(subject);
        self.ask(|| async move { found(asked().send().await) }).await
    }

    /// The first message of a subject (which may have wildcards) from a sequence on, from the stream's leader.
    pub(super) async fn next(
        &self,
        stream: &str,
        subject: &str,
        from: u64,
    ) -> Result<Option<StreamMessage>, Away> {
        let stream = &self.stream(stream).await?;
        let asked = || {
            let asked = stream.raw_message_builder().sequence(from.max(1));
            asked.next_by_subject(subject)
        };
        self.ask(|| async move { found(asked().send().await) }).await
    }

    /// The message of a sequence, from the stream's leader.
    pub(super) async fn get(
        &self,
        stream: &str,
        sequence: u64,
    ) -> Result<Option<StreamMessage>, Away> {
        let stream = &self.stream(stream).await?;
        let asked = || stream.raw_message_builder().sequence(sequence.max(1));
        self.ask(|| async move { found(asked().send().await) }).await
    }

    /// Messages of a subject from a sequence on, from any replica of the stream. A replica may be behind, so missing
    /// messages prove nothing.
    pub(super) async fn series(
        &self,
        stream: &str,
        subject: &str,
        from: u64,
        (most, bytes): (usize, usize),
    ) -> Vec<StreamMessage> {
        #[derive(Serialize)]
        struct Question<'a> {
            seq: u64,
            next_by_subj: &'a str,
            batch: usize,
            max_bytes: usize,
        }
        let question =
            Question { seq: from.max(1), next_by_subj: subject, batch: most, max_bytes: bytes };
        let Ok(question) = serde_json::to_vec(&question) else {
            return Vec::new();
        };
        let inbox = self.client.new_inbox();
        let Ok(mut answers) = self.client.subscribe(inbox.clone()).await else {
            return Vec::new();
        };
        let asking = format!("$JS.API.DIRECT.GET.{stream}");
        let sent = self.client.publish_with_reply(asking, inbox, question.into());
        let mut messages = Vec::new();
        if sent.await.is_err() {
            return messages;
        }
        while let Ok(Some(answer)) = tokio::time::timeout(QUESTION, answers.next()).await {
            match answer.status {
                Some(status) if status.as_u16() == END_OF_BATCH => break,
                Some(_) => break,
                None => match StreamMessage::try_from(answer) {
                    Ok(message) => messages.push(message),
                    Err(_) => break,
                },
            }
        }
        messages
    }

    /// Stores a message and returns its sequence. With `after`, only if that is the last sequence of its subject.
    pub(super) async fn put(
        &self,
        subject: &str,
        mut headers: HeaderMap,
        body: Bytes,
        after: Option<u64>,
    ) -> Result<Stored, Refusal> {
        let away = Refusal::Failed(Failure::Unavailable);
        if let Some(after) = after {
            headers
                .insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, after.to_string());
        }
        let until = Instant::now() + self.patience;
        let [mut pause, longest] = PAUSES;
        loop {
            let there = self.connected(until).await.map_err(|_| away)?;
            let request = Request::new()
                .headers(headers.clone())
                .payload(body.clone())
                .timeout(Some(self.timeout));
            let answer = tokio::select! {
                answer = self.client.send_request(subject.to_owned(), request) => answer,
                () = self.lost(there) => return Err(Refusal::Failed(Failure::Unknown)),
            };
            match answer {
                Ok(answer) => {
                    let unknown = Refusal::Failed(Failure::Unknown);
                    let answer: Answer =
                        serde_json::from_slice(&answer.payload).map_err(|_| unknown)?;
                    let Some(error) = answer.error else {
                        let (sequence, is_new) = (answer.seq, !answer.duplicate);
                        return Ok(Stored { sequence, is_new });
                    };
                    let AnswerError { err_code, description } = error;
                    match judge(err_code, &description) {
                        Verdict::Again => {}
                        Verdict::Failed(wrong @ Refusal::WrongSequence(_)) => return Err(wrong),
                        Verdict::Failed(refusal) => {
                            tracing::error!(err_code, description, "NATS does not store a message");
                            return Err(refusal);
                        }
                    }
                }
                // No leader is available at the moment, so no server has stored it.
                Err(problem) if problem.kind() == RequestErrorKind::NoResponders => {}
                Err(problem) => {
                    tracing::warn!(%problem, "NATS does not say whether it has stored a message");
                    return Err(Refusal::Failed(Failure::Unknown));
                }
            }
            if Instant::now() + pause >= until {
                return Err(away);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Removes messages of a subject from a stream: those before a sequence, or all.
    pub(super) async fn purge(
        &self,
        stream: &str,
        subject: &str,
        before: Option<u64>,
    ) -> Result<(), Away> {
        let stream = &self.stream(stream).await?;
        self.ask(|| async move {
            let purge = stream.purge().filter(subject);
            match before {
                Some(before) => purge.sequence(before).await,
                None => purge.await,
            }
        })
        .await
        .map(drop)
    }
}

/// The result of a request for a message.
fn found(
    answer: Result<StreamMessage, async_nats::jetstream::stream::RawMessageError>,
) -> Result<Option<StreamMessage>, async_nats::jetstream::stream::RawMessageError> {
    match answer {
        Ok(message) => Ok(Some(message)),
        Err(problem) if problem.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The text of an error, with its causes.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
