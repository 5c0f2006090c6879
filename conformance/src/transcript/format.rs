//! The lines of a transcript as they are written, and the JSON Schema of that.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use crate::json::put;

/// The JSON Schema (2020-12) of one line of a transcript, version 1.
pub fn transcript_schema() -> Value {
    let mut schema = schema_for!(Line).to_value();
    put(&mut schema, "title", "A line of an MCP transcript, version 1");
    schema
}

/// Any JSON in which an object with one member that begins with `$` is a matcher.
pub(crate) type Expected = Value;
/// Any JSON in which `{"$var": name}` and `${name}` stand for variables.
pub(crate) type Filled = Value;

/// One line: the header, which comes first, or a step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line {
    Header(Header),
    Step(Box<Step>),
}

/// The first line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// The version of the format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub(crate) transcript: u8,
    /// What reports call it.
    #[schemars(length(min = 1))]
    pub(crate) name: String,
    /// What it shows.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(crate) title: String,
    /// The requirements it covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<OneOrMore>,
    /// The eras it can be replayed in; both if absent.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) eras: Vec<EraName>,
    /// The special server it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixture: Option<String>,
    /// The path of the MCP endpoint; `/mcp` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EraName {
    Legacy,
    Modern,
}

/// One string or an array of strings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the recorder writes none; the schema knows them")]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// A step: what it does, in which era alone, and what it shows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Step {
    /// The only era it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) era: Option<EraName>,
    /// What it shows, for reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(flatten)]
    pub(crate) action: Action,
}

/// What a step does. The documentation of the crate explains each.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the recorder writes some of them; the schema knows all")]
pub(crate) enum Action {
    Open(Open),
    Mcp(Mcp),
    Stream(Stream),
    Http(Http),
    Await(Await),
    Silent { silent: OneOrMore, r#while: Vec<Step> },
    End { end: String },
    Close { close: String },
    Check { check: String, is: Expected },
    Parallel { parallel: Vec<Vec<Step>> },
}

/// Opens an MCP client.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Open {
    pub(crate) open: String,
    /// The revision offered; the newest of the era if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<Value>,
    #[serde(rename = "clientInfo", skip_serializing_if = "Option::is_none")]
    pub(crate) client_info: Option<Value>,
    /// The answers to questions of the server.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) answers: Vec<ScriptedAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect: Option<Expect>,
}

/// Each is used once, for the first question it fits; the last that fits is used again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedAnswer {
    /// Such as `elicitation/create`.
    pub(crate) method: String,
    /// The questions it is for; all of the method if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Filled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Filled>,
    /// Whether the server may leave the question out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) optional: Option<bool>,
}

/// An MCP request or notification.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Mcp {
    pub(crate) mcp: Message,
    /// The client that sends it; `main` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect: Option<Expect>,
}

/// Either `method`, a request, or `notify`, a notification.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notify: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<Filled>,
}

/// What the answer must be. What is absent is not looked at.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Expected>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) headers: BTreeMap<String, Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notifications: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Expected>,
}

/// Opens an event stream, by an HTTP request or for what answers no request.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Stream {
    pub(crate) stream: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http: Option<HttpRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<Filled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ignore: Option<OneOrMore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect: Option<Expect>,
}

/// A plain HTTP exchange.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Http {
    pub(crate) http: HttpRequest,
    pub(crate) expect: Expect,
}

/// The body is `json`, `text` or empty.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<Filled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// Waits for one of `event`, `message`, `comment`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Await {
    pub(crate) r#await: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<Expected>,
}
