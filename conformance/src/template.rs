//! Captured variables, and the places in requests that are filled with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::{Problem, each_element, each_member};

/// The values captured so far in one replay, by name.
///
/// Cloning shares the values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vars(BTreeMap<Arc<str>, Arc<Value>>);

impl Vars {
    /// The value captured under `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(Arc::as_ref)
    }

    /// Binds `name`, replacing what it was bound to.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.into(), Arc::new(value));
    }
}

/// A string in which `${name}` stands for a captured variable; `$${` is a literal `${`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text(Vec<Segment>);

#[derive(Debug, Clone, PartialEq)]
enum Segment {
    Plain(String),
    Var(String),
}

impl Text {
    pub(crate) fn parse(source: &str) -> Result<Self, Problem> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = source;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(kept) = before.strip_suffix('$') {
                plain.push_str(kept);
                plain.push_str("${");
                rest = after;
                continue;
            }
            plain.push_str(before);
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| Problem::new(format!("`${{` without `}}` in {source:?}")))?;
            if name.is_empty() {
                return Err(Problem::new(format!("`${{}}` without a name in {source:?}")));
            }
            if !plain.is_empty() {
                parts.push(Segment::Plain(std::mem::take(&mut plain)));
            }
            parts.push(Segment::Var(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Segment::Plain(plain));
        }
        Ok(Self(parts))
    }

    /// The text, if it refers to no variable.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Segment::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// The names it refers to.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Segment::Var(name) => Some(name.as_str()),
            Segment::Plain(_) => None,
        })
    }

    /// The text with every variable replaced: strings unchanged, other values as JSON.
    pub(crate) fn fill(&self, vars: &Vars) -> Result<String, Problem> {
        self.fill_with(vars, |text| text)
    }

    /// Like [`fill`](Self::fill), with `escape` applied to what comes out of variables.
    pub(crate) fn fill_with(
        &self,
        vars: &Vars,
        escape: impl Fn(String) -> String,
    ) -> Result<String, Problem> {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                Segment::Plain(text) => filled.push_str(text),
                Segment::Var(name) => filled.push_str(&escape(match lookup(name, vars)? {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                })),
            }
        }
        Ok(filled)
    }

    /// How it is written in a transcript.
    pub(crate) fn source(&self) -> String {
        self.0.iter().fold(String::new(), |written, part| match part {
            Segment::Plain(text) => written + &text.replace("${", "$${"),
            Segment::Var(name) => format!("{written}${{{name}}}"),
        })
    }
}

/// A JSON value to send, in which `{"$var": name}` and `${name}` stand for captured variables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Template {
    Fixed(Value),
    Text(Text),
    Var(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Template {
    pub(crate) fn parse(source: &Value) -> Result<Self, Problem> {
        Ok(match source {
            Value::String(text) => Self::Text(Text::parse(text)?),
            Value::Array(items) => Self::Array(each_element(items, Self::parse)?),
            Value::Object(members) => match sole_member(members) {
                Some(("$var", Value::String(name))) => Self::Var(name.clone()),
                Some(("$literal", value)) => Self::Fixed(value.clone()),
                _ => Self::Object(each_member(members, |name, value| {
                    Ok((name.to_owned(), Self::parse(value)?))
                })?),
            },
            scalar => Self::Fixed(scalar.clone()),
        })
    }

    pub(crate) fn fill(&self, vars: &Vars) -> Result<Value, Problem> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(text) => Value::String(text.fill(vars)?),
            Self::Var(name) => lookup(name, vars)?.clone(),
            Self::Array(items) => {
                Value::Array(items.iter().map(|item| item.fill(vars)).collect::<Result<_, _>>()?)
            }
            Self::Object(members) => {
                let members = members.iter().map(|(name, it)| Ok((name.clone(), it.fill(vars)?)));
                Value::Object(members.collect::<Result<_, Problem>>()?)
            }
        })
    }

    /// Calls `visit` with every name it refers to.
    pub(crate) fn each_name<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(text) => text.names().for_each(visit),
            Self::Var(name) => visit(name),
            Self::Array(items) => items.iter().for_each(|item| item.each_name(visit)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.each_name(visit)),
        }
    }
}

/// The one member of an object that has exactly one.
pub(crate) fn sole_member(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut iter = members.iter();
    match (iter.next(), iter.next()) {
        (Some((name, value)), None) => Some((name, value)),
        _ => None,
    }
}

pub(crate) fn lookup<'a>(name: &str, vars: &'a Vars) -> Result<&'a Value, Problem> {
    vars.get(name).ok_or_else(|| Problem::new(format!("no value was captured as `{name}`")))
}
