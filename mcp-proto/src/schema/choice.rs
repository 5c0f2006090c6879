//! Alternatives that do not match: which one was meant, or what would be valid.

use serde_json::Value;

use super::finding;

/// The most values that are listed.
const MAX_OPTIONS: usize = 50;

/// How an instance relates to alternatives.
pub(super) enum Choice {
    /// It has the form of the alternative of this index, whose findings explain it.
    Meant(usize),
    /// This member (or the instance itself, if empty) is invalid. The message says what would be valid.
    Wrong { member: Option<String>, message: String },
}

/// How an instance relates to alternatives in one of the forms of an enumeration; `None` for other alternatives.
pub(super) fn of(alternatives: &[Value], instance: &Value) -> Option<Choice> {
    unit(alternatives, instance)
        .or_else(|| tagged(alternatives, instance))
        .or_else(|| named(alternatives, instance))
        .or_else(|| untagged(alternatives, instance))
}

/// Alternatives that are all constant values.
fn unit(alternatives: &[Value], instance: &Value) -> Option<Choice> {
    let values: Option<Vec<_>> = alternatives.iter().map(values).collect();
    let values: Vec<_> = values?.into_iter().flatten().collect();
    Some(not_one_of(None, instance, &values))
}

/// Objects that one member distinguishes, whatever their other members are.
fn tagged(alternatives: &[Value], instance: &Value) -> Option<Choice> {
    let (first, _) = alternatives.split_first()?;
    let mut members = first.get("properties")?.as_object()?.iter();
    let tag = members.find_map(|(name, _)| {
        let tags = |one: &Value| requires(one, name) && tags(one, name).is_some();
        alternatives.iter().all(tags).then_some(name)
    })?;
    let all = alternatives.iter().filter_map(|one| tags(one, tag));
    let all: Vec<&Value> = all.flatten().collect();
    let Some(given) = instance.as_object() else {
        let message = format!("must be an object with {tag:?}, one of {}", list(&all));
        return Some(wrong(None, message));
    };
    let Some(given) = given.get(tag) else {
        let message = format!("needs the member {tag:?}, one of {}", list(&all));
        return Some(wrong(None, message));
    };
    let meant = |one: &Value| tags(one, tag).is_some_and(|values| values.contains(&given));
    match alternatives.iter().position(meant) {
        Some(meant) => Some(Choice::Meant(meant)),
        None => Some(not_one_of(Some(tag), given, &all)),
    }
}

/// Objects whose only member names them, and values.
fn named(alternatives: &[Value], instance: &Value) -> Option<Choice> {
    let mut names = Vec::new();
    let mut texts = Vec::new();
    for one in alternatives {
        match (values(one), only_member(one)) {
            (Some(values), _) => texts.extend(values),
            (None, Some(name)) => names.push(name),
            (None, None) => return None,
        }
    }
    let given = instance.as_object().and_then(|given| given.keys().next());
    let meant = |one: &Value| only_member(one).is_some_and(|name| Some(name) == given);
    if let Some(meant) = alternatives.iter().position(meant) {
        return Some(Choice::Meant(meant));
    }
    let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    let object = format!("an object with one of the members {}", names.join(", "));
    let message = if texts.is_empty() {
        format!("must be {object}")
    } else {
        format!("must be one of {}, or {object}", list(&texts))
    };
    Some(wrong(None, message))
}

/// Other forms: each in a few words.
fn untagged(alternatives: &[Value], instance: &Value) -> Option<Choice> {
    let forms: Option<Vec<String>> = alternatives.iter().map(form).collect();
    let mut forms = forms?;
    forms.dedup();
    // The only alternative of its type is the one that was meant.
    let kind = |one: &Value| one.get("type").and_then(Value::as_str) == Some(kind_of(instance));
    let mut of_kind = alternatives.iter().enumerate().filter(|(_, one)| kind(one));
    if let (Some((meant, _)), None) = (of_kind.next(), of_kind.next()) {
        return Some(Choice::Meant(meant));
    }
    Some(wrong(None, format!("must be {}", forms.join(", or "))))
}

fn form(schema: &Value) -> Option<String> {
    if let Some(values) = values(schema) {
        return Some(format!("one of {}", list(&values)));
    }
    let kind = schema.get("type")?.as_str()?;
    let required: Vec<_> = required_of(schema).map(|name| format!("{name:?}")).collect();
    Some(match kind {
        "object" if !required.is_empty() => format!("an object with {}", required.join(" and ")),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The values that a schema lists, if it does.
fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// The values of a member of an object.
fn tags<'s>(schema: &'s Value, member: &str) -> Option<Vec<&'s Value>> {
    values(schema.get("properties")?.get(member)?)
}

fn required_of(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

fn requires(schema: &Value, member: &str) -> bool {
    required_of(schema).any(|name| name == member)
}

/// The only member of an object, which is required.
fn only_member(schema: &Value) -> Option<&String> {
    let mut members = schema.get("properties")?.as_object()?.keys();
    match (members.next(), members.next()) {
        (Some(only), None) if requires(schema, only) => Some(only),
        _ => None,
    }
}

fn not_one_of(member: Option<&str>, given: &Value, values: &[&Value]) -> Choice {
    let given = finding::shown(given);
    wrong(member, format!("{given} is not one of {}", list(values)))
}

fn wrong(member: Option<&str>, message: String) -> Choice {
    Choice::Wrong { member: member.map(str::to_owned), message }
}

fn list(values: &[&Value]) -> String {
    let shown = values.iter().take(MAX_OPTIONS).map(|value| value.to_string());
    let shown: Vec<_> = shown.collect();
    shown.join(", ")
}
