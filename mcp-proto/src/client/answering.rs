//! Answering what the server asks: in the legacy era its requests, in the modern one the questions in its results. Both
//! by the one callback of [`ClientConfig::with_answers`](super::ClientConfig::with_answers).

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::{Map, Value};

use super::ClientError;
use crate::jsonrpc::{ErrorObject, Notification, Payload, Request, RequestId, Response};

/// The most questions of one connection, or of one stream over HTTP, that are answered at once; others are passed over,
/// and the server gives up waiting.
const MAX_ANSWERING: usize = 4_096;

/// What is called with every question of the server.
#[derive(Clone)]
pub(super) struct Answers(Arc<Callback>);

type Callback = dyn Fn(Request) -> BoxFuture<'static, Result<Value, ErrorObject>> + Send + Sync;

/// Brings an answer to the server.
pub(super) type Sending<'s> = BoxFuture<'s, Result<(), ClientError>>;

/// A request whose answer was brought, or not.
type Answered = (RequestId, Result<(), ClientError>);

/// Requests of the server that are being answered. Dropping it gives them up.
pub(super) struct Answering<'s> {
    answers: Option<Answers>,
    send: Arc<dyn Fn(Response) -> Sending<'s> + Send + Sync + 's>,
    running: FuturesUnordered<Abortable<BoxFuture<'s, Answered>>>,
    /// To take a question back.
    open: HashMap<RequestId, AbortHandle>,
}

impl Answers {
    pub(super) fn new<F, R>(answers: F) -> Self
    where
        F: Fn(Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        Self(Arc::new(move |question| Box::pin(answers(question))))
    }

    pub(super) fn ask(&self, question: Request) -> BoxFuture<'static, Result<Value, ErrorObject>> {
        (self.0)(question)
    }
}

impl<'s> Answering<'s> {
    /// Without `answers` everything but a `ping` is refused.
    pub(super) fn new(
        answers: Option<Answers>,
        send: impl Fn(Response) -> Sending<'s> + Send + Sync + 's,
    ) -> Self {
        Self {
            answers,
            send: Arc::new(send),
            running: FuturesUnordered::new(),
            open: HashMap::new(),
        }
    }

    /// The answer to what needs no callback: a `ping`, and everything where there is none.
    pub(super) fn at_once(&self, request: &Request) -> Option<Response> {
        let outcome = match (request.method.as_str(), &self.answers) {
            ("ping", _) => Payload::of(&Map::new()),
            (method, None) => Err(ErrorObject::method_not_found(method)),
            (_, Some(_)) => return None,
        };
        Some(Response {
            id: Some(request.id.clone()),
            outcome,
        })
    }

    /// Begins to answer a request.
    pub(super) fn take(&mut self, request: Request) {
        if self.running.len() >= MAX_ANSWERING {
            tracing::warn!(id = %request.id, "the server asks too much at once: a request was passed over");
            return;
        }
        let id = request.id.clone();
        let response = match (self.at_once(&request), &self.answers) {
            (None, Some(answers)) => {
                let id = id.clone();
                let answer = answers.ask(request);
                let answer = answer.map(|answer| Response {
                    id: Some(id),
                    outcome: answer.and_then(|result| Payload::of(&result)),
                });
                answer.boxed()
            }
            (Some(response), _) => std::future::ready(response).boxed(),
            (None, None) => return,
        };
        let send = Arc::clone(&self.send);
        let (abort, registration) = AbortHandle::new_pair();
        self.open.insert(id.clone(), abort);
        let answering = async move { (id, send(response.await).await) };
        self.running
            .push(Abortable::new(answering.boxed(), registration));
    }

    /// Gives a request up if that is what the notification says.
    pub(super) fn cancel(&mut self, notification: &Notification) {
        let id = notification.cancelled_request();
        if let Some(abort) = id.and_then(|id| self.open.remove(&id)) {
            abort.abort();
        }
    }

    /// Waits until one more answer is brought to the server. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<(), ClientError> {
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

impl fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Answers")
    }
}
