//! What operations share: schemas, parameters, headers, and answers to requests that were not done.

use serde_json::{Map, Value, json};
use universe_core::catalog;
use universe_core::generate::{MAX_SYSTEMS, Preset, Scale, Style};

use crate::commands::{MAX_COMMANDS, Replacement};
use crate::store::{CommandId, Revision};
use crate::view::ResultForm;

/// A reference to a component of this kind.
pub(super) fn part(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

pub(super) fn schema(name: &str) -> Value {
    part("schemas", name)
}

pub(super) fn schemas() -> Value {
    let mut schemas = json!({
        "Failure": {
            "type": "object",
            "description": "Why a request failed.",
            "properties": {
                "error": { "type": "string", "description": "One sentence for people." },
                "findings": { "type": "array", "items": schema("Finding"), "description": "Everything that is wrong with the body." },
                "code": { "type": "string", "description": "Why the universe refused a command." },
                "events": { "type": "array", "items": schema("Event") },
                "revision": { "type": "integer", "description": "The current revision, if another one was expected." },
                "oldest": { "type": "integer", "description": "The oldest revision that is kept." },
            },
            "required": ["error"],
        },
        "Finding": {
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "A JSON Pointer into the body." },
                "message": { "type": "string" },
            },
            "required": ["path", "message"],
        },
        "Event": { "type": "object", "properties": { "type": { "type": "string" } }, "required": ["type"] },
        "State": state(),
        "Universe": universe(),
        "Recipe": recipe(),
        "NewUniverse": new_universe(),
        "Replacement": {
            "type": "object",
            "properties": { "name": name(), "state": schema("State") },
        },
        "Commands": {
            "description": "One command, or a list that is applied as a whole or not at all.",
            "anyOf": [
                schema("Command"),
                { "type": "array", "items": schema("Command"), "minItems": 1, "maxItems": MAX_COMMANDS },
            ],
        },
        "CommandAnswer": {
            "type": "object",
            "properties": {
                "revision": { "type": "integer" },
                "time": { "type": "number", "description": "Simulated seconds." },
                "events": { "type": "array", "items": schema("Event") },
                "changes": { "type": "object", "description": "Each entity that was created or changed, whole, and the ids that were removed." },
                "nextState": schema("State"),
                "warnings": { "type": "array", "items": schema("Finding") },
            },
            "required": ["events"],
        },
        "History": {
            "type": "object",
            "properties": {
                "revision": { "type": "integer", "description": "The present one." },
                "entries": { "type": "array", "items": schema("Entry") },
                "next": { "type": "integer", "description": "`after` of the next page; absent on the last." },
            },
            "required": ["revision", "entries"],
        },
        "Entry": {
            "type": "object",
            "properties": {
                "revision": { "type": "integer" },
                "at": { "type": "string", "format": "date-time" },
                "command": { "type": "object" },
                "events": { "type": "array", "items": schema("Event") },
                "replaced": { "type": "object", "description": "What a PUT replaced." },
                "damaged": { "type": "boolean", "description": "The entry cannot be read." },
            },
            "required": ["revision"],
        },
        "Places": {
            "type": "object",
            "properties": {
                "universe": { "type": "string" },
                "at": { "type": ["string", "null"], "format": "date-time", "description": "Null if the universe has no epoch." },
                "time": { "type": "number", "description": "Simulated seconds." },
                "frame": { "const": "ecliptic-j2000", "description": "x to the vernal equinox, z to the north, angles in degrees." },
                "unit": { "type": ["string", "null"], "description": "Of lengths; null if the universe names none." },
                "from": { "type": ["string", "null"] },
                "note": { "type": "string", "description": "What makes the places doubtful; absent otherwise." },
                "places": { "type": "array", "items": schema("Place") },
                "separations": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "between": { "type": "array", "items": { "type": "string" } }, "degrees": { "type": "number" } },
                    "required": ["between", "degrees"],
                } },
                "next": { "type": "string", "description": "`cursor` of the next page; absent on the last." },
            },
            "required": ["universe", "at", "time", "frame", "unit", "from", "places"],
        },
        "Place": {
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "x": { "type": "number" },
                "y": { "type": "number" },
                "z": { "type": "number" },
                "distance": { "type": "number" },
                "longitude": { "type": ["number", "null"] },
                "latitude": { "type": ["number", "null"] },
            },
            "required": ["id", "x", "y", "z", "distance", "longitude", "latitude"],
        },
        "Ok": {
            "type": "object",
            "properties": { "ok": { "const": true }, "uptime": { "type": "integer", "description": "Seconds." }, "copies": { "type": "integer", "minimum": 1, "description": "How many copies the store keeps of each entry, if known." } },
            "required": ["ok"],
        },
        "Version": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "version": { "type": "string" },
                "mcp": { "type": "array", "items": { "type": "string" }, "description": "Revisions of MCP, the newest first." },
            },
            "required": ["name", "version", "mcp"],
        },
    });
    let commands: Map<_, _> = catalog::commands()
        .map(|spec| {
            let mut schema = spec.exact_schema();
            insert(&mut schema, "examples", json!([spec.example()]));
            (name_of(spec.kind.name()), schema)
        })
        .collect();
    let names = commands.keys().map(|name| schema(name)).collect::<Vec<_>>();
    insert(&mut schemas, "Command", json!({ "oneOf": names }));
    if let Value::Object(schemas) = &mut schemas {
        schemas.extend(commands);
    }
    schemas
}

