//! The rows of the table: servers that are broken in one way each, and the step that must find it out.

use mcp_conformance::Era;

use super::Fault;

/// One row of the table: how a server is broken, and the step that must find it out.
#[derive(Clone)]
pub(crate) struct Mutation {
    pub(crate) transcript: &'static str,
    pub(crate) eras: &'static [Era],
    /// What is wrong with the server.
    pub(crate) broken: &'static str,
    /// Part of the note of the step at which the transcript must fail.
    pub(crate) found_at: &'static str,
    pub(crate) fault: fn() -> Fault,
}

/// The rows of one transcript.
pub(crate) fn of<const N: usize>(transcript: &'static str, rows: [Row; N]) -> Vec<Mutation> {
    let of = |(flaw, fault): Row| Mutation {
        transcript,
        eras: flaw.eras,
        broken: flaw.broken,
        found_at: flaw.found_at,
        fault,
    };
    rows.map(of).into()
}

/// A mutation before its transcript is known.
type Row = (Flaw, fn() -> Fault);

/// What is wrong in which eras, and where it must be found.
pub(crate) struct Flaw {
    eras: &'static [Era],
    broken: &'static str,
    found_at: &'static str,
}

impl Flaw {
    /// What causes it.
    pub(crate) fn by(self, fault: fn() -> Fault) -> Row {
        (self, fault)
    }
}

/// A server of both eras that is `broken` so, which the step `found_at` must find out.
pub(crate) fn both(broken: &'static str, found_at: &'static str) -> Flaw {
    Flaw { eras: &Era::ALL, broken, found_at }
}

/// The same for the legacy era alone.
pub(crate) fn legacy(broken: &'static str, found_at: &'static str) -> Flaw {
    Flaw { eras: &[Era::Legacy], broken, found_at }
}

/// The same for the modern era alone.
pub(crate) fn modern(broken: &'static str, found_at: &'static str) -> Flaw {
    Flaw { eras: &[Era::Modern], broken, found_at }
}
