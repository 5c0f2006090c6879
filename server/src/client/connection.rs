//! The way to the universes: HTTP on a stream. It leads to a URL, to the socket of a data directory, or to this process
//! where no server uses the directory.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use mcp_proto::StreamableHttpService;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use service_host::run_blocking;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::target::{Stream, Target};
use super::{ClientError, Common, Result};
use crate::care::{CareError, is_present};
use crate::commands::{CommandService, ServiceLimits};
use crate::http::App;
use crate::mcp::{self, ToolSet};
use crate::rest::RestConfig;
use crate::socket;
use crate::store::sqlite::{OpenError, Options};
use crate::store::{SqliteStore, UniverseId};

/// The largest answer in bytes: several times the largest universe.
const MAX_ANSWER: usize = 512 << 20;

/// The longest time that a server may take to accept a connection, and to answer a request.
const CONNECT_TIME: Duration = Duration::from_secs(5);
const ANSWER_TIME: Duration = Duration::from_secs(120);

/// The bytes between this process and the server that it is itself.
const PIPE: usize = 64 << 10;

/// How long to wait for a directory that another process is about to release or to serve.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// A connection to the universes of one target.
pub(super) struct Connection {
    way: Way,
    open: Option<Open>,
}

/// One that is open, as far as is known.
struct Open {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

enum Way {
    /// A URL.
    Url(Target),
    /// The socket in a data directory.
    Socket(PathBuf),
    /// A data directory that this process has opened itself.
    Here(Box<Here>),
}

struct Here {
    app: App,
    service: CommandService,
    store: Arc<SqliteStore>,
}

/// A successful answer.
pub(super) struct Reply {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A universe as a list returns it.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) revision: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
}

impl Connection {
    /// Chooses the target: the URL, or the server that uses the directory, or the directory itself.
    pub(super) async fn open(common: &Common, dir: &Path) -> Result<Self> {
        match Self::to_server(common, dir).await {
            Err(ClientError::NoServer(_)) => Self::alone(dir).await,
            found => found,
        }
    }

    /// Like [`open`](Self::open), but only accepts a server.
    pub(super) async fn to_server(common: &Common, dir: &Path) -> Result<Self> {
        let way = match &common.url {
            Some(url) => Way::Url(Target::read(url, common)?),
            None => Way::Socket(dir.to_owned()),
        };
        Self::by(way).await
    }

    async fn by(way: Way) -> Result<Self> {
        let mut connection = Self { way, open: None };
        connection.connect().await?;
        Ok(connection)
    }

    /// Opens the directory itself. Waits for another process that is just releasing it or beginning to serve it.
    async fn alone(dir: &Path) -> Result<Self> {
        let at = dir.to_owned();
        let looked = run_blocking(move || is_present(&at)).await;
        looked.map_err(io::Error::other)??;
        let start = Instant::now();
        loop {
            let at = dir.to_owned();
            let opened = run_blocking(move || match SqliteStore::open(&at, Options::default()) {
                Err(OpenError::Unwritable { .. }) => {
                    SqliteStore::open_read_only(&at, Options::default())
                }
                opened => opened,
            });
            match opened.await.map_err(io::Error::other)? {
                Ok(store) => return Self::here(store),
                Err(OpenError::InUse { .. }) if start.elapsed() < PATIENCE => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                Err(error) => return Err(CareError::Open(error).into()),
            }
            match Self::by(Way::Socket(dir.to_owned())).await {
                Err(ClientError::NoServer(_)) => {}
                found => return found,
            }
        }
    }

    fn here(store: SqliteStore) -> Result<Self> {
        let store = Arc::new(store);
        let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
        let server = mcp::server(service.clone(), ToolSet::Core, None);
        let mcp = StreamableHttpService::new(server.map_err(io::Error::other)?);
        let rest = RestConfig { read_only: store.is_read_only(), ..RestConfig::default() };
        let app = App::new(service.clone(), mcp, rest);
        let here = Here { app, service, store };
        Ok(Self { way: Way::Here(Box::new(here)), open: None })
    }