/// The name of a command's schema.
fn name_of(kind: &str) -> String {
    let mut letters = kind.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain("Command".chars()).collect()
}

/// A whole state, as in the command that replaces one. An absent family is empty.
fn state() -> Value {
    let command = catalog::command("replaceSnapshot").map(|spec| spec.exact_schema());
    let state = command.and_then(|schema| schema.pointer("/properties/snapshot").cloned());
    let mut state = state.unwrap_or_else(|| json!({ "type": "object" }));
    if let Some(members) = state.as_object_mut() {
        members.remove("required");
    }
    state
}

fn insert(schema: &mut Value, member: &str, value: Value) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
}

/// The parameter for a revision.
pub(super) fn revision() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": Revision::MAX })
}

fn name() -> Value {
    json!({ "type": "string", "pattern": "\\S", "maxLength": Replacement::MAX_NAME })
}

fn universe() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "name": { "type": "string" },
            "state": schema("State"),
            "createdAt": { "type": "string", "format": "date-time" },
            "updatedAt": { "type": "string", "format": "date-time" },
            "revision": { "type": "integer" },
            "warnings": { "type": "array", "items": schema("Finding"), "description": "What is odd and was accepted." },
            "generate": schema("Recipe"),
            "error": { "type": "string", "description": "Why its state cannot be read." },
        },
        "required": ["id", "name", "createdAt", "updatedAt", "revision"],
    })
}

fn recipe() -> Value {
    json!({
        "type": "object",
        "description": "What a universe is generated from: the same recipe gives the same state everywhere.",
        "properties": {
            "seed": { "type": ["string", "number"], "description": "Random if absent." },
            "preset": { "enum": Preset::ALL.map(Preset::name) },
            "style": { "enum": Style::ALL.map(Style::name) },
            "scale": { "enum": Scale::ALL.map(Scale::name) },
            "systems": { "type": "integer", "minimum": 1, "maximum": MAX_SYSTEMS },
        },
        "additionalProperties": false,
    })
}

fn new_universe() -> Value {
    json!({
        "type": "object",
        "description": "A name, and one of `state`, `fork` and `generate`.",
        "properties": {
            "name": name(),
            "state": schema("State"),
            "fork": {
                "type": "object",
                "description": "Copies a universe, as it is now or as it was at a revision.",
                "properties": {
                    "id": { "type": "string" },
                    "revision": revision(),
                },
                "required": ["id"],
                "additionalProperties": false,
            },
            "generate": schema("Recipe"),
        },
        "required": ["name"],
        "oneOf": [{ "required": ["state"] }, { "required": ["fork"] }, { "required": ["generate"] }],
        "examples": [
            { "name": "Mine", "state": {} },
            { "name": "Far away", "generate": { "seed": "tea", "preset": "moonRich" } },
        ],
    })
}

pub(super) fn parameters() -> Value {
    json!({
        "id": {
            "name": "id", "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 },
            "description": "The id of a universe.",
        },
        "result": {
            "name": "result", "in": "query", "schema": { "enum": ResultForm::WORDS, "default": "state" },
            "description": "How much is answered besides the events.",
        },
        "ifMatch": {
            "name": "If-Match", "in": "header", "schema": { "type": "string", "examples": ["\"12\"", "*"] },
            "description": "The entity tag of the expected revision; if the universe is at another one, the answer is 412.",
        },
        "ifNoneMatch": {
            "name": "If-None-Match", "in": "header", "schema": { "type": "string", "examples": ["\"12\""] },
            "description": "Entity tags that the client has; if one is current, the answer is 304.",
        },
        "idempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "schema": { "type": "string", "pattern": format!("^[!-~]{{1,{}}}$", CommandId::MAX_KEY) },
            "description": "Makes a retry safe for 24 hours.",
        },
    })
}

pub(super) fn headers() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "ETag": { "schema": text, "description": "Of the revision." },
        "Link": { "schema": text, "description": "The next page, with `rel=\"next\"`; absent on the last." },
        "Location": { "schema": text, "description": "The path of what was created." },
        "Retry-After": { "schema": { "type": "integer" }, "description": "Seconds." },
    })
}

pub(super) fn responses() -> Value {
    let failure = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": schema("Failure") } },
        })
    };
    json!({
        "Malformed": failure("Something is wrong with the request; the sentence says what would be right."),
        "NotFound": failure("The universe or revision does not exist; the error names the nearest ones."),
        "Gone": failure("This revision is no longer kept."),
        "Stale": failure("The universe is at another revision than If-Match names."),
        "TooLarge": failure("The body, or the resulting universe, is too large."),
        "NotJson": failure("The Content-Type is not application/json, or the body is compressed."),
        "Refused": failure("The universe refuses the command, or the Idempotency-Key was used with another body."),
        "Otherwise": failure(
            "401 and 403 for callers without permission, 405, 408 for bodies that do not arrive, 429 for clients that use \
             their share, 503 and 507 for a server that has no room at the moment, 500.",
        ),
    })
}
