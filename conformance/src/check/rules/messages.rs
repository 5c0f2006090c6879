//! Every message that the other rules saw, once more.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::rule::{Rule, Verdict, finding};
use super::{EVERYWHERE, MODERN, MUST, SHOULD};
use crate::probe::{Bench, Exchange, SeenMessage};
use crate::schema::misfit;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "messages.schema",
        level: MUST,
        section: "Schema reference (schema.json of the revision)",
        title: "Every message is valid by the official schema of its revision",
        fix: "send all required members with the types of the schema, and leave optional members out instead of sending null",
        scope: EVERYWHERE,
        probe: |bench| fit(bench).boxed(),
    },
    Rule {
        id: "messages.error-codes",
        level: SHOULD,
        section: "2026-07-28, Base protocol, Error codes",
        title: "Errors have no code that only older revisions used, or that is reserved for the protocol",
        fix: "use −32602 for things that do not exist, and codes outside −32768 to −32000 for your own errors",
        scope: MODERN,
        probe: |bench| error_codes(bench).boxed(),
    },
    Rule {
        id: "messages.no-requests",
        level: MUST,
        section: "2026-07-28, Base protocol",
        title: "The server sends no requests",
        fix: "ask the client with a result that needs input (resultType input_required)",
        scope: MODERN,
        probe: |bench| no_requests(bench).boxed(),
    },
];

/// The exchanges whose request has an id and a method, each with that method.
fn sound(seen: &[SeenMessage]) -> impl Iterator<Item = (&str, &Exchange)> {
    seen.iter().filter_map(|(request, exchange)| {
        let request = request.as_ref()?;
        request.get("id")?;
        Some((request.get("method")?.as_str()?, exchange))
    })
}

async fn fit(bench: &mut Bench) -> Verdict {
    let seen = bench.seen();
    for (method, exchange) in sound(&seen) {
        // A server that accepts a handshake answers it for an older revision, even in a modern request.
        if bench.revision.is_modern() && method == "initialize" {
            continue;
        }
        // A refusal over HTTP need not be a JSON-RPC error.
        let is_refused = exchange.status.is_some_and(|status| status >= 300);
        let messages = exchange.messages.iter();
        let mut messages = messages.filter(|it| !is_refused || it.get("jsonrpc").is_some());
        if let Some(misfit) = messages.find_map(|it| misfit(bench.revision, method, it)) {
            return finding(format!("{method}: {misfit}"), exchange);
        }
    }
    Verdict::Holds
}

async fn error_codes(bench: &mut Bench) -> Verdict {
    let seen = bench.seen();
    for (method, exchange) in sound(&seen) {
        let Some(code) = exchange.code() else {
            continue;
        };
        // Those of the protocol are −32020 to −32022; −32002 and −32042 went with older revisions.
        let is_kept = (-32099..=-32023).contains(&code) || (-32019..=-32000).contains(&code);
        if is_kept {
            return finding(format!("{method} was refused with {code}"), exchange);
        }
    }
    Verdict::Holds
}

async fn no_requests(bench: &mut Bench) -> Verdict {
    let seen = bench.seen();
    for (_, exchange) in seen.iter() {
        let is_request = |it: &&Value| it.get("method").is_some() && it.get("id").is_some();
        if let Some(request) = exchange.messages.iter().find(is_request) {
            let method = request.get("method").unwrap_or(&Value::Null);
            return finding(format!("the server sent the request {method}"), exchange);
        }
    }
    Verdict::Holds
}