    /// Frees the directory, if this process holds it.
    pub(super) async fn close(self) -> Result<()> {
        if let Way::Here(here) = self.way {
            here.service.close().await;
            let closed = run_blocking(move || here.store.close()).await;
            closed.map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Parses an answer as JSON.
    pub(super) fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T> {
        serde_json::from_slice(body).map_err(|problem| {
            self.failed(&format_args!("its answer is not one of a universe server: {problem}"))
        })
    }

    /// Sends a request and reads the whole answer. The error for an unknown universe has the nearest names.
    pub(super) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Reply> {
        let asked = async {
            let (head, body) = self.open_body(method, path, headers, body).await?;
            let body = self.whole(body).await?;
            Ok::<_, ClientError>((head, body))
        };
        let (head, body) = match timeout(ANSWER_TIME, asked).await {
            Ok(answered) => answered?,
            Err(_) => return Err(self.failed(&"it did not answer in time")),
        };
        if head.status.is_success() {
            Ok(Reply { headers: head.headers, body })
        } else {
            Err(self.refusal(head.status, &body))
        }
    }

    /// Requests a feed, whose body arrives as events happen.
    pub(super) async fn feed(&mut self, path: &str, headers: &[(&str, &str)]) -> Result<Incoming> {
        let asked = self.open_body(Method::GET, path, headers, Bytes::new());
        let (head, body) = match timeout(CONNECT_TIME + CONNECT_TIME, asked).await {
            Ok(answered) => answered?,
            Err(_) => return Err(self.failed(&"it did not answer in time")),
        };
        // A feed uses its connection exclusively.
        self.open = None;
        if head.status.is_success() {
            Ok(body)
        } else {
            Err(self.refusal(head.status, &self.whole(body).await?))
        }
    }

    async fn whole(&self, body: Incoming) -> Result<Bytes> {
        let read = Limited::new(body, MAX_ANSWER).collect().await;
        Ok(read.map_err(|problem| self.failed(&problem))?.to_bytes())
    }

    async fn open_body(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<(http::response::Parts, Incoming)> {
        let (host, base) = match &self.way {
            Way::Url(target) => (target.host(), target.base()),
            Way::Socket(_) | Way::Here(_) => ("localhost", ""),
        };
        let mut request =
            Request::builder().method(method).uri(format!("{base}{path}")).header(HOST, host);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Way::Url(target) = &self.way
            && let Some(token) = target.authorization()
        {
            request = request.header(AUTHORIZATION, token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body));
        let request = request.map_err(|problem| ClientError::Given(problem.to_string()))?;
        let is_open = match &mut self.open {
            Some(open) => open.sender.ready().await.is_ok(),
            None => false,
        };
        if !is_open {
            self.connect().await?;
        }
        let answered = match &mut self.open {
            Some(open) => open.send(request).await,
            None => None,
        };
        let Some(answered) = answered else {
            return Err(self.failed(&"the connection was lost"));
        };
        let answered = answered.map_err(|error| match &self.way {
            Way::Url(target) if error.is_parse() => self.failed(&format_args!(
                "it does not speak HTTP/1.1 ({error}){}",
                target.hint_of_scheme()
            )),
            _ => self.failed(&error),
        })?;
        Ok(answered.into_parts())
    }

    async fn connect(&mut self) -> Result<()> {
        let connected = match &self.way {
            Way::Here(here) => {
                let (ours, theirs) = tokio::io::duplex(PIPE);
                tokio::spawn(here.app.clone().serve_local(theirs, CancellationToken::new()));
                handshake(Box::new(ours)).await
            }
            Way::Url(target) => {
                let stream = timeout(CONNECT_TIME, target.connect()).await;
                let stream = stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                let stream = stream.map_err(|error| self.failed(&error))?;
                handshake(stream).await
            }
            Way::Socket(dir) => {
                let stream = socket::rest(dir).await;
                match stream.map_err(|error| self.failed(&error))? {
                    Some(stream) => handshake(Box::new(stream)).await,
                    None => return Err(ClientError::NoServer(dir.display().to_string())),
                }
            }
        };
        self.open = Some(connected.map_err(|error| self.failed(&error))?);
        Ok(())
    }

    /// The error for a request that the server refused.
    fn refusal(&self, status: StatusCode, body: &[u8]) -> ClientError {
        let parsed: Option<Value> = serde_json::from_slice(body).ok();
        let parsed = parsed.as_ref().and_then(|parsed| parsed.get("error")?.as_str());
        let problem = match (&self.way, parsed) {
            (Way::Url(target), _)
                if status == StatusCode::UNAUTHORIZED && target.authorization().is_none() =>
            {
                format!("{target} asks for a token: name it with --token-file or --token-env")
            }
            (_, Some(parsed)) => parsed.to_owned(),
            (_, None) => format!("the server answered {status}"),
        };
        ClientError::Refused { status: status.as_u16(), problem }
    }

    fn failed(&self, problem: &dyn std::fmt::Display) -> ClientError {
        let place = match &self.way {
            Way::Url(target) => target.to_string(),
            Way::Socket(dir) => format!("the server that uses {}", dir.display()),
            Way::Here(_) => "the data directory".to_owned(),
        };
        ClientError::Server { place, problem: problem.to_string() }
    }
}

/// The path of a universe.
pub(super) fn path_of(id: &UniverseId) -> String {
    let id = utf8_percent_encode(id.as_str(), NON_ALPHANUMERIC);
    format!("/universes/{id}")
}

async fn handshake(stream: Box<dyn Stream>) -> hyper::Result<Open> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Errors of the connection are reported by the request that uses it.
    let task = tokio::spawn(connection.map(drop));
    Ok(Open { sender, task })
}

impl Open {
    /// `None` where the connection ended without a word about the request: hyper forgets one that is sent in the moment
    /// in which the connection ends on another thread (hyperium/hyper#4122).
    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Option<hyper::Result<Response<Incoming>>> {
        let asked = pin!(self.sender.send_request(request));
        match select(asked, &mut self.task).await {
            Either::Left((answered, _task)) => Some(answered),
            Either::Right((_ended, asked)) => asked.now_or_never(),
        }
    }
}
