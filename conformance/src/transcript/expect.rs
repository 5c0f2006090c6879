//! What a step expects of an answer.

use http::HeaderName;
use serde_json::Value;

use super::fields::Fields;
use crate::error::Problem;
use crate::pattern::Pattern;

/// The `expect` member of a step. What it does not name is not looked at, except the era's own framing of MCP answers.
#[derive(Debug)]
pub(crate) struct Expect {
    pub(crate) status: Option<Pattern>,
    /// Patterns of header values; a header that is not there is absent.
    pub(crate) headers: Vec<(HeaderName, Pattern)>,
    pub(crate) body: BodyExpectation,
    /// The notifications that came on the stream of the answer, in order.
    pub(crate) notifications: Option<Pattern>,
}

/// What the body must be.
#[derive(Debug)]
pub(crate) enum BodyExpectation {
    /// Not looked at.
    Any,
    /// The body is JSON.
    Json(Pattern),
    /// The body as a string.
    Text(Pattern),
    /// The JSON-RPC answer, whether it came as JSON or as the last event of a stream.
    Message(Pattern),
    /// The `result` of the JSON-RPC answer.
    Result(Pattern),
    /// The `error` of the JSON-RPC answer.
    Error(Pattern),
}

/// A member for the expected body, and its meaning.
type BodyMember = (&'static str, fn(Pattern) -> BodyExpectation);

/// Which members an `expect` may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A plain HTTP exchange: `status` and one of `json`, `text`, `message`.
    Http,
    /// An MCP request: one of `result` and `error`.
    Rpc,
    /// The head of a stream: `status`, `headers`.
    Head,
}

impl Expect {
    /// Nothing but this status.
    pub(crate) fn only_status(status: u16) -> Self {
        Self {
            status: status_pattern(status),
            headers: Vec::new(),
            body: BodyExpectation::Any,
            notifications: None,
        }
    }

    /// Expects a result that matches this pattern, without further conditions.
    pub(crate) fn result(pattern: Pattern) -> Self {
        Self { body: BodyExpectation::Result(pattern), ..Self::only_status(200) }
    }

    pub(super) fn parse(source: &Value, of: Of) -> Result<Self, Problem> {
        let mut fields = Fields::of(source)?;
        let mut expect = Self {
            status: fields.parse("status", Pattern::parse)?,
            headers: fields.headers("patterns", Pattern::parse)?,
            body: BodyExpectation::Any,
            notifications: None,
        };
        let kinds: &[BodyMember] = match of {
            Of::Http => &[
                ("json", BodyExpectation::Json),
                ("text", BodyExpectation::Text),
                ("message", BodyExpectation::Message),
            ],
            Of::Rpc => &[("result", BodyExpectation::Result), ("error", BodyExpectation::Error)],
            Of::Head => &[],
        };
        for (name, kind) in kinds {
            if let Some(pattern) = fields.parse(name, Pattern::parse)? {
                if !matches!(expect.body, BodyExpectation::Any) {
                    return Err(
                        Problem::new("only one expectation for the body is allowed").within(name)
                    );
                }
                expect.body = kind(pattern);
            }
        }
        match of {
            Of::Http if expect.status.is_none() => {
                return Err(Problem::new("is missing").within("status"));
            }
            Of::Rpc if matches!(expect.body, BodyExpectation::Any) => {
                return Err(Problem::new("either `result` or `error` is needed"));
            }
            Of::Rpc => {
                expect.notifications = fields.parse("notifications", Pattern::parse)?;
                if matches!(expect.body, BodyExpectation::Result(_)) && expect.status.is_none() {
                    expect.status = status_pattern(200);
                }
            }
            _ => {}
        }
        fields.finish()?;
        Ok(expect)
    }

    /// The patterns in the order in which they are compared.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let body = match &self.body {
            BodyExpectation::Any => None,
            BodyExpectation::Json(pattern)
            | BodyExpectation::Text(pattern)
            | BodyExpectation::Message(pattern)
            | BodyExpectation::Result(pattern)
            | BodyExpectation::Error(pattern) => Some(pattern),
        };
        self.status
            .iter()
            .chain(self.headers.iter().map(|(_, pattern)| pattern))
            .chain(&self.notifications)
            .chain(body)
    }
}

fn status_pattern(status: u16) -> Option<Pattern> {
    Some(Pattern::number(status.into()))
}
