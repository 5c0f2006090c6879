//! Requests of the modern era: stateless, judged by their own contents.

use http::{StatusCode, request};

use super::answer::Exchange;
use super::body::Holding;
use super::endpoint::Endpoint;
use super::head::Accepts;
use super::head::modern::{Named, judge, match_mirrored, named, unserved};
use super::rejection::{Rejection, Result};
use crate::budget::{Client, Held, Kind};
use crate::call::Called;
use crate::context::{Context, Incoming};
use crate::jsonrpc::{ErrorObject, Notification};
use crate::lifecycle::{MAX_SUBSCRIPTION_BYTES, ModernMeta};
use crate::outbox::Outbox;
use crate::scopes::Wanted;
use crate::server::Server;
use crate::version::Era;

impl Endpoint {
    /// Takes a notification whose version was judged.
    pub(super) fn notified(
        &self,
        head: &mut request::Parts,
        notification: &Notification,
        judged: ModernMeta,
    ) {
        self.server.take(notification, |params| {
            let mut modern = ModernMeta::take(params).unwrap_or(judged);
            let meta = std::mem::take(&mut modern.others);
            let extensions = std::mem::take(&mut head.extensions);
            let incoming = Incoming::unanswered(meta, extensions);
            Some(Context::modern(incoming, modern))
        });
    }

    /// Judges a request and returns a call that has not started yet.
    pub(super) fn call_modern(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        client: Client,
        held: Option<Held>,
        mut called: Called,
    ) -> Result<Exchange> {
        let headers = &head.headers;
        let mut modern = match called.take_modern() {
            Err(error) if error.code == ErrorObject::UNSUPPORTED_VERSION => {
                return Err(unserved(headers, error).into());
            }
            read => read?,
        };
        judge(headers, modern.version.as_str(), called.method(), &named(&called))?;
        if !self.server.knows(called.method()) {
            let error = Server::unknown_method(called.method(), Era::Modern);
            return Err(Rejection::Message(StatusCode::NOT_FOUND, error));
        }
        let called = self.may_call(called, &mut head.extensions)?;
        let listens = called.method() == "subscriptions/listen";
        if listens && !accepts.events {
            return Err(Rejection::NotAcceptable("text/event-stream"));
        }
        client.may_answer()?;
        let mut held = held;
        if let (true, Some(held)) = (listens, &mut held) {
            // A listen drops the rest of its request after the acknowledgment, and may stay open for days.
            held.shrink_to(MAX_SUBSCRIPTION_BYTES);
        }
        let held = Holding {
            call: client.hold(Kind::Calls, 1)?,
            _listener: listens.then(|| client.hold(Kind::Listeners, 1)).transpose()?,
            _request: held,
        };
        let (outbox, notifications) = Outbox::channel();
        let incoming = Incoming {
            request_id: called.id().clone(),
            meta: std::mem::take(&mut modern.others),
            outbox,
            extensions: std::mem::take(&mut head.extensions),
            peer: None,
            client: Some(client),
            max_answer: None,
        };
        let context = Context::modern(incoming, modern);
        // Only once the caller is known: a missing header must not reveal a hidden tool.
        if called.method() == "tools/call"
            && let Named::Member("name", Some(name)) = named(&called)
            && self.server.is_visible(Wanted::Tool(name, None), &context)
        {
            let offered = self.server.offered();
            match_mirrored(&head.headers, offered.tools.mirrored(name), called.arguments())?;
        }
        let call = self.server.handle_owned(called, context);
        let keep_alive = self.config.keep_alive;
        Ok(Exchange::new(call, notifications, keep_alive, held))
    }
}
