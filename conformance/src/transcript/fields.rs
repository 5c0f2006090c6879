//! Reading an object member by member, so that a misspelt one is reported, not ignored.

use http::HeaderName;
use http::header::InvalidHeaderName;
use serde_json::{Map, Value};

use crate::error::{Problem, each_member};

/// The members of an object that have not been asked for yet.
pub(super) struct Fields {
    rest: Map<String, Value>,
    asked: Vec<&'static str>,
}

impl Fields {
    pub(super) fn of(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Object(members) => Ok(Self { rest: members.clone(), asked: Vec::new() }),
            other => Err(Problem::new(format!("expected an object, found {other}"))),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.rest.contains_key(name)
    }

    pub(super) fn optional(&mut self, name: &'static str) -> Option<Value> {
        self.asked.push(name);
        self.rest.remove(name)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<Value, Problem> {
        self.optional(name).ok_or_else(|| Problem::new("is missing").within(name))
    }

    pub(super) fn optional_string(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, Problem> {
        match self.optional(name) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(other) => {
                Err(Problem::new(format!("expected a non-empty string, found {other}"))
                    .within(name))
            }
        }
    }

    pub(super) fn string(&mut self, name: &'static str) -> Result<String, Problem> {
        self.optional_string(name)?.ok_or_else(|| Problem::new("is missing").within(name))
    }

    /// One string or an array of strings.
    pub(super) fn strings(&mut self, name: &'static str) -> Result<Option<Vec<String>>, Problem> {
        let refuse = |other: &Value| {
            Problem::new(format!("expected an array of strings, found {other}")).within(name)
        };
        match self.optional(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(vec![text])),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| refuse(item)))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(refuse(&other)),
        }
    }

    /// Parses a member that is there, and puts its name before the problems inside it.
    pub(super) fn parse<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        self.optional(name)
            .map(|value| parse(&value).map_err(|problem| problem.within(name)))
            .transpose()
    }

    /// The same for a member that must be there.
    pub(super) fn parse_required<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.parse(name, parse)?.ok_or_else(|| Problem::new("is missing").within(name))
    }

    /// The member `headers`: an object of the names of headers, and of what `parse` takes.
    pub(super) fn headers<T>(
        &mut self,
        of: &str,
        parse: impl Fn(&Value) -> Result<T, Problem>,
    ) -> Result<Vec<(HeaderName, T)>, Problem> {
        let headers = self.parse("headers", |source| {
            let wanted = || Problem::new(format!("expected an object of header names and {of}"));
            each_member(source.as_object().ok_or_else(wanted)?, |name, value| {
                let refused = |error: InvalidHeaderName| Problem::new(error.to_string());
                Ok((HeaderName::try_from(name).map_err(refused)?, parse(value)?))
            })
        });
        Ok(headers?.unwrap_or_default())
    }

    /// Refuses members that were not read.
    pub(super) fn finish(self) -> Result<(), Problem> {
        match self.rest.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::new(format!(
                "is not allowed here; the allowed members are {}",
                self.asked.join(", ")
            ))
            .within(name)),
        }
    }
}
