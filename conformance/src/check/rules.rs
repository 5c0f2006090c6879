//! All rules, by what they are about.

mod access;
mod base;
mod calls;
mod contents;
mod eras;
mod fitting;
mod habits;
mod headers;
mod http2;
mod lasting;
mod leaving;
mod limits;
mod listens;
mod lists;
mod login;
mod messages;
mod modern;
mod offers;
mod pipes;
mod resumption;
mod rounds;
mod schemas;
mod sessions;
mod tasks;
mod tools;
mod transport;
mod unasked;

use std::time::Duration;

use super::report::Judged;
use super::rule::{Level, Rule, Scope, Transport, unclear, verdict};
use crate::probe::{Exchange, Revision};

pub(super) use listens::wanted;

/// The only rule for a server that supports none of the revisions.
pub(super) const SPEAKS: &str = "handshake.speaks";

/// The rule about a stream that is watched while the others are checked.
pub(super) const KEEP_ALIVE: &str = "http.keep-alive";

/// Every rule, in the order in which they are checked.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        base::RULES,
        sessions::RULES,
        transport::RULES,
        limits::RULES,
        resumption::RULES,
        http2::RULES,
        access::RULES,
        login::RULES,
        modern::RULES,
        eras::RULES,
        headers::RULES,
        listens::RULES,
        lasting::RULES,
        lists::RULES,
        schemas::RULES,
        tools::RULES,
        offers::RULES,
        calls::RULES,
        fitting::RULES,
        habits::RULES,
        leaving::RULES,
        rounds::RULES,
        tasks::RULES,
        lasting::KEPT_ALIVE,
        pipes::RULES,
        // What came while all of these were checked is looked at once more.
        messages::RULES,
        unasked::RULES,
        contents::RULES,
    ];
    groups.into_iter().flatten()
}

/// The rule about a revision that is answered and not served, or of which nothing is known, judged.
pub(super) fn unlisted(revision: Revision, greeting: &Exchange) -> Option<Judged> {
    let (id, outcome) = if greeting.is_lost() {
        (SPEAKS, Err(unclear(greeting.outcome())))
    } else {
        (modern::DISCOVER, modern::discover(revision, greeting))
    };
    let rule = all().find(|rule| rule.id == id)?;
    Some(Judged { rule, revision, verdict: verdict(outcome), elapsed: Duration::ZERO })
}

/// Whether a rule only looks at what came before.
pub(super) fn looks_back(rule: &Rule) -> bool {
    let mut all = [messages::RULES, unasked::RULES, contents::RULES].into_iter().flatten();
    all.any(|it| it.id == rule.id)
}

const MUST: Level = Level::Must;
const SHOULD: Level = Level::Should;
const PRACTICE: Level = Level::Practice;

const EVERYWHERE: Scope =
    Scope { first: Revision::V2024_11_05, last: Revision::V2026_07_28, transport: Transport::Any };
/// The revisions with a handshake.
const LEGACY: Scope = Scope { last: Revision::V2025_11_25, ..EVERYWHERE };
/// The same over Streamable HTTP, which began with 2025-03-26.
const LEGACY_HTTP: Scope =
    Scope { first: Revision::V2025_03_26, last: Revision::V2025_11_25, transport: Transport::Http };
const HTTP: Scope = Scope { first: Revision::V2025_03_26, ..MODERN_HTTP };
const MODERN: Scope = Scope { first: Revision::V2026_07_28, ..EVERYWHERE };
const MODERN_HTTP: Scope = Scope { transport: Transport::Http, ..MODERN };
const STDIO: Scope = Scope { transport: Transport::Stdio, ..EVERYWHERE };
