//! Requests to the server that holds a data directory, over its socket, and their execution.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use service_host::run_blocking;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use universe_core::State;

use super::import::state_of;
use super::{CareError, Result, compacted};
use crate::commands::CommandService;
use crate::socket;
use crate::store::{MAX_WRITE, SqliteStore, UniverseId};

/// The longest request in bytes. A request may contain a universe.
const MAX_LINE: u64 = MAX_WRITE as u64 + (1 << 20);

/// The longest answer in bytes.
const MAX_ANSWER: u64 = 64 << 10;

/// One request is processed at a time, to limit memory.
static TURN: Semaphore = Semaphore::const_new(1);

/// The requests that a server accepts on the socket of the data directory.
#[derive(Debug)]
pub(crate) enum Request {
    Compact,
    Import { id: Option<UniverseId>, name: String, state: Box<State> },
}

/// A request as a line of JSON. `S` is the state or its text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'t, S> {
    verb: Verb,
    id: Option<UniverseId>,
    name: Option<Cow<'t, str>>,
    state: Option<S>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    Compact,
    Import,
}

/// The answer as a line of JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Result(String),
    Error(String),
}

/// Executes requests: it has the universes and their store.
#[derive(Clone, Debug)]
pub(crate) struct Online {
    service: CommandService,
    store: Arc<SqliteStore>,
}

impl Request {
    /// Sends the request to the server that holds the directory. Returns its answer, or `None` if there is no server.
    pub(super) async fn ask(&self, dir: &Path) -> Result<Option<String>> {
        let stream = match socket::care(dir).await {
            Ok(Some(stream)) => stream,
            Ok(None) => return Ok(None),
            Err(error) => return Err(CareError::Server(error.to_string())),
        };
        let answer = self.send(stream).await;
        let answer = answer.map_err(|error| CareError::Server(error.to_string()))?;
        let ended = || CareError::Server("it ended before it was done".to_owned());
        match serde_json::from_slice(&answer).map_err(|_| ended())? {
            Answer::Result(result) => Ok(Some(result)),
            Answer::Error(error) => Err(CareError::Server(error)),
        }
    }

    async fn send(&self, mut stream: UnixStream) -> io::Result<Vec<u8>> {
        let line = match self {
            Self::Compact => Line { verb: Verb::Compact, id: None, name: None, state: None },
            Self::Import { id, name, state } => Line {
                verb: Verb::Import,
                id: id.clone(),
                name: Some(name.into()),
                state: Some(&**state),
            },
        };
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        stream.write_all(&line).await?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
        Ok(answer)
    }
}

impl Online {
    pub(crate) fn new(service: CommandService, store: Arc<SqliteStore>) -> Self {
        Self { service, store }
    }

    /// Reads a request from the socket, executes it and answers.
    pub(crate) async fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let _turn = TURN.acquire().await.map_err(io::Error::other)?;
        let (reader, mut writer) = stream.into_split();
        let mut line = Vec::new();
        BufReader::new(reader.take(MAX_LINE)).read_until(b'\n', &mut line).await?;
        let done = match run_blocking(move || read(&line)).await.map_err(io::Error::other)? {
            Ok(request) => self.take(request).await,
            Err(wrong) => Err(wrong),
        };
        let answer = match done {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::Error(error),
        };
        let answer = serde_json::to_string(&answer)?;
        writer.write_all(format!("{answer}\n").as_bytes()).await
    }

    /// Executes the request. Returns the answer.
    ///
    /// # Errors
    /// The reason, as a sentence.
    pub(super) async fn take(&self, request: Request) -> Result<String, String> {
        match request {
            Request::Import { id, name, state } => {
                let id = id.unwrap_or_else(UniverseId::random);
                let made = self.service.create(id, name, *state).await;
                made.map(|universe| universe.id.to_string())
                    .map_err(|error| error.to_string())
            }
            Request::Compact => match self.store.shrink().await {
                Ok(Some((before, after))) => Ok(compacted(before, after)),
                Ok(None) => Err(
                    "its file was made by an older version and cannot shrink in steps; stop the server, and run \
                     `universe-server compact` once"
                        .to_owned(),
                ),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

fn read(line: &[u8]) -> Result<Request, String> {
    let line: Line<'_, &RawValue> =
        serde_json::from_slice(line).map_err(|problem| problem.to_string())?;
    match line {
        Line { verb: Verb::Compact, .. } => Ok(Request::Compact),
        Line { verb: Verb::Import, id, name: Some(name), state: Some(state) } => {
            let state = state_of(state).map_err(|problem| problem.to_string())?;
            let (name, state) = (name.into_owned(), Box::new(state));
            Ok(Request::Import { id, name, state })
        }
        Line { .. } => Err("import needs a name and a state".to_owned()),
    }
}
