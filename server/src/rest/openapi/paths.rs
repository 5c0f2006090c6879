//! The paths and what each does.

use serde_json::{Map, Value, json};

use super::super::{tree, universes};
use super::parts::{part, revision, schema};
use crate::picture;
use crate::view::{MAX_PLACES, MAX_SEPARATED, history};

pub(crate) fn health() -> Value {
    get("getHealth", "How long the server has been up.", "Ok")
}

pub(crate) fn alive() -> Value {
    get("isAlive", "Whether the server runs.", "Ok")
}

pub(crate) fn ready() -> Value {
    get(
        "isReady",
        "Whether its store answers, else 503; and whether the last write found no room in it.",
        "Ok",
    )
}

pub(crate) fn version() -> Value {
    get("getVersion", "The program, and the MCP revisions that it supports.", "Version")
}

/// An operation being described.
struct Operation(Map<String, Value>);

impl Operation {
    fn new(id: &str, summary: &str) -> Self {
        let operation = json!({ "operationId": id, "summary": summary, "responses": {} });
        let members = operation.as_object().cloned().unwrap_or_default();
        let operation = Self(members);
        operation.failing(&[("default", "Otherwise")])
    }

    fn with(mut self, member: &str, value: Value) -> Self {
        self.0.insert(member.to_owned(), value);
        self
    }

    fn taking(self, parameters: &[Value]) -> Self {
        self.with("parameters", parameters.into())
    }

    /// Adds a required body.
    fn sending(self, name: &str) -> Self {
        let content = json!({ "application/json": { "schema": schema(name) } });
        self.with("requestBody", json!({ "required": true, "content": content }))
    }

    fn answering(mut self, status: &str, response: Value) -> Self {
        if let Some(Value::Object(responses)) = self.0.get_mut("responses") {
            responses.insert(status.to_owned(), response);
        }
        self
    }

    /// Adds a JSON response with headers.
    fn giving(self, status: &str, what: &str, body: &Value, headers: &[&str]) -> Self {
        let content = json!({ "application/json": { "schema": body } });
        self.answering(status, response(what, &content, headers))
    }

    fn done(self) -> Value {
        self.0.into()
    }

    fn failing(self, failures: &[(&str, &str)]) -> Self {
        failures.iter().fold(self, |operation, (status, name)| {
            operation.answering(status, part("responses", name))
        })
    }
}

fn response(description: &str, content: &Value, headers: &[&str]) -> Value {
    let headers: Map<_, _> =
        headers.iter().map(|name| ((*name).to_owned(), part("headers", name))).collect();
    json!({ "description": description, "content": content, "headers": headers })
}

pub(crate) fn id() -> Value {
    json!([part("parameters", "id")])
}

fn query(name: &str, schema: &Value, description: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": schema, "description": description })
}

fn count(name: &str, default: u64, most: u64, of: &str) -> Value {
    let schema = json!({ "type": "integer", "minimum": 1, "maximum": most, "default": default });
    query(name, &schema, of)
}

fn cursor() -> Value {
    query(
        "cursor",
        &json!({ "type": "string" }),
        "The cursor in the Link header of the previous page.",
    )
}

fn number(name: &str, description: &str) -> Value {
    query(name, &revision(), description)
}

fn get(id: &str, summary: &str, body: &str) -> Value {
    let operation = Operation::new(id, summary);
    operation.giving("200", summary, &schema(body), &[]).done()
}

pub(crate) fn metrics() -> Value {
    let text = json!({ "schema": { "type": "string" } });
    let content = json!({ "text/plain": text, "application/openmetrics-text": text });
    Operation::new(
        "getMetrics",
        "The metrics of the server, for Prometheus, in the format that Accept names.",
    )
    .answering("200", response("Figures.", &content, &[]))
    .done()
}

pub(crate) fn described() -> Value {
    Operation::new("describe", "This document.")
        .giving("200", "This document.", &json!({ "type": "object" }), &[])
        .done()
}

