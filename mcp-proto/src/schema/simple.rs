//! Judges values by a schema as it is, without compiling it: one that says only what most tools need.
//!
//! Such a schema has no references, so that judging takes time in proportion to the value, times what the schema lists
//! for one value: required names, values of an enum, alternatives. The number of its nodes bounds them
//! ([`keywords::MAX_NODES`]).
//!
//! Most schemas are such. To compile the first schema of a process the validator compiles the meta-schema, which was
//! 85 % of the start of a small server.

mod keywords;
mod nulls;
#[cfg(all(test, feature = "validate"))]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::choice::{self, Choice};
use super::finding::Finding;
use super::number;
use super::place::Place;
use super::wording::{self, Findings, Wrong};
use crate::seal::digest_value;

pub(super) use keywords::beyond;
pub(super) use nulls::remove_nulls;

/// Whether a value fits.
///
/// Recurses as deep as the schema nests.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    Judge { findings: None }.judge(schema, value, &Place::Root)
}

/// What is wrong with a value.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), Vec<Finding>> {
    if fits(schema, value) {
        return Ok(());
    }
    let mut judge = Judge { findings: Some(Findings::default()) };
    judge.judge(schema, value, &Place::Root);
    Err(judge.findings.unwrap_or_default().into_list())
}

/// One pass over a value.
struct Judge {
    /// What was found; without it the pass ends at the first error.
    findings: Option<Findings>,
}

impl Judge {
    /// Judges a value. False ends the pass: something is wrong, and no more is to be found.
    fn judge(&mut self, schema: &Value, value: &Value, place: &Place<'_>) -> bool {
        let Value::Object(keywords) = schema else {
            return *schema != Value::Bool(false) || self.wrong(Wrong::Never, value, place);
        };
        if self.findings.is_none() {
            let mut keywords = keywords.iter();
            return keywords.all(|keyword| self.keyword(schema, keyword, value, place));
        }
        let mut ordered: Vec<_> = keywords.iter().collect();
        ordered.sort_by_key(|(keyword, _)| order(keyword));
        ordered.into_iter().all(|keyword| self.keyword(schema, keyword, value, place))
    }

    fn keyword(
        &mut self,
        schema: &Value,
        (keyword, wanted): (&String, &Value),
        value: &Value,
        place: &Place<'_>,
    ) -> bool {
        let wrong = match (keyword.as_str(), value) {
            ("type", _) => {
                let fits = types(wanted).any(|kind| is_of_type(kind, value));
                (!fits).then_some(Wrong::Type(Cow::Borrowed(wanted)))
            }
            ("properties", Value::Object(members)) => {
                return members.iter().all(|(name, member)| match wanted.get(name) {
                    Some(schema) => self.judge(schema, member, &Place::Member(place, name)),
                    None => true,
                });
            }
            ("required", Value::Object(members)) => {
                let mut missing = listed(wanted)
                    .filter_map(Value::as_str)
                    .filter(|name| !members.contains_key(*name));
                return missing.all(|name| self.wrong(Wrong::Required(name), value, place));
            }
            ("additionalProperties", Value::Object(members)) => {
                return self.others(schema, wanted, members, value, place);
            }
            ("items", Value::Array(items)) => {
                let before = schema.get("prefixItems").map_or(0, |before| listed(before).count());
                let mut items = items.iter().enumerate().skip(before);
                return items.all(|(at, item)| self.judge(wanted, item, &Place::Item(place, at)));
            }
            ("prefixItems", Value::Array(items)) => {
                let mut items = listed(wanted).zip(items).enumerate();
                return items
                    .all(|(at, (schema, item))| self.judge(schema, item, &Place::Item(place, at)));
            }
            ("allOf", _) => return listed(wanted).all(|one| self.judge(one, value, place)),
            ("anyOf", _) => {
                let is_one = listed(wanted).any(|one| fits(one, value));
                return is_one || self.none_of("anyOf", wanted, value, place);
            }
            ("oneOf", _) => match listed(wanted).filter(|one| fits(one, value)).take(2).count() {
                0 => return self.none_of("oneOf", wanted, value, place),
                1 => None,
                _ => Some(Wrong::Several),
            },
            ("enum", _) => {
                let is_one = listed(wanted).any(|one| number::equal(one, value));
                (!is_one).then(|| Wrong::Enum(wanted.as_array().map_or(&[], Vec::as_slice)))
            }
            ("const", _) => (!number::equal(wanted, value)).then_some(Wrong::Const(wanted)),
            (_, Value::Number(_)) => limit_of_number(keyword, wanted, value),
            (_, Value::String(text)) => limit_of_text(keyword, wanted, text),
            (_, Value::Array(items)) => limit_of_list(keyword, wanted, items),
            (_, Value::Object(members)) => limit_of_object(keyword, wanted, members),
            // Annotations, and keywords for values of another type.
            _ => None,
        };
        wrong.is_none_or(|wrong| self.wrong(wrong, value, place))
    }

