//! Values made from a schema: what it offers first, and else the plainest value that it takes.

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::schema::local::{resolve, unfit};

/// How deep a schema is filled in.
const MAX_DEPTH: usize = 8;
/// The most items of a list that is made.
const MAX_ITEMS: usize = 100;
/// The longest text that is made, in characters.
const MAX_LENGTH: usize = 10_000;
/// What patterns are tried with.
const TEXTS: [&str; 12] = [
    "a",
    "1",
    "abc",
    "A1",
    "abc-1",
    "0.1.0",
    "2026-01-01",
    "12:00",
    "/a",
    "https://example.com/",
    "00000000-0000-4000-8000-000000000000",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Arguments that a tool's schema takes, of which only the required ones are made; `None` if that is not possible.
/// Arguments that are the URI of a resource become `uri`.
pub(crate) fn arguments(schema: &Value, uri: Option<&Value>) -> Option<Value> {
    let made = Sampler { root: schema, uri }.value(schema, "", 0)?;
    (made.is_object() && unfit(schema, &made) == Ok(None)).then_some(made)
}

struct Sampler<'a> {
    root: &'a Value,
    uri: Option<&'a Value>,
}

impl Sampler<'_> {
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let offered = |schema: &Value| {
            let first = |list: &str| schema.get(list)?.as_array()?.first().cloned();
            let sole = |member: &str| schema.get(member).filter(|it| !it.is_null()).cloned();
            let examples = first("examples").or_else(|| sole("example"));
            examples.or_else(|| sole("default")).or_else(|| sole("const")).or_else(|| first("enum"))
        };
        let beside = schema;
        let schema = resolve(self.root, schema);
        if let Some(value) = offered(beside).or_else(|| offered(schema)) {
            return Some(value);
        }
        let forms = ["anyOf", "oneOf"].iter().find_map(|it| schema.get(*it)?.as_array());
        if let Some(forms) = forms {
            let is_null = |it: &Value| it.get("type").is_some_and(|kind| kind == "null");
            if schema.get("properties").is_none() {
                let mut forms = forms.iter().filter(|it| !is_null(it));
                return forms.find_map(|it| self.value(it, name, depth + 1));
            }
        }
        let kind = schema.get("type");
        let kind = kind.and_then(|it| it.as_str().or_else(|| it.get(0)?.as_str()));
        match kind {
            Some("string") => self.text(schema, name),
            Some("integer" | "number") => Some(number(schema)),
            Some("boolean") => Some(false.into()),
            Some("null") => Some(Value::Null),
            Some("array") => self.items(schema, name, depth),
            Some("object") => self.members(schema, depth),
            None if schema.get("properties").is_some() => self.members(schema, depth),
            // Anything is taken.
            None if depth > 0 => Some("a".into()),
            None => Some(json!({})),
            Some(_) => None,
        }
    }

    fn text(&self, schema: &Value, name: &str) -> Option<Value> {
        let length = |name: &str| {
            let length = schema.get(name).and_then(Value::as_u64);
            length.and_then(|it| usize::try_from(it).ok())
        };
        let (least, most) = (length("minLength").unwrap_or(0), length("maxLength"));
        if least > MAX_LENGTH {
            return None;
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            let pattern = Regex::new(pattern).ok()?;
            let fits = |text: &&str| {
                pattern.is_match(text) && (least..=most.unwrap_or(MAX_LENGTH)).contains(&text.len())
            };
            return TEXTS.iter().copied().find(fits).map(Value::from);
        }
        let format = schema.get("format").and_then(Value::as_str);
        let text = match (format, name) {
            (Some("date-time"), _) => "2026-01-01T00:00:00Z",
            (Some("date"), _) => "2026-01-01",
            (Some("time"), _) => "12:00:00Z",
            (Some("duration"), _) => "PT1H",
            (Some("email" | "idn-email"), _) => "user@example.com",
            (Some("uuid"), _) => "00000000-0000-4000-8000-000000000000",
            (Some("hostname"), _) => "example.com",
            (Some("ipv4"), _) => "192.0.2.1",
            (Some("ipv6"), _) => "2001:db8::1",
            (_, "uri" | "resource") if self.uri.is_some() => return self.uri.cloned(),
            (Some("uri" | "url" | "iri" | "uri-reference"), _) | (_, "url") => {
                "https://example.com/"
            }
            _ => return Some("a".repeat(least.max(1)).into()),
        };
        Some(text.into())
    }

    fn items(&self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
        // One item says more than none.
        let least = limit("minItems").unwrap_or(1).max(u64::from(limit("maxItems") != Some(0)));
        let least = usize::try_from(least).ok().filter(|it| *it <= MAX_ITEMS)?;
        let Some(items) = schema.get("items") else {
            return Some(vec!["a"; least].into());
        };
        let item = self.value(items, name, depth + 1)?;
        Some(vec![item; least].into())
    }

    fn members(&self, schema: &Value, depth: usize) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let members = names.map(|name| {
            let property = schema.get("properties").and_then(|it| it.get(name));
            let value = self.value(property.unwrap_or(&Value::Bool(true)), name, depth + 1)?;
            Some((name.to_owned(), value))
        });
        members.collect::<Option<Map<_, _>>>().map(Value::Object)
    }
}

fn number(schema: &Value) -> Value {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    let least = limit("minimum").or_else(|| limit("exclusiveMinimum").map(|it| it + 1.0));
    let most = limit("maximum").or_else(|| limit("exclusiveMaximum").map(|it| it - 1.0));
    let step = limit("multipleOf").unwrap_or(1.0);
    let fits =
        |number: f64| least.is_none_or(|it| number >= it) && most.is_none_or(|it| number <= it);
    let number = [step, 0.0].into_iter().find(|it| fits(*it)).or(least).or(most).unwrap_or(step);
    // A whole number is written as one: some servers do not take 1.0 for an integer.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        let whole = number as i64;
        return whole.into();
    }
    json!(number)
}
