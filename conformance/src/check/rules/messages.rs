//! Every message that the other rules saw, against the types that the schema of its revision gives to its members.

mod types;

use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::rule::{Rule, Verdict, finding};
use super::{EVERYWHERE, MODERN, MUST, SHOULD};
use crate::probe::{Bench, Exchange};
use types::wrong;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "messages.types",
        level: MUST,
        section: "Schema reference",
        title: "Members of results and notifications have the types that the schema of the revision gives them",
        fix: "send each member as the schema has it, or leave it out: null is not the same as absent",
        scope: EVERYWHERE,
        probe: |bench| types_fit(bench).boxed(),
    },
    Rule {
        id: "messages.error-codes",
        level: SHOULD,
        section: "2026-07-28, Base protocol, Error codes",
        title: "Errors have no code that older revisions used, or that the protocol keeps for itself",
        fix: "use −32602 for what there is not, and codes outside −32768 to −32000 for what is your own",
        scope: MODERN,
        probe: |bench| error_codes(bench).boxed(),
    },
    Rule {
        id: "messages.no-requests",
        level: MUST,
        section: "2026-07-28, Base protocol",
        title: "The server sends no requests",
        fix: "ask the client by a result that needs input",
        scope: MODERN,
        probe: |bench| no_requests(bench).boxed(),
    },
];

/// What was exchanged over a request that is one without doubt.
fn sound(bench: &Bench) -> impl Iterator<Item = (&str, &Exchange)> {
    bench.seen.iter().filter_map(|(request, exchange)| {
        let request = request.as_ref()?;
        request.get("id")?;
        Some((request.get("method")?.as_str()?, exchange))
    })
}

async fn types_fit(bench: &mut Bench) -> Verdict {
    for (method, exchange) in sound(bench) {
        for message in &exchange.messages {
            if let Some(problem) = wrong(method, message, bench.revision) {
                return finding(problem, exchange);
            }
        }
    }
    Verdict::Holds
}

async fn error_codes(bench: &mut Bench) -> Verdict {
    for (method, exchange) in sound(bench) {
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
    for (_, exchange) in &bench.seen {
        let is_request = |it: &&Value| it.get("method").is_some() && it.get("id").is_some();
        if let Some(request) = exchange.messages.iter().find(is_request) {
            let method = request.get("method").unwrap_or(&Value::Null);
            return finding(format!("it sent the request {method}"), exchange);
        }
    }
    Verdict::Holds
}
