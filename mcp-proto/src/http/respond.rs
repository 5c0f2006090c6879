//! One HTTP request, from its head to its response. The eras part in `Inner::next`, once the body is parsed; how a
//! modern call is answered is in `answer.rs`, a legacy one in `legacy/http.rs`.
//!
//! This future is allocated for every request. The parts that few requests reach are boxed in it. Values that many
//! requests pass on are borrowed or captured, because an `async fn` keeps two copies of its arguments.

use std::fmt::Display;
use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either};
use http::{Request, Response, request};
use http_body::Body;

use super::answer::{self, Exchange, refusal};
use super::body::ResponseBody;
#[cfg(feature = "compression")]
use super::encoding;
use super::head::modern::{is_modern, is_modern_notification, judge_notification, names_modern};
use super::head::{self, Accepts, Noted, Verb};
use super::reading::{self, Arrived, LongTurn, Text};
use super::rejection::{Refused, Rejection};
use super::{Inner, cors, documents};
use crate::budget::{Client, Over};
use crate::call::IncomingMessage;
use crate::json::Meter;
use crate::legacy::http::Legacy;

/// Answers a request.
pub(super) fn respond<B>(
    service: Arc<Inner>,
    request: Request<B>,
) -> impl Future<Output = Response<ResponseBody>>
where
    B: Body,
    B::Error: Display,
{
    let (mut head, body) = request.into_parts();
    async move {
        let mut body = pin!(body);
        let client = service.endpoint.client(&head);
        let mut noted = Noted::default();
        let answered = service.answer(&mut head, body.as_mut(), &client, &mut noted);
        let answered = answered.await;
        let response = answered.map_or_else(
            |refused| Either::Left(Box::pin(service.refused(refused, &head, body, &client))),
            |response| Either::Right(ready(response)),
        );
        let mut response = response.await;
        #[cfg(feature = "compression")]
        if encoding::is_due(&response) {
            Box::pin(encoding::encode(&mut response, &head.headers, &client)).await;
        }
        if noted.has_origin {
            let origins = &service.endpoint.config.origins;
            cors::expose(&mut response, &head.headers, origins);
        }
        response
    }
}

/// How a message is handled.
enum Next<'h> {
    Answered(Response<ResponseBody>),
    /// A modern call that begins.
    Call(Exchange, Accepts, LongTurn),
    /// A message of a session.
    Session(BoxFuture<'h, Result<Response<ResponseBody>, Refused>>),
}

impl Next<'_> {
    fn response(self) -> impl Future<Output = Result<Response<ResponseBody>, Refused>> + Send {
        match self {
            Self::Answered(response) => Either::Left(ready(Ok(response))),
            Self::Call(exchange, accepts, turn) => {
                let response = turn.begin(exchange.respond(accepts)).map(Ok);
                Either::Right(Either::Left(response))
            }
            Self::Session(response) => Either::Right(Either::Right(response)),
        }
    }
}

impl Inner {
    async fn answer<B>(
        &self,
        head: &mut request::Parts,
        body: Pin<&mut B>,
        client: &Client,
        noted: &mut Noted,
    ) -> Result<Response<ResponseBody>, Refused>
    where
        B: Body,
        B::Error: Display,
    {
        let (endpoint, config) = (&self.endpoint, &self.endpoint.config);
        if let Some(document) = documents::answer(head, config) {
            return Ok(document);
        }
        let (verb, accepts) = head::judge(head, config, noted)?;
        if noted.has_copies {
            head::unite_copies(&mut head.headers);
        }
        // A preflight carries no token. The request that it allows still needs one.
        let named = match &config.authorization {
            Some(authorization) if verb != Verb::Preflight => {
                Box::pin(authorization.admit(head)).await?;
                // By its name from here on.
                Some(endpoint.client(head))
            }
            _ => None,
        };
        let client = named.as_ref().unwrap_or(client);
        let next = match verb {
            Verb::Post => {
                let text = reading::read(body, &head.headers, noted.length, config, client);
                let text = text.await?;
                if Legacy::may_be_batch(head, text.as_slice()) {
                    Next::Session(Box::pin(self.batch(head, accepts, client, text)))
                } else {
                    let (message, arrived) = self.parse(text).await?;
                    self.next(head, accepts, client, message, arrived)?
                }
            }
            Verb::Preflight => Next::Answered(cors::preflight(&head.headers)),
            _ if names_modern(&head.headers) => return Err(Rejection::NoSessions.into()),
            Verb::Get => Next::Session(Box::pin(self.legacy.open_stream(head, client))),
            Verb::Delete => Next::Session(Box::pin(self.legacy.end_session(head))),
        };
        next.response().await
    }

    async fn parse(&self, text: Text) -> Result<(IncomingMessage, Arrived), Refused> {
        let read = |text: &[u8], meter: &Meter| {
            IncomingMessage::read(text, meter).map_err(Rejection::of_unread)
        };
        text.parse(self.endpoint.config.max_body_memory, read).await
    }

    /// Decides how a message is handled.
    fn next<'h>(
        &'h self,
        head: &'h mut request::Parts,
        accepts: Accepts,
        client: &Client,
        message: IncomingMessage,
        arrived: Arrived,
    ) -> Result<Next<'h>, Refused> {
        let (endpoint, client) = (&self.endpoint, client.clone());
        Ok(match message {
            IncomingMessage::Request(called) if is_modern(&head.headers, &called) => {
                let id = called.id().clone();
                let Arrived { held, turn } = arrived;
                let exchange = endpoint.call_modern(head, accepts, client, held, called);
                let exchange = exchange.map_err(|rejection| Refused(rejection, Some(id)))?;
                Next::Call(exchange, accepts, turn)
            }
            IncomingMessage::Notification(notification)
                if is_modern_notification(&head.headers, &notification) =>
            {
                let judged = judge_notification(&head.headers, &notification.params)?;
                endpoint.notified(head, &notification, judged);
                Next::Answered(answer::accepted())
            }
            message => Next::Session(self.legacy.post(head, accepts, client, arrived, message)),
        })
    }

    /// A body that is a batch if its session supports batches, and an error otherwise.
    async fn batch(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        client: &Client,
        text: Text,
    ) -> Result<Response<ResponseBody>, Refused> {
        if let Some(session) = self.legacy.batch_session(head).await? {
            let called = self.legacy.call_batch(head, accepts, client, &session, text);
            return called.await;
        }
        let (message, arrived) = self.parse(text).await?;
        let next = self.next(head, accepts, client, message, arrived)?;
        next.response().await
    }

    /// The response for a refusal. It is delayed if the client holds its full share or is not authorized.
    async fn refused<B: Body>(
        &self,
        Refused(rejection, id): Refused,
        head: &request::Parts,
        body: Pin<&mut B>,
        client: &Client,
    ) -> Response<ResponseBody> {
        if !rejection.is_of_body() {
            reading::discard(body, &head.headers, &self.endpoint.config, client).await;
        }
        if let Rejection::Unauthorized(_) | Rejection::Over(Over { is_share: true, .. }) = rejection
        {
            client.refusal().await;
        }
        if self.logged_rejections.is_new(&rejection) {
            tracing::warn!(
                ?rejection,
                "refused a request; further ones alike are logged at debug level"
            );
        } else {
            tracing::debug!(?rejection, "refused a request");
        }
        refusal(Refused(rejection, id))
    }
}
