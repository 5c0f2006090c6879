//! The server of a scene: connections, the requests on them, and the answers of its script.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use super::scene::Scene;
use super::script::{self, Content, Reply, State};
use super::seen::ReceivedRequest;
use crate::serving::{Body, BoxError};
use crate::serving::{full, plain, serve};
use crate::shorten::shorten;

/// The largest message that is taken, in bytes.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;
/// How many requests are kept of one scene; later ones are refused (503).
const MAX_HEARD: usize = 2_000;
/// How long the server waits for the answers to its own questions.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of an answer is kept for reports, in characters.
const SHOWN: usize = 1_000;
/// The most bytes of an endless answer: a client should stop reading earlier.
pub(super) const ENDLESS: u64 = 256 * 1024 * 1024;

/// A server that plays a scene until it is closed.
pub(super) struct Stage {
    set: Arc<Set>,
    address: SocketAddr,
    /// The servers, which end with this.
    _servers: JoinSet<()>,
}

/// What all connections share.
struct Set {
    scene: Scene,
    /// Where the other origin is.
    elsewhere: SocketAddr,
    inner: Mutex<(Vec<ReceivedRequest>, State)>,
    /// Rings when an answer to a question of the server has come.
    answered: Notify,
}

impl Stage {
    pub(super) async fn open(scene: Scene) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let set = Arc::new(Set {
            scene,
            elsewhere: other.local_addr()?,
            inner: Mutex::default(),
            answered: Notify::new(),
        });
        let mut servers = JoinSet::new();
        servers.spawn(play(listener, set.clone(), false));
        servers.spawn(play(other, set.clone(), true));
        Ok(Self { set, address, _servers: servers })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Ends it; returns the requests.
    pub(super) fn close(self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.set.lock().0)
    }
}

/// Plays on one listener until this is dropped.
async fn play(listener: TcpListener, set: Arc<Set>, elsewhere: bool) {
    let answer = move |request| {
        let set = set.clone();
        async move { set.answer(request, elsewhere).await }
    };
    // Without a listener the client cannot connect, which its report shows.
    let _ = serve(listener, answer).await;
}

impl Set {
    fn lock(&self) -> MutexGuard<'_, (Vec<ReceivedRequest>, State)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        elsewhere: bool,
    ) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, MAX_MESSAGE).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is too large"),
        };
        let mut request = ReceivedRequest {
            message: serde_json::from_slice(&body).ok(),
            method: head.method,
            path: head.uri.path().to_owned(),
            headers: head.headers,
            body,
            elsewhere,
            status: 0,
            answer: String::new(),
            taken: 0,
        };
        let (reply, at) = {
            let (kept, state) = &mut *self.lock();
            if kept.len() >= MAX_HEARD {
                return plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests");
            }
            let reply = if elsewhere {
                Reply::status(StatusCode::NOT_FOUND)
            } else {
                script::reply(self.scene, self.elsewhere, state, &request)
            };
            request.status = reply.status.as_u16();
            request.answer = shorten(&reply.shown(), SHOWN);
            if request.is_response() {
                state.answers += 1;
            }
            kept.push(request);
            (reply, kept.len() - 1)
        };
        self.answered.notify_waiters();
        self.respond(reply, at)
    }

    fn respond(self: &Arc<Self>, reply: Reply, at: usize) -> Response<Body> {
        let mut response = Response::new(match reply.content {
            Content::Nothing => full(Bytes::new()),
            Content::Json(ref message) => full(message.to_string()),
            Content::Raw(bytes) => full(bytes),
            Content::Events(parts) => self.clone().events(parts),
            Content::Endless => self.clone().endless(at),
        });
        *response.status_mut() = reply.status;
        for (name, value) in reply.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    /// An event stream of these parts. Before a part that waits, this many answers of the client must have come.
    fn events(self: Arc<Self>, parts: Vec<script::StreamPart>) -> Body {
        let parts = stream::unfold(parts.into_iter(), move |mut parts| {
            let set = self.clone();
            async move {
                let part = parts.next()?;
                if let Some(answers) = part.after {
                    set.wait(answers).await;
                }
                let frame = Frame::data(Bytes::from(part.bytes));
                Some((Ok::<_, BoxError>(frame), parts))
            }
        });
        StreamBody::new(parts).boxed_unsync()
    }

    /// Waits until this many answers have come, or the time limit is reached.
    async fn wait(&self, answers: usize) {
        let come = async {
            loop {
                let rung = self.answered.notified();
                if self.lock().1.answers >= answers {
                    return;
                }
                rung.await;
            }
        };
        // After the time limit the part is sent anyway.
        let _ = tokio::time::timeout(PATIENCE, come).await;
    }

    /// One event that does not end; what is taken of it is counted.
    fn endless(self: Arc<Self>, at: usize) -> Body {
        const PIECE: usize = 256 * 1024;
        let (sender, receiver) = mpsc::channel::<Bytes>(1);
        let piece = Bytes::from(vec![b'x'; PIECE]);
        tokio::spawn(async move {
            let mut taken = 0;
            let mut next = Bytes::from_static(b"data: ");
            // Ends when the client is gone.
            while taken < ENDLESS && sender.send(next).await.is_ok() {
                taken += PIECE as u64;
                next = piece.clone();
                if let Some(request) = self.lock().0.get_mut(at) {
                    request.taken = taken;
                }
            }
        });
        let pieces = stream::unfold(receiver, |mut receiver| async move {
            let piece = receiver.recv().await?;
            Some((Ok::<_, BoxError>(Frame::data(piece)), receiver))
        });
        StreamBody::new(pieces).boxed_unsync()
    }
}