pub(crate) fn list() -> Value {
    let view = json!({ "enum": ["full", "summary"], "default": "full" });
    let body = json!({ "type": "array", "items": schema("Universe") });
    Operation::new("listUniverses", "The universes, the newest first, a page at a time.")
        .taking(&[
            count(
                "limit",
                universes::DEFAULT_LIMIT as u64,
                universes::MAX_LIMIT as u64,
                "Universes per page.",
            ),
            cursor(),
            query("view", &view, "`summary` leaves the states out."),
        ])
        .giving("200", "A page.", &body, &["Link"])
        .failing(&[("400", "Malformed")])
        .done()
}

pub(crate) fn create() -> Value {
    Operation::new("createUniverse", "Creates a universe.")
        .taking(&[part("parameters", "idempotencyKey")])
        .sending("NewUniverse")
        .giving("201", "The universe.", &schema("Universe"), &["ETag", "Location"])
        .failing(&WRITING)
        .failing(&[("404", "NotFound"), ("410", "Gone"), ("422", "Refused")])
        .done()
}

pub(crate) fn read() -> Value {
    Operation::new("getUniverse", "A universe with its state.")
        .taking(&[
            number("revision", "As it was at this revision."),
            part("parameters", "ifNoneMatch"),
        ])
        .giving("200", "The universe.", &schema("Universe"), &["ETag"])
        .answering("304", unchanged())
        .failing(&OF_ONE)
        .failing(&[("410", "Gone")])
        .done()
}

pub(crate) fn replace() -> Value {
    Operation::new("replaceUniverse", "Gives a universe another name, another state, or both.")
        .taking(&[part("parameters", "ifMatch")])
        .sending("Replacement")
        .giving("200", "The universe.", &schema("Universe"), &["ETag"])
        .failing(&OF_ONE)
        .failing(&WRITING)
        .failing(&[("412", "Stale")])
        .done()
}

pub(crate) fn delete() -> Value {
    Operation::new("deleteUniverse", "Deletes a universe with its history, for good.")
        .taking(&[part("parameters", "ifMatch")])
        .answering("204", json!({ "description": "Deleted." }))
        .failing(&OF_ONE)
        .failing(&[("412", "Stale")])
        .done()
}

pub(crate) fn svg() -> Value {
    drawn("drawSvg", "image/svg+xml")
}

pub(crate) fn png() -> Value {
    drawn("drawPng", "image/png")
}

fn drawn(id: &str, media: &str) -> Value {
    let (least, most) = picture::SIDES;
    let side = json!({ "type": "integer", "minimum": least, "maximum": most });
    let content = json!({ media: { "schema": {} } });
    Operation::new(id, "A chart of the systems of a universe, seen from above.")
        .taking(&[
            query("width", &side, "Pixels."),
            query("height", &side, "Pixels."),
            query(
                "time",
                &instant(),
                "A date, simulated seconds or `now`; the universe's own time by default.",
            ),
            query("theme", &json!({ "enum": picture::THEMES }), "Colours."),
            query(
                "focus",
                &json!({ "type": "string" }),
                "The id of a body or group that is shown with what is below it.",
            ),
            part("parameters", "ifNoneMatch"),
        ])
        .answering("200", response("The picture.", &content, &["ETag"]))
        .answering("304", unchanged())
        .failing(&OF_ONE)
        .done()
}

pub(crate) fn command() -> Value {
    Operation::new("sendCommand", "Changes a universe by one command, or by a list of them.")
        .taking(&[
            part("parameters", "result"),
            part("parameters", "ifMatch"),
            part("parameters", "idempotencyKey"),
        ])
        .sending("Commands")
        .giving("200", "What is different now.", &schema("CommandAnswer"), &["ETag"])
        .failing(&OF_ONE)
        .failing(&WRITING)
        .failing(&[("412", "Stale"), ("422", "Refused")])
        .done()
}