    /// The members that have no schema of their own.
    fn others(
        &mut self,
        schema: &Value,
        wanted: &Value,
        members: &Map<String, Value>,
        value: &Value,
        place: &Place<'_>,
    ) -> bool {
        let known = schema.get("properties");
        let is_known = |name: &String| known.is_some_and(|known| known.get(name).is_some());
        let mut others = members.iter().filter(|(name, _)| !is_known(name));
        if *wanted == Value::Bool(false) {
            if self.findings.is_none() {
                return others.next().is_none();
            }
            let unexpected = wording::unexpected(others.map(|(name, _)| name.as_str()));
            return unexpected.is_none_or(|unexpected| self.wrong(unexpected, value, place));
        }
        others.all(|(name, member)| self.judge(wanted, member, &Place::Member(place, name)))
    }

    /// A value that fits none of its alternatives: what is wrong with it by the one that was meant.
    #[cold]
    fn none_of(
        &mut self,
        keyword: &'static str,
        alternatives: &Value,
        value: &Value,
        place: &Place<'_>,
    ) -> bool {
        if self.findings.is_none() {
            return false;
        }
        let alternatives = alternatives.as_array().map_or(&[] as &[_], Vec::as_slice);
        match choice::of(alternatives, value) {
            Some(Choice::Meant(meant)) => match alternatives.get(meant) {
                Some(meant) => self.judge(meant, value, place),
                None => true,
            },
            Some(Choice::Wrong { member: None, message }) => {
                self.wrong(Wrong::Other(message, None), value, place)
            }
            Some(Choice::Wrong { member: Some(member), message }) => {
                let place = Place::Member(place, &member);
                self.wrong(Wrong::Other(message, None), value, &place)
            }
            None => self.wrong(Wrong::NoneOf(keyword), value, place),
        }
    }

    #[cold]
    fn wrong(&mut self, wrong: Wrong<'_>, value: &Value, place: &Place<'_>) -> bool {
        match &mut self.findings {
            Some(findings) => findings.add(&place.pointer(), wrong, value),
            None => false,
        }
    }
}

fn limit_of_number<'s>(keyword: &str, limit: &'s Value, value: &Value) -> Option<Wrong<'s>> {
    let order = number::compare(value.as_number()?, limit.as_number()?);
    match keyword {
        "minimum" => order.is_lt().then_some(Wrong::Minimum(limit)),
        "maximum" => order.is_gt().then_some(Wrong::Maximum(limit)),
        "exclusiveMinimum" => order.is_le().then_some(Wrong::ExclusiveMinimum(limit)),
        "exclusiveMaximum" => order.is_ge().then_some(Wrong::ExclusiveMaximum(limit)),
        _ => None,
    }
}

/// Lengths are counted in characters.
fn limit_of_text(keyword: &str, limit: &Value, text: &str) -> Option<Wrong<'static>> {
    let length = || text.chars().count() as u64;
    match keyword {
        "minLength" => limit.as_u64().filter(|least| length() < *least).map(Wrong::MinLength),
        "maxLength" => limit.as_u64().filter(|most| length() > *most).map(Wrong::MaxLength),
        _ => None,
    }
}

fn limit_of_list(keyword: &str, limit: &Value, items: &[Value]) -> Option<Wrong<'static>> {
    let count = items.len() as u64;
    match keyword {
        "minItems" => limit.as_u64().filter(|least| count < *least).map(Wrong::MinItems),
        "maxItems" => limit.as_u64().filter(|most| count > *most).map(Wrong::MaxItems),
        "uniqueItems" => {
            (*limit == Value::Bool(true) && !are_unique(items)).then_some(Wrong::UniqueItems)
        }
        _ => None,
    }
}

fn limit_of_object(
    keyword: &str,
    limit: &Value,
    members: &Map<String, Value>,
) -> Option<Wrong<'static>> {
    let count = members.len() as u64;
    match keyword {
        "minProperties" => limit.as_u64().filter(|least| count < *least).map(Wrong::MinProperties),
        "maxProperties" => limit.as_u64().filter(|most| count > *most).map(Wrong::MaxProperties),
        _ => None,
    }
}

/// Whether no two items are equal, by their digests: comparing each item with every other takes minutes for a megabyte
/// of them.
pub(super) fn are_unique(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| seen.insert(digest_value(item)))
}

/// Where findings of a keyword are in the list of those of a value.
fn order(keyword: &str) -> usize {
    let last = ["required", "properties", "additionalProperties"];
    match keyword {
        "type" => 0,
        "enum" => 1,
        _ => 2 + last.iter().position(|known| *known == keyword).map_or(0, |at| at + 1),
    }
}

/// The types that a schema allows: one, or a list.
fn types(wanted: &Value) -> impl Iterator<Item = &str> {
    wanted.as_str().into_iter().chain(listed(wanted).filter_map(Value::as_str))
}

fn listed(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().map_or(&[] as &[_], Vec::as_slice).iter()
}

fn is_of_type(kind: &str, value: &Value) -> bool {
    match (kind, value) {
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
