//! Which scopes a caller needs for which of the things that a server offers.

use std::collections::BTreeMap;

use http::Extensions;
use serde_json::{Map, Value};

use super::Scopes;

/// Something that a server offers, for which a caller may need scopes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Guarded {
    /// The tool of this name.
    Tool(String),
    /// The prompt of this name.
    Prompt(String),
    /// Every resource and template whose URI begins so. The longest beginning decides.
    Resources(String),
    /// Every request of this method, such as `completion/complete`.
    Method(String),
}

/// What callers need. Where nobody asks who calls, as on stdin and stdout, everything is allowed.
#[derive(Debug, Default)]
pub(crate) struct Needs(BTreeMap<Guarded, Scopes>);

impl Needs {
    pub(crate) fn insert(&mut self, guarded: Guarded, scopes: Scopes) {
        self.0.insert(guarded, scopes);
    }

    /// Unless scopes are asked for already.
    pub(crate) fn insert_missing(&mut self, guarded: Guarded, scopes: &Scopes) {
        self.0.entry(guarded).or_insert_with(|| scopes.clone());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Guarded> {
        self.0.keys()
    }

    /// Whether lists may differ between callers.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All scopes that a request needs, if its caller has not all of them.
    pub(crate) fn missing(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Extensions,
    ) -> Option<Scopes> {
        if self.is_empty() {
            return None;
        }
        let has = caller.get::<Scopes>()?;
        let text = |member: &str| params.get(member).and_then(Value::as_str);
        let mut needed = self.0.get(&Guarded::Method(method.to_owned())).cloned();
        let mut add = |scopes: Option<&Scopes>| {
            if let Some(scopes) = scopes {
                needed.get_or_insert_default().add(scopes);
            }
        };
        match method {
            "tools/call" => add(text("name").and_then(|name| self.of_tool(name))),
            "prompts/get" => add(text("name").and_then(|name| self.of_prompt(name))),
            "resources/read" | "resources/subscribe" => {
                add(text("uri").and_then(|uri| self.of_resource(uri)));
            }
            "subscriptions/listen" => {
                let wanted = params.get("notifications");
                let uris = wanted.and_then(|wanted| wanted.get("resourceSubscriptions"));
                for uri in uris.and_then(Value::as_array).into_iter().flatten() {
                    add(uri.as_str().and_then(|uri| self.of_resource(uri)));
                }
            }
            _ => {}
        }
        needed.filter(|needed| !has.contain(needed))
    }

    /// Whether a caller may see a tool.
    pub(crate) fn show_tool(&self, name: &str, caller: &Extensions) -> bool {
        allows(self.of_tool(name), caller)
    }

    /// Whether a caller may see a prompt.
    pub(crate) fn show_prompt(&self, name: &str, caller: &Extensions) -> bool {
        allows(self.of_prompt(name), caller)
    }

    /// Whether a caller may see a resource or a template.
    pub(crate) fn show_resource(&self, uri: &str, caller: &Extensions) -> bool {
        allows(self.of_resource(uri), caller)
    }

    fn of_tool(&self, name: &str) -> Option<&Scopes> {
        self.0.get(&Guarded::Tool(name.to_owned()))
    }

    fn of_prompt(&self, name: &str) -> Option<&Scopes> {
        self.0.get(&Guarded::Prompt(name.to_owned()))
    }

    fn of_resource(&self, uri: &str) -> Option<&Scopes> {
        let prefixes = self.0.iter().filter_map(|(guarded, scopes)| match guarded {
            Guarded::Resources(prefix) if uri.starts_with(prefix) => Some((prefix.len(), scopes)),
            _ => None,
        });
        prefixes
            .max_by_key(|(length, _)| *length)
            .map(|(_, scopes)| scopes)
    }
}

fn allows(needed: Option<&Scopes>, caller: &Extensions) -> bool {
    match (needed, caller.get::<Scopes>()) {
        (Some(needed), Some(has)) => has.contain(needed),
        _ => true,
    }
}
