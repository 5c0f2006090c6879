//! Checks JSON against the member tables: types and presence, all findings at once.
//!
//! Lenient on purpose: unknown members are kept, numbers may be out of their usual range, nested
//! objects may be partial. Recursion follows the tables, which nest a handful of levels, never the
//! input.

use serde_json::{Map, Value};

use crate::date::{EXPECTED, read_date};
use crate::entity::elements::is_closed;
use crate::finding::{Findings, Path, Quoted};
use crate::member::{Kind, Member, Mode, Need, Table};
use crate::nearest;

/// How deep the value of a member may nest. A state wraps its entities in a few levels more, and
/// must stay within the 128 levels that JSON parsers commonly read.
pub(crate) const MAX_NESTING: usize = 64;

/// Judges an object by its table.
pub(crate) fn check_object(
    object: &Map<String, Value>,
    table: &Table,
    mode: Mode,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let has_elements = object.get("elements").is_some_and(|elements| !elements.is_null());
    // What follows from elements may be absent, and must be there without them.
    let is_missing = |member: &Member| match member.need {
        Need::OrElements => mode != Mode::Part && !has_elements,
        Need::Defaulted => member.is_required(mode) && !has_elements,
        _ => member.is_required(mode),
    };
    for member in table.members {
        if member.is_ignored(mode) {
            continue;
        }
        let place = path.at(&member.name);
        match object.get(member.name) {
            None if is_missing(member) => {
                let (expected, doc) = (expectation(member.kind), member.doc);
                findings.push(&place, format_args!("is missing; expected {expected}: {doc}"));
            }
            None => {}
            Some(Value::Null) if member.may_be_null(mode) => {}
            Some(value) => check_value(value, member, &place, findings),
        }
    }
    for (name, value) in object {
        if is_closed(table) && table.member(name).is_none() {
            let (of, names) = (table.name, table.members.iter().map(|member| member.name));
            let hint = nearest::hint(name, names);
            findings.push(&path.at(name), format_args!("is not a member of {of}{hint}"));
        }
        let judged = table.member(name).is_some_and(|member| {
            matches!(member.kind, Kind::Object(..) | Kind::List(_) | Kind::Map(_))
                && !member.is_ignored(mode)
        });
        if !judged && nests_too_deep(value) {
            let message = format_args!("nests deeper than {MAX_NESTING} levels");
            findings.push(&path.at(name), message);
        }
    }
}

fn check_value(value: &Value, member: &Member, path: &Path<'_>, findings: &mut Findings) {
    match (member.kind, value) {
        (Kind::Number, Value::Number(number))
            if member.is_strict && !member.range.contains(number.as_f64().unwrap_or_default()) =>
        {
            let (range, doc) = (member.range, member.doc);
            findings.push(path, format_args!("must be {range}, found {number}: {doc}"));
        }
        (Kind::Date | Kind::Instant, Value::String(text)) if read_date(text).is_some() => {}
        (Kind::Instant, Value::Number(_)) => {}
        (Kind::Text | Kind::Color, Value::String(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Flag, Value::Bool(_))
        | (Kind::Seed, Value::String(_) | Value::Number(_))
        | (Kind::IdOrNull, Value::String(_) | Value::Null) => {}
        (Kind::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {}
        (Kind::Pair, Value::Array(items))
            if items.len() == 2 && items.iter().all(Value::is_number) => {}
        (Kind::Ids, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                if !item.is_string() {
                    let found = describe(item);
                    findings.push(
                        &path.at(&index),
                        format_args!("expected an id (text), found {found}"),
                    );
                }
            }
        }
        (Kind::Object(table, mode), Value::Object(object)) => {
            check_object(object, table, mode, path, findings);
        }
        (Kind::List(table), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                check_whole(item, table, &path.at(&index), findings);
            }
        }
        (Kind::Map(table), Value::Object(entries)) => {
            for (key, entry) in entries {
                check_entry(key, entry, table, &path.at(key), findings);
            }
        }
        (kind, _) => {
            let (expected, found) = (expectation(kind), describe(value));
            findings.push(path, format_args!("expected {expected}, found {found}"));
        }
    }
}

/// Judges an entity that stands under a key.
pub(crate) fn check_entry(
    key: &str,
    entry: &Value,
    table: &Table,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    check_whole(entry, table, path, findings);
    match entry.get("id") {
        Some(Value::String(id)) if id != key => {
            let (key, id) = (Quoted(key), Quoted(id));
            let message = format_args!("must equal its key {key}, found {id}");
            findings.push(&path.at(&"id"), message);
        }
        _ => {}
    }
}

fn check_whole(value: &Value, table: &Table, path: &Path<'_>, findings: &mut Findings) {
    match value {
        Value::Object(object) => check_object(object, table, Mode::Whole, path, findings),
        _ => {
            let (name, found) = (table.name, describe(value));
            findings.push(path, format_args!("expected an object ({name}), found {found}"));
        }
    }
}

/// What a kind expects, as a noun phrase.
pub(crate) fn expectation(kind: Kind) -> String {
    match kind {
        Kind::Text | Kind::Color => "text".to_owned(),
        Kind::Number => "a number".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Seed => "text or a number".to_owned(),
        Kind::Date => EXPECTED.to_owned(),
        Kind::Instant => format!("{EXPECTED}, or a number of seconds"),
        Kind::IdOrNull => "an id or null".to_owned(),
        Kind::Choice(choices) => format!("one of {}", choices.join(", ")),
        Kind::Ids => "an array of ids".to_owned(),
        Kind::Pair => "an array of two numbers".to_owned(),
        Kind::Object(table, _) => format!("an object ({})", table.name),
        Kind::List(table) => format!("an array of objects ({})", table.name),
        Kind::Map(table) => format!("an object from id to {}", table.name),
    }
}

/// What was found, short enough for a message.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => Quoted(text).to_string(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Does not recurse, since the depth is set by the input.
fn nests_too_deep(value: &Value) -> bool {
    if !value.is_array() && !value.is_object() {
        return false;
    }
    let mut pending = vec![(value, 1)];
    while let Some((value, depth)) = pending.pop() {
        if depth > MAX_NESTING {
            return true;
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|item| (item, depth + 1)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}
