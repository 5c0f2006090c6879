//! Schemas with only the few keywords that most tools need: checked and explained without compiling them.
//!
//! Such a schema has no references and no alternatives, so checking takes time in proportion to the instance,
//! times the required names and the values of an enum that it is compared with (`MAX_SIMPLE`, nodes of the schema,
//! bounds both). The messages are those of the validator for other schemas.
//!
//! Most schemas are simple. To compile the first schema of a process the validator compiles the meta-schema, which was
//! 85 % of the start of a small server.

mod message;
mod number;
#[cfg(all(test, feature = "validate"))]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Nulls;
use super::finding::{Finding, MAX_TOLD, shortened};
use crate::json;
use message::Wrong;

/// The most findings that are reported for one instance.
pub(super) const MAX_FINDINGS: usize = 20;

/// Whether a schema has only known keywords, all with values that the meta-schema allows.
///
/// Recurses: the caller has bounded how deep the schema nests.
pub(super) fn is_simple(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "properties" => match value {
            Value::Object(properties) => properties.values().all(is_simple),
            _ => false,
        },
        "additionalProperties" => value.is_boolean() || is_simple(value),
        "items" => is_simple(value),
        other => is_known(other, value),
    })
}

/// What a simple schema can say of another one: never more than the whole says.
///
/// Recurses: the caller has bounded how deep the schema nests.
#[cfg(any(test, not(feature = "validate")))]
pub(super) fn part_of(schema: &Value) -> Value {
    let mut part = Map::new();
    let Value::Object(keywords) = schema else {
        return part.into();
    };
    // In draft-07 a reference replaces what is beside it.
    if keywords.contains_key("$ref") {
        return part.into();
    }
    for (keyword, value) in keywords {
        let known = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let parts = properties.iter();
                let parts = parts.map(|(name, schema)| (name.clone(), part_of(schema)));
                Some(Value::Object(parts.collect()))
            }
            // What has a pattern or a place of its own is not judged by these.
            ("additionalProperties", _) if keywords.contains_key("patternProperties") => None,
            ("items", _) if keywords.contains_key("prefixItems") => None,
            ("additionalProperties", Value::Bool(_)) => Some(value.clone()),
            ("additionalProperties" | "items", Value::Object(_)) => Some(part_of(value)),
            (other, value) => is_known(other, value).then(|| value.clone()),
        };
        part.extend(known.map(|known| (keyword.clone(), known)));
    }
    part.into()
}

/// Whether an instance matches a simple schema.
///
/// Recurses as deep as the schema nests.
pub(super) fn fits(schema: &Value, instance: &Value) -> bool {
    let mut judge = Judge { lenient: false, found: None };
    judge.goes_on(schema, instance, &Place::Root)
}

/// What is wrong with an instance by a simple schema, at most [`MAX_FINDINGS`] findings.
pub(super) fn check(schema: &Value, instance: &Value) -> Result<(), Vec<Finding>> {
    match fits(schema, instance) {
        true => Ok(()),
        false => Err(findings(schema, instance, false)),
    }
}

/// [`check`] for arguments: an explicit null for an optional member counts as left out.
pub(super) fn accept(
    schema: &Value,
    mut instance: Value,
    nulls: Nulls,
) -> Result<Value, (Value, Vec<Finding>)> {
    if fits(schema, &instance) {
        return Ok(instance);
    }
    let findings = findings(schema, &instance, true);
    if !findings.is_empty() {
        return Err((instance, findings));
    }
    if nulls == Nulls::TakeOut {
        remove_nulls(schema, &mut instance);
    }
    Ok(instance)
}

/// One pass over an instance.
struct Judge {
    lenient: bool,
    /// What was found; without it the pass ends at the first.
    found: Option<Vec<Finding>>,
}

