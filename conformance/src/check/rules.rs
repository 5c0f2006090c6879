//! All rules, by what they are about.

mod access;
mod base;
mod calls;
mod limits;
mod listens;
mod lists;
mod messages;
mod modern;
mod names;
mod offers;
mod pipes;
mod schemas;
mod sessions;
mod transport;

use super::rule::{Level, Rule, Scope, Transport};
use crate::probe::Revision;

/// The rule that is judged alone where a server speaks none of the revisions.
pub(super) const SPEAKS: &str = "handshake.speaks";

/// Every rule, in the order in which they are asked.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let rooms = [
        base::RULES,
        sessions::RULES,
        transport::RULES,
        limits::RULES,
        access::RULES,
        modern::RULES,
        names::RULES,
        listens::RULES,
        lists::RULES,
        schemas::RULES,
        offers::RULES,
        calls::RULES,
        // What all of these saw is looked at once more.
        messages::RULES,
        pipes::RULES,
    ];
    rooms.into_iter().flatten()
}

const MUST: Level = Level::Must;
const SHOULD: Level = Level::Should;
const PRACTICE: Level = Level::Practice;

const EVERYWHERE: Scope = Scope {
    first: Revision::V2024_11_05,
    last: Revision::V2026_07_28,
    transport: Transport::Any,
};
/// The revisions with a handshake.
const LEGACY: Scope = Scope {
    last: Revision::V2025_11_25,
    ..EVERYWHERE
};
/// The same over Streamable HTTP, which began with 2025-03-26.
const LEGACY_HTTP: Scope = Scope {
    first: Revision::V2025_03_26,
    last: Revision::V2025_11_25,
    transport: Transport::Http,
};
const HTTP: Scope = Scope {
    first: Revision::V2025_03_26,
    ..MODERN_HTTP
};
const MODERN: Scope = Scope {
    first: Revision::V2026_07_28,
    ..EVERYWHERE
};
const MODERN_HTTP: Scope = Scope {
    transport: Transport::Http,
    ..MODERN
};
const STDIO: Scope = Scope {
    transport: Transport::Stdio,
    ..EVERYWHERE
};
