//! Which schemas are judged as they are: those in which no keyword asks for more than is enforced.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::schema::dialect::Dialect;
use crate::schema::place::Place;

/// The most nodes of such a schema: each list in it is walked for each value.
pub(super) const MAX_NODES: usize = 1_000;

/// Keywords of 2020-12 and draft-07 that are not enforced here.
const OTHERS: [&str; 26] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "id",
    "if",
    "maxContains",
    "minContains",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// What a schema asks for beyond what is enforced here.
#[derive(Debug)]
pub(in crate::schema) enum Beyond {
    /// More nodes.
    Nodes,
    /// A keyword that is not enforced, at the place of its schema.
    Keyword { place: String, keyword: String },
    /// A value of a keyword that is not enforced or that JSON Schema does not allow.
    Content { place: String, keyword: String },
}

/// What a schema of so many nodes asks for beyond what is enforced; `None` if all of it is.
///
/// Recurses: the caller has bounded how deep the schema nests.
pub(in crate::schema) fn beyond(schema: &Value, nodes: usize) -> Option<Beyond> {
    if nodes > MAX_NODES {
        return Some(Beyond::Nodes);
    }
    in_schema(schema, &Place::Root)
}

fn in_schema(schema: &Value, place: &Place<'_>) -> Option<Beyond> {
    let members = schema.as_object()?;
    members.iter().find_map(|(keyword, content)| {
        if OTHERS.contains(&keyword.as_str()) {
            return Some(Beyond::Keyword { place: place.pointer(), keyword: keyword.clone() });
        }
        let below = Place::Member(place, keyword);
        match parts(keyword, content) {
            Some(Parts::Named(named)) => {
                let mut named = named.iter();
                named.find_map(|(name, part)| in_schema(part, &Place::Member(&below, name)))
            }
            Some(Parts::Listed(listed)) => {
                let mut listed = listed.iter().enumerate();
                listed.find_map(|(at, part)| in_schema(part, &Place::Item(&below, at)))
            }
            Some(Parts::One(part)) => in_schema(part, &below),
            None if is_known(keyword, content) => None,
            None => Some(Beyond::Content { place: place.pointer(), keyword: keyword.clone() }),
        }
    })
}

/// The schemas in a keyword.
enum Parts<'s> {
    One(&'s Value),
    Named(&'s Map<String, Value>),
    Listed(&'s [Value]),
}

fn parts<'s>(keyword: &str, content: &'s Value) -> Option<Parts<'s>> {
    match (keyword, content) {
        ("properties" | "$defs" | "definitions", Value::Object(named)) => {
            named.values().all(is_schema).then_some(Parts::Named(named))
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(listed)) => {
            let are_schemas = !listed.is_empty() && listed.iter().all(is_schema);
            are_schemas.then_some(Parts::Listed(listed))
        }
        ("items" | "additionalProperties", one) => is_schema(one).then_some(Parts::One(one)),
        _ => None,
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Whether a keyword without schemas in it has content that the meta-schema allows. Keywords that JSON Schema does not
/// know are annotations.
fn is_known(keyword: &str, content: &Value) -> bool {
    match keyword {
        "properties"
        | "$defs"
        | "definitions"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "prefixItems"
        | "items"
        | "additionalProperties" => false,
        "$id" => {
            let id = content.as_str().and_then(|id| id.parse::<http::Uri>().ok());
            id.is_some_and(|id| id.scheme().is_some())
        }
        "$schema" => Dialect::named(content).is_ok_and(|dialect| dialect == Dialect::Of2020),
        "type" => match content {
            Value::String(kind) => is_type(kind),
            kinds => are_names(kinds, is_type) && *kinds != Value::Array(Vec::new()),
        },
        "$comment" | "title" | "description" | "format" | "contentEncoding"
        | "contentMediaType" => content.is_string(),
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => content.is_boolean(),
        "enum" | "examples" => content.is_array(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => content.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            content.is_u64()
        }
        "required" => are_names(content, |_| true),
        _ => true,
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "null" | "boolean" | "object" | "array" | "number" | "string" | "integer")
}

/// Whether it is a list of names, each only once.
fn are_names(content: &Value, is_name: fn(&str) -> bool) -> bool {
    let mut seen = HashSet::new();
    let mut is_new = |name: &str| is_name(name) && seen.insert(name.to_owned());
    let names = content.as_array();
    names.is_some_and(|names| names.iter().all(|name| name.as_str().is_some_and(&mut is_new)))
}

impl fmt::Display for Beyond {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |place: &str| match place {
            "" => "at the root of the schema".to_owned(),
            place => format!("at {place:?}"),
        };
        match self {
            Self::Nodes => write!(formatter, "a schema of more than {MAX_NODES} nodes"),
            Self::Keyword { place, keyword } => write!(formatter, "{keyword:?} {}", at(place)),
            Self::Content { place, keyword } => {
                write!(formatter, "the value of {keyword:?} {}", at(place))
            }
        }
    }
}