pub(crate) fn feed() -> Value {
    let content = json!({ "text/event-stream": { "schema": { "type": "string" } } });
    let last = json!({
        "name": "Last-Event-ID", "in": "header", "schema": revision(),
        "description": "The revision after which the feed continues.",
    });
    Operation::new(
        "watchUniverse",
        "Each command as it happens, as server-sent events; the id of each is its revision.",
    )
    .taking(&[last])
    .answering("200", response("The feed, which does not end.", &content, &[]))
    .failing(&OF_ONE)
    .done()
}

pub(crate) fn past() -> Value {
    Operation::new("getHistory", "Commands with their events, the oldest first, a page at a time.")
        .taking(&[
            number("after", "Those after this revision; the latest by default."),
            count("limit", history::DEFAULT_LIMIT, history::MAX_LIMIT, "Entries per page."),
        ])
        .giving("200", "A page.", &schema("History"), &["Link"])
        .failing(&OF_ONE)
        .failing(&[("410", "Gone")])
        .done()
}

pub(crate) fn outline() -> Value {
    let content = json!({ "text/plain": { "schema": { "type": "string" } } });
    Operation::new(
        "getTree",
        "What orbits what, and what is in which group, as indented text, a page at a time.",
    )
    .taking(&[count("limit", tree::DEFAULT_LIMIT, tree::MAX_LIMIT, "Entities per page."), cursor()])
    .answering(
        "200",
        response("A page; all pages are of one revision.", &content, &["ETag", "Link"]),
    )
    .failing(&OF_ONE)
    .failing(&[("410", "Gone")])
    .done()
}

pub(crate) fn placed() -> Value {
    let text = json!({ "type": "string" });
    let some = json!({ "type": "string", "pattern": "[^,\\s]" });
    let two = json!({ "type": "string", "pattern": "[^,\\s].*,.*[^,\\s]" });
    let most = u64::try_from(MAX_PLACES).unwrap_or(u64::MAX);
    let separated = format!(
        "Ids, separated by commas, 2 to {MAX_SEPARATED}: the angles between each two are given."
    );
    Operation::new(
        "getPlaces",
        "Where bodies are at a time: ecliptic positions, distances and directions.",
    )
    .taking(&[
        query(
            "at",
            &instant(),
            "A date, simulated seconds or `now`; the universe's own time by default.",
        ),
        query("bodies", &some, "Ids, separated by commas; all by default, a page at a time."),
        query(
            "from",
            &text,
            "The id of the body that they are seen from; the world's origin by default.",
        ),
        query("separations", &two, &separated),
        count("limit", most, most, "Bodies per page."),
        query("cursor", &text, "The `next` of the page before."),
    ])
    .giving("200", "The places.", &schema("Places"), &["ETag"])
    .failing(&OF_ONE)
    .done()
}

/// A time in a query.
fn instant() -> Value {
    let date = json!({ "type": "string", "format": "date-time" });
    json!({
        "anyOf": [date, { "type": "number", "minimum": -1e15, "maximum": 1e15 }, { "const": "now" }],
        "examples": ["2026-11-27T00:00:00Z", 86_400, "now"],
    })
}

pub(crate) fn undo() -> Value {
    let body = json!({
        "type": "object",
        "properties": { "revision": revision() },
        "required": ["revision"],
        "additionalProperties": false,
    });
    let content = json!({ "application/json": { "schema": body } });
    Operation::new("undo", "Sets the state back to that of a revision, as a new revision.")
        .taking(&[part("parameters", "ifMatch")])
        .with("requestBody", json!({ "required": true, "content": content }))
        .giving("200", "The universe.", &schema("Universe"), &["ETag"])
        .failing(&OF_ONE)
        .failing(&WRITING)
        .failing(&[("410", "Gone"), ("412", "Stale")])
        .done()
}

/// Possible errors of a request about one universe.
const OF_ONE: [(&str, &str); 2] = [("400", "Malformed"), ("404", "NotFound")];

/// Possible errors of a request with a body.
const WRITING: [(&str, &str); 3] = [("400", "Malformed"), ("413", "TooLarge"), ("415", "NotJson")];

fn unchanged() -> Value {
    json!({ "description": "Not changed: the client has it.", "headers": { "ETag": part("headers", "ETag") } })
}