/// A place in an instance.
enum Place<'a> {
    Root,
    Member(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl Judge {
    /// Whether the pass goes on: nothing is wrong, or more is to be found.
    fn goes_on(&mut self, schema: &Value, instance: &Value, place: &Place<'_>) -> bool {
        let Value::Object(keywords) = schema else {
            return true;
        };
        if self.found.is_none() {
            let mut keywords = keywords.iter();
            return keywords.all(|keyword| self.keyword(schema, keyword, instance, place));
        }
        let mut ordered: Vec<_> = keywords.iter().collect();
        ordered.sort_by_key(|(keyword, _)| order(keyword));
        let mut ordered = ordered.into_iter();
        ordered.all(|keyword| self.keyword(schema, keyword, instance, place))
    }

    fn keyword(
        &mut self,
        schema: &Value,
        (keyword, value): (&String, &Value),
        instance: &Value,
        place: &Place<'_>,
    ) -> bool {
        let wrong = match (keyword.as_str(), instance) {
            ("type", _) => match value.as_str() {
                Some(kind) if !is_of_type(kind, instance) => Wrong::Type(kind),
                _ => return true,
            },
            ("enum", _) => match value.as_array() {
                Some(values) if !values.iter().any(|one| number::equal(one, instance)) => {
                    Wrong::Enum(values)
                }
                _ => return true,
            },
            ("minimum", Value::Number(given)) => match value {
                Value::Number(least) if number::compare(given, least).is_lt() => {
                    Wrong::Minimum(least)
                }
                _ => return true,
            },
            ("maximum", Value::Number(given)) => match value {
                Value::Number(most) if number::compare(given, most).is_gt() => Wrong::Maximum(most),
                _ => return true,
            },
            ("minLength", Value::String(text)) => match value.as_u64() {
                Some(least) if length(text) < least => Wrong::MinLength(least),
                _ => return true,
            },
            ("maxLength", Value::String(text)) => match value.as_u64() {
                Some(most) if length(text) > most => Wrong::MaxLength(most),
                _ => return true,
            },
            ("minItems", Value::Array(items)) => match value.as_u64() {
                Some(least) if (items.len() as u64) < least => Wrong::MinItems(least),
                _ => return true,
            },
            ("maxItems", Value::Array(items)) => match value.as_u64() {
                Some(most) if items.len() as u64 > most => Wrong::MaxItems(most),
                _ => return true,
            },
            ("required", Value::Object(members)) => {
                let names = value.as_array().into_iter().flatten();
                let mut missing =
                    names.filter_map(Value::as_str).filter(|name| !members.contains_key(*name));
                return missing.all(|name| self.wrong(Wrong::Required(name), instance, place));
            }
            ("properties", Value::Object(members)) => {
                let Some(known) = value.as_object() else {
                    return true;
                };
                // Many small objects cost no more than they have members. The order matters only for findings.
                if self.found.is_none() && !self.lenient && members.len() < known.len() {
                    return members.iter().all(|(name, member)| {
                        let one = known.get(name);
                        one.is_none_or(|one| self.goes_on(one, member, &Place::Member(place, name)))
                    });
                }
                return known.iter().all(|(name, one)| {
                    let Some(member) = members.get(name) else {
                        return true;
                    };
                    let is_left_out = self.lenient && is_left_out(schema, name, one, member);
                    is_left_out || self.goes_on(one, member, &Place::Member(place, name))
                });
            }
            ("additionalProperties", Value::Object(members)) => {
                return self.others(schema, value, members, instance, place);
            }
            ("items", Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                return items.all(|(at, item)| self.goes_on(value, item, &Place::Item(place, at)));
            }
            // Annotations, and keywords for values of another type.
            _ => return true,
        };
        self.wrong(wrong, instance, place)
    }

    /// The members that have no schema of their own.
    fn others(
        &mut self,
        schema: &Value,
        value: &Value,
        members: &Map<String, Value>,
        instance: &Value,
        place: &Place<'_>,
    ) -> bool {
        let known = schema.get("properties").and_then(Value::as_object);
        let mut others =
            members.iter().filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
        match value {
            Value::Bool(true) => true,
            Value::Bool(false) => {
                let mut unexpected = others.map(|(name, _)| name.as_str()).peekable();
                match unexpected.peek() {
                    None => true,
                    Some(_) => self.wrong(Wrong::Unexpected(&mut unexpected), instance, place),
                }
            }
            value => others
                .all(|(name, member)| self.goes_on(value, member, &Place::Member(place, name))),
        }
    }

    #[cold]
    fn wrong(&mut self, wrong: Wrong<'_>, instance: &Value, place: &Place<'_>) -> bool {
        let Some(found) = &mut self.found else {
            return false;
        };
        found.push(message::finding(&place.pointer(), wrong, instance));
        found.len() < MAX_FINDINGS
    }
}

impl Place<'_> {
    /// As a JSON Pointer (RFC 6901), of which only the beginning is kept if it is long.
    fn pointer(&self) -> String {
        let (above, step) = match self {
            Self::Root => return String::new(),
            Self::Member(above, name) => (above, Cow::Borrowed(*name)),
            Self::Item(above, at) => (above, Cow::Owned(at.to_string())),
        };
        let mut pointer = above.pointer();
        if pointer.len() <= MAX_TOLD {
            let step = json::pointer_segment(&shortened(&step));
            pointer.push('/');
            pointer.push_str(&step);
        }
        pointer
    }
}

