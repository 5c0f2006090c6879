//! Answers the server's questions: its requests in the legacy era, the questions in its results in the modern era. The
//! callback of [`ClientConfig::with_answers`](super::ClientConfig::with_answers) answers both.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use mcp_proto::jsonrpc::{ErrorObject, Notification, Payload, Request, RequestId, Response};
use serde_json::{Map, Value};

use super::Result;
use super::clock::Clock;
use super::form_defaults::fill_defaults;

/// The most questions of one connection, or of one stream over HTTP, that are answered at once; others are passed over,
/// and the server gives up waiting.
const MAX_ANSWERING: usize = 4_096;

/// The callbacks for the questions of the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    /// By method.
    pub(super) single: BTreeMap<&'static str, Callback>,
    /// For every other method.
    pub(super) any: Option<Callback>,
    /// Accepted forms get the defaults of their schemas.
    pub(super) fill_defaults: bool,
}

/// The callback that answers a question.
#[derive(Clone)]
pub(super) struct Callback(Arc<Called>);

type Called = dyn Fn(Request) -> BoxFuture<'static, Result<Value, ErrorObject>> + Send + Sync;

/// Brings an answer to the server.
pub(super) type Sending<'s> = BoxFuture<'s, Result<()>>;

/// A request whose answer was brought, or not.
type Answered = (RequestId, Result<()>);

/// Requests of the server that are being answered. Dropping it cancels them.
pub(super) struct Answering<'s> {
    answers: Answers,
    /// Stands still while a callback answers.
    clock: Clock,
    send: Arc<dyn Fn(Response) -> Sending<'s> + Send + Sync + 's>,
    running: FuturesUnordered<Abortable<BoxFuture<'s, Answered>>>,
    /// To take a question back.
    open: HashMap<RequestId, AbortHandle>,
}

impl Callback {
    pub(super) fn new<F, R>(answers: F) -> Self
    where
        F: Fn(Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        Self(Arc::new(move |question| Box::pin(answers(question))))
    }
}

impl Answers {
    pub(super) fn is_empty(&self) -> bool {
        self.single.is_empty() && self.any.is_none()
    }

    pub(super) fn ask(&self, question: Request) -> BoxFuture<'static, Result<Value, ErrorObject>> {
        let is_filled = self.fill_defaults && question.method == "elicitation/create";
        match self.callback(&question.method) {
            Some(Callback(callback)) if is_filled => {
                let form = question.params.clone();
                let answer = callback(question);
                let answer = answer.map(move |answer| {
                    let mut answer = answer?;
                    fill_defaults(&form, &mut answer);
                    Ok(answer)
                });
                answer.boxed()
            }
            Some(Callback(callback)) => callback(question),
            None => {
                let refused = ErrorObject::method_not_found(&question.method);
                std::future::ready(Err(refused)).boxed()
            }
        }
    }

    fn callback(&self, method: &str) -> Option<&Callback> {
        self.single.get(method).or(self.any.as_ref())
    }
}

impl<'s> Answering<'s> {
    /// What `answers` has no callback for is refused, but for a `ping`.
    pub(super) fn new(
        answers: Answers,
        clock: Clock,
        send: impl Fn(Response) -> Sending<'s> + Send + Sync + 's,
    ) -> Self {
        Self {
            answers,
            clock,
            send: Arc::new(send),
            running: FuturesUnordered::new(),
            open: HashMap::new(),
        }
    }

    /// The answer to a request that needs no callback: a `ping`, and every request if there is no callback.
    pub(super) fn at_once(&self, request: &Request) -> Option<Response> {
        let outcome = match request.method.as_str() {
            "ping" => Payload::of(&Map::new()),
            method if self.answers.callback(method).is_some() => return None,
            method => Err(ErrorObject::method_not_found(method)),
        };
        Some(Response { id: Some(request.id.clone()), outcome })
    }

    /// Begins to answer a request.
    pub(super) fn take(&mut self, request: Request) {
        if self.running.len() >= MAX_ANSWERING {
            tracing::warn!(id = %request.id, "the server asks too much at once: a request was ignored");
            return;
        }
        let id = request.id.clone();
        let response = match self.at_once(&request) {
            Some(response) => std::future::ready(response).boxed(),
            None => {
                let (id, waiting) = (id.clone(), self.clock.wait());
                let answer = self.answers.ask(request);
                let answer = answer.map(|answer| {
                    drop(waiting);
                    let outcome = answer.and_then(|result| Payload::of(&result));
                    Response { id: Some(id), outcome }
                });
                answer.boxed()
            }
        };
        let send = Arc::clone(&self.send);
        let (abort, registration) = AbortHandle::new_pair();
        self.open.insert(id.clone(), abort);
        let answering = async move { (id, send(response.await).await) };
        self.running.push(Abortable::new(answering.boxed(), registration));
    }

    /// Cancels a request if the notification asks for it.
    pub(super) fn cancel(&mut self, notification: &Notification) {
        let id = notification.cancelled_request();
        if let Some(abort) = id.and_then(|id| self.open.remove(&id)) {
            abort.abort();
        }
    }

    /// Waits for a future, and answers requests meanwhile.
    pub(super) async fn during<T>(&mut self, running: impl Future<Output = T>) -> T {
        let mut running = std::pin::pin!(running);
        loop {
            tokio::select! {
                done = &mut running => return done,
                answered = self.next() => {
                    if let Err(error) = answered {
                        tracing::debug!(%error, "a request of the server was not answered");
                    }
                }
            }
        }
    }

    /// Waits until one more answer is brought to the server. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<()> {
        match self.running.next().await {
            Some(Ok((id, sent))) => {
                self.open.remove(&id);
                sent
            }
            Some(Err(Aborted)) => Ok(()),
            None => std::future::pending().await,
        }
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callback")
    }
}
