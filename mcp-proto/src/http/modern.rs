//! Requests of the modern era: stateless, judged by their own contents.

use http::header::HeaderMap;
use http::{StatusCode, request};
use serde_json::{Map, Value};

use super::answer::Exchange;
use super::body::Holding;
use super::endpoint::Endpoint;
use super::head::{self, Accepts};
use super::rejection::Rejection;
use crate::budget::{Client, Held, Kind};
use crate::call::Called;
use crate::context::{Context, Incoming};
use crate::jsonrpc::{ErrorObject, Notification};
use crate::lifecycle::{
    MAX_SUBSCRIPTION_BYTES, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, ModernMeta,
};
use crate::outbox::Outbox;
use crate::scopes::Wanted;
use crate::server::Server;
use crate::version::{Era, ProtocolVersion};

/// Whether a request is of the modern era: its `_meta` names a version, or its header one without a handshake.
///
/// An `initialize` without such `_meta` is the handshake, even if its header names a version: it always negotiates.
pub(super) fn is_modern(headers: &HeaderMap, called: &Called) -> bool {
    called.is_claimed() || (called.method() != "initialize" && names_modern(headers))
}

/// Whether a notification is of the modern era.
pub(super) fn is_modern_notification(headers: &HeaderMap, notification: &Notification) -> bool {
    ModernMeta::is_claimed(&notification.params) || names_modern(headers)
}

/// Whether the header names a revision without a handshake, known or not.
pub(crate) fn names_modern(headers: &HeaderMap) -> bool {
    // Revisions are dates, so text order is their order.
    let first = ProtocolVersion::V2026_07_28.as_str().as_bytes();
    let version = head::first(headers, &head::PROTOCOL_VERSION);
    let version = version.map(|version| version.as_bytes().trim_ascii());
    version.is_some_and(|version| version >= first && is_date(version))
}

fn is_date(text: &[u8]) -> bool {
    text.len() == 10
        && text.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Judges the version that a modern notification names, as that of a request. Nothing else of `_meta` is required.
pub(super) fn judge_notification(
    headers: &HeaderMap,
    params: &Map<String, Value>,
) -> Result<ModernMeta, Rejection> {
    head::one_version(headers)?;
    let claimed = params.get("_meta").and_then(|meta| meta.get(META_PROTOCOL_VERSION));
    let named = || head::text(headers, &head::PROTOCOL_VERSION).map(Value::from);
    let mut meta = Map::new();
    if let Some(version) = claimed.cloned().or_else(named) {
        meta.insert(META_PROTOCOL_VERSION.to_owned(), version);
    }
    meta.insert(META_CLIENT_CAPABILITIES.to_owned(), Map::new().into());
    Ok(ModernMeta::take(&mut Map::from_iter([("_meta".to_owned(), meta.into())]))?)
}

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
            let incoming = Incoming::of_notification(meta, extensions);
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
    ) -> Result<Exchange, Rejection> {
        let headers = &head.headers;
        let mut modern = match called.take_modern() {
            // Two versions, both of which may be wrong: the error for their difference comes first.
            Err(error) if error.code == ErrorObject::UNSUPPORTED_VERSION => {
                head::match_version(headers, requested(&error))?;
                return Err(error.into());
            }
            read => read?,
        };
        let (version, named) = (modern.version.as_str(), named(&called));
        let repeats = match named {
            Named::Member(_, Some(name)) => head::repeat(headers, version, called.method(), name),
            _ => false,
        };
        if !repeats {
            head::match_body(headers, version, called.method())?;
        }
        match named {
            Named::Nothing => {}
            Named::Member(_, Some(name)) => {
                if !repeats {
                    head::match_name(headers, name)?;
                }
                if called.method() == "tools/call" && !self.server.hides() {
                    self.match_mirrored(headers, name, &called)?;
                }
            }
            Named::Member(member, None) => head::match_no_name(headers, member)?,
        }
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
        if self.server.hides()
            && called.method() == "tools/call"
            && let Named::Member("name", Some(name)) = self::named(&called)
            && self.server.is_visible(Wanted::Tool(name, None), &context)
        {
            self.match_mirrored(&head.headers, name, &called)?;
        }
        let call = self.server.handle_owned(called, context);
        let keep_alive = self.config.keep_alive;
        Ok(Exchange::new(call, notifications, keep_alive, held))
    }
}

impl Endpoint {
    fn match_mirrored(
        &self,
        headers: &HeaderMap,
        tool: &str,
        called: &Called,
    ) -> Result<(), Rejection> {
        let offered = self.server.offered();
        let mirrored = offered.tools.mirrored(tool);
        Ok(head::match_mirrored(headers, mirrored, called.arguments())?)
    }
}

/// The version that a request was refused for.
fn requested(error: &ErrorObject) -> &str {
    let requested = error.data.as_ref().and_then(|data| data.get("requested"));
    requested.and_then(Value::as_str).unwrap_or_default()
}

/// What the `Mcp-Name` header must repeat, for the methods that name something.
enum Named<'r> {
    /// The method has no name: the header is ignored.
    Nothing,
    /// The member of `params` that the header repeats, and its value; without one, no header can be right.
    Member(&'static str, Option<&'r str>),
}

fn named(called: &Called) -> Named<'_> {
    let member = match called.method() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Named::Nothing,
    };
    Named::Member(member, called.text(member))
}