/// What is wrong; if `lenient`, nulls may count as left out.
fn findings(schema: &Value, instance: &Value, lenient: bool) -> Vec<Finding> {
    let mut judge = Judge { lenient, found: Some(Vec::new()) };
    judge.goes_on(schema, instance, &Place::Root);
    judge.found.unwrap_or_default()
}

/// Removes the nulls that count as left out from an instance that is otherwise as the schema says.
///
/// Recurses as deep as the schema nests.
fn remove_nulls(schema: &Value, instance: &mut Value) {
    match instance {
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| remove_nulls(schema, item));
            }
        }
        Value::Object(members) => {
            let known = schema.get("properties").and_then(Value::as_object);
            members.retain(|name, member| match known.and_then(|known| known.get(name)) {
                Some(one) => !is_left_out(schema, name, one, member),
                None => true,
            });
            for (name, member) in members {
                let one = known.and_then(|known| known.get(name));
                if let Some(one) = one.or_else(|| schema.get("additionalProperties")) {
                    remove_nulls(one, member);
                }
            }
        }
        _ => {}
    }
}

/// Whether a member is a null that counts as left out: it is optional, and its schema does not allow null.
fn is_left_out(owner: &Value, name: &str, schema: &Value, member: &Value) -> bool {
    let is_required = || {
        let required = owner.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|one| one == name))
    };
    member.is_null() && !is_required() && !fits(schema, member)
}

/// Where findings of a keyword are in the list of those of a value.
fn order(keyword: &str) -> usize {
    let ordered = [
        "type",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "required",
        "properties",
    ];
    let place = ordered.iter().position(|known| *known == keyword);
    place.unwrap_or(ordered.len())
}

/// Whether a keyword without schemas in it is known and has a value that the meta-schema allows.
fn is_known(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => value.as_str().is_some_and(is_type),
        "title" | "description" | "format" => value.is_string(),
        "default" => true,
        "enum" | "examples" => value.is_array(),
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "required" => are_names(value),
        // Annotations.
        other => other.starts_with("x-"),
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "null" | "boolean" | "object" | "array" | "number" | "string" | "integer")
}

fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut is_new = |name: &Value| name.as_str().is_some_and(|name| seen.insert(name.to_owned()));
    value.as_array().is_some_and(|names| names.iter().all(&mut is_new))
}

fn is_of_type(kind: &str, instance: &Value) -> bool {
    match (kind, instance) {
        ("integer", Value::Number(given)) => number::is_whole(given),
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_)) => true,
        _ => false,
    }
}

/// In characters, as JSON Schema counts.
fn length(text: &str) -> u64 {
    text.chars().count() as u64
}
