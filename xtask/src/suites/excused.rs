//! Checks that need not pass, each with a reason. An entry that no longer excuses anything is itself a finding.

use super::results::Status;

/// One check of one scenario, in every run that has the scenario.
#[derive(Debug)]
pub(super) struct Excuse {
    pub(super) scenario: &'static str,
    pub(super) check: &'static str,
    /// A part of the suite's text, if several results have the same check; empty otherwise.
    pub(super) saying: &'static str,
    /// The excused status: only [`Status::Skipped`] or [`Status::Info`].
    pub(super) status: Status,
    /// The reason for the excuse. It is reported with each skip.
    pub(super) reason: &'static str,
}

/// Lines of a suite's trace of a scenario. They are not checks, so they may be [`Status::Info`] everywhere.
pub(super) const TRACES: [&str; 11] = [
    "incoming-auth-request",
    "incoming-request",
    "incoming-response",
    "incoming-sse-event",
    "outgoing-auth-response",
    "outgoing-request",
    "outgoing-response",
    "outgoing-sse-event",
    "outgoing-stream-close",
    "server-info",
    "stream-closed",
];

const MODERN: &str =
    "a client of 2026-07-28 makes no handshake, and the header is of that revision";

pub(super) const EXCUSED: [Excuse; 5] = [
    Excuse {
        scenario: "tasks-status-notifications",
        check: "tasks-status-notifications",
        saying: "",
        status: Status::Skipped,
        reason: "the suite has no test for it yet and skips it for every server",
    },
    Excuse {
        scenario: "server-sse-multiple-streams",
        check: "server-sse-streams-functional",
        saying: "",
        status: Status::Info,
        reason: "a server may answer tools/list with JSON, as ours does; the suite looks only at event streams",
    },
    Excuse {
        scenario: "auth/scope-retry-limit",
        check: "scope-retry-auth-attempt",
        saying: "",
        status: Status::Info,
        reason: "the suite counts the authorizations one by one, and judges their number by another check",
    },
    Excuse {
        scenario: "http-standard-headers",
        check: "sep-2243-client-includes-standard-headers",
        saying: "did not send a initialize request",
        status: Status::Skipped,
        reason: MODERN,
    },
    Excuse {
        scenario: "http-standard-headers",
        check: "sep-2243-client-includes-standard-headers",
        saying: "did not send a notifications/initialized request",
        status: Status::Skipped,
        reason: MODERN,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::run::scenarios;
    use super::*;

    #[test]
    fn only_what_was_not_looked_at_is_excused_once_and_with_a_reason() {
        let mut seen = BTreeSet::new();
        for excuse in &EXCUSED {
            assert!(matches!(excuse.status, Status::Skipped | Status::Info), "{}", excuse.check);
            assert!(scenarios().any(|scenario| scenario == excuse.scenario), "{}", excuse.check);
            assert!(excuse.reason.len() > 20, "{}", excuse.check);
            assert!(
                seen.insert((excuse.scenario, excuse.check, excuse.saying)),
                "{}",
                excuse.check
            );
        }
    }
}
