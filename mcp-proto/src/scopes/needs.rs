//! Which scopes a caller needs for which of the things that a server offers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    /// Every resource and template whose URI has this prefix. The longest prefix decides.
    Resources(String),
    /// Every request of this method, such as `completion/complete`.
    Method(String),
}

/// What a caller wants: to use something or, where it is asked without arguments, to see it in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Wanted<'w> {
    /// A tool, and what it is called with.
    Tool(&'w str, Option<&'w Map<String, Value>>),
    /// A prompt, and what it is filled in with.
    Prompt(&'w str, Option<&'w Map<String, Value>>),
    /// A resource by its URI, to read it or subscribe to it; in the list of templates, a template.
    Resource(&'w str),
    /// A completion, by the params of its request.
    Completion(&'w Map<String, Value>),
}

impl Guarded {
    /// Whether that is wanted.
    pub(crate) fn is(&self, wanted: Wanted<'_>) -> bool {
        match (self, wanted) {
            (Self::Tool(name), Wanted::Tool(wanted, _))
            | (Self::Prompt(name), Wanted::Prompt(wanted, _)) => name == wanted,
            (Self::Resources(prefix), Wanted::Resource(uri)) => uri.starts_with(prefix),
            _ => false,
        }
    }
}

/// All scopes that a caller needs for what it wants, if those that it has are not enough.
type Judge = Arc<dyn Fn(Wanted<'_>, &Scopes) -> Option<Scopes> + Send + Sync>;

/// The scopes that callers need. Without authorization, as on stdin and stdout, everything is allowed.
#[derive(Clone, Default)]
pub(crate) struct Needs {
    pub(crate) fixed: BTreeMap<Guarded, Scopes>,
    /// Scopes by annotations, for things without an entry in `fixed`.
    derived: BTreeMap<Guarded, Scopes>,
    /// What is derived for things that only read, and for others.
    pub(crate) by_annotation: Option<(Scopes, Scopes)>,
    pub(crate) judge: Option<Judge>,
    /// Methods of extensions that name a resource.
    pub(crate) by_uri: BTreeSet<String>,
}

impl Needs {
    /// Derives the scopes of something, if they are derived.
    pub(crate) fn derive(&mut self, guarded: Guarded, only_reads: bool) {
        if let Some((read, write)) = &self.by_annotation {
            let scopes = if only_reads { read } else { write };
            self.derived.insert(guarded, scopes.clone());
        }
    }

    fn get(&self, guarded: &Guarded) -> Option<&Scopes> {
        let fixed = self.fixed.get(guarded);
        fixed.or_else(|| self.derived.get(guarded))
    }

    /// Whether lists may differ between callers.
    pub(crate) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.derived.is_empty() && self.judge.is_none()
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
        let mut missing = None;
        let method_itself = Guarded::Method(method.to_owned());
        let needed = self.get(&method_itself);
        add(&mut missing, needed.filter(|needed| !has.contain(needed)));
        let text = |member: &str| params.get(member).and_then(Value::as_str);
        let arguments = params.get("arguments").and_then(Value::as_object);
        let wanted = match method {
            "tools/call" => text("name").map(|name| Wanted::Tool(name, arguments)),
            "prompts/get" => text("name").map(|name| Wanted::Prompt(name, arguments)),
            "resources/read" | "resources/subscribe" => text("uri").map(Wanted::Resource),
            "completion/complete" => Some(Wanted::Completion(params)),
            _ if self.by_uri.contains(method) => text("uri").map(Wanted::Resource),
            _ => None,
        };
        let wanted_at_once = match method {
            "subscriptions/listen" => params.get("notifications"),
            _ => None,
        };
        let uris = wanted_at_once.and_then(|wanted| wanted.get("resourceSubscriptions"));
        let uris = uris.and_then(Value::as_array).into_iter().flatten();
        let uris = uris.filter_map(Value::as_str).map(Wanted::Resource);
        for wanted in wanted.into_iter().chain(uris) {
            add(&mut missing, self.missing_for(wanted, has).as_ref());
        }
        missing
    }

    /// All scopes that something needs, if its caller has not all of them.
    fn missing_for(&self, wanted: Wanted<'_>, has: &Scopes) -> Option<Scopes> {
        let fixed = match wanted {
            Wanted::Tool(name, _) => self.get(&Guarded::Tool(name.to_owned())),
            Wanted::Prompt(name, _) => self.get(&Guarded::Prompt(name.to_owned())),
            Wanted::Resource(uri) => self.of_resource(uri),
            Wanted::Completion(_) => None,
        };
        let mut missing = fixed.filter(|needed| !has.contain(needed)).cloned();
        let judged = self.judge.as_ref().and_then(|judge| judge(wanted, has));
        add(&mut missing, judged.as_ref());
        missing
    }

    /// Whether a caller may see something.
    pub(crate) fn show(&self, wanted: Wanted<'_>, caller: &Extensions) -> bool {
        let has = caller.get::<Scopes>();
        has.is_none_or(|has| self.missing_for(wanted, has).is_none())
    }

    fn of_resource(&self, uri: &str) -> Option<&Scopes> {
        let all = self.derived.iter().chain(&self.fixed);
        let prefixes = all.filter_map(|(guarded, scopes)| match guarded {
            Guarded::Resources(prefix) if uri.starts_with(prefix) => Some((prefix.len(), scopes)),
            _ => None,
        });
        prefixes.max_by_key(|(length, _)| *length).map(|(_, scopes)| scopes)
    }
}

fn add(all: &mut Option<Scopes>, more: Option<&Scopes>) {
    if let Some(more) = more {
        all.get_or_insert_default().add(more);
    }
}
