//! The tools of a server: looks them up and calls them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::call::{Callable, Refuse, Registered, Started};
use super::new::NewTool;
use super::{CallToolResult, Tool, ToolError};
use crate::content;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Result};
use crate::registry::Registry;
use crate::schema::{MirroredParam, SchemaError};
use crate::service::Call;
use crate::task::TaskSupport;

/// The longest name of a tool (MCP 2025-11-25, "Tool names").
const MAX_NAME: usize = 128;

/// Tools in the order of their registration, which is the order they are listed in. Clones share the tools.
#[derive(Clone, Default)]
pub(crate) struct ToolRegistry {
    tools: Registry<ToolEntry>,
    /// Whether a tool with parameters that headers repeat exists or existed.
    mirrors: bool,
    /// The application's own error for arguments that do not match.
    pub(crate) refuse: Option<Refuse>,
    /// Hidden names; a tool that is added again under one of them is hidden too. It contains the names that the
    /// application has hidden and not shown again.
    hidden: BTreeSet<String>,
    /// Tools that are not declared read-only are hidden, also those added later.
    only_reading: bool,
}

#[derive(Clone)]
struct ToolEntry {
    registered: Arc<Registered>,
    /// Neither listed nor called.
    hidden: bool,
}

impl ToolRegistry {
    pub(crate) fn add(&mut self, new: NewTool) -> Result<(), SchemaError> {
        let NewTool { tool, handler } = new;
        let (nulls, handler) = handler?;
        let name = &tool.name;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(allowed) {
            return Err(SchemaError(format!(
                "a tool's name has 1 to {MAX_NAME} of A-Z a-z 0-9 _ . -"
            )));
        }
        content::check_icons(&tool.icons).map_err(SchemaError)?;
        let hidden = self.hidden.contains(name) || self.only_reading && !tool.only_reads();
        let name = name.clone();
        let registered = Arc::new(Registered::new(tool, nulls, handler)?);
        let mirrors = !registered.mirrored.is_empty();
        if !self.tools.add(name, ToolEntry { registered, hidden }) {
            return Err(SchemaError("another tool has the same name".to_owned()));
        }
        self.mirrors |= mirrors;
        Ok(())
    }

    /// Removes a tool; false if no tool has this name.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.tools.remove(name)
    }

    /// The tools as they are listed.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Tool> {
        let shown = self.tools.iter().filter(|entry| !entry.hidden);
        shown.map(|entry| &entry.registered.tool)
    }

    /// All tools, including hidden ones.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|entry| &entry.registered.tool)
    }

    /// Hides or shows tools. Returns whether that changes anything; `None`, without a change, if one of these names
    /// belongs to no tool.
    pub(crate) fn set_hidden(&mut self, names: &[&str], hidden: bool) -> Option<bool> {
        if !names.iter().all(|name| self.tools.get(name).is_some()) {
            return None;
        }
        let mut changed = false;
        for &name in names {
            if let Some(entry) = self.tools.get_mut(name) {
                changed |= entry.hidden != hidden;
                entry.hidden = hidden;
            }
            if hidden {
                self.hidden.insert(name.to_owned())
            } else {
                self.hidden.remove(name)
            };
        }
        Some(changed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether there is a tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.shown(name).is_some()
    }

    /// Whether this exact tool is registered, not another one of the same name.
    pub(crate) fn has_same(&self, name: &str, other: &Self) -> bool {
        let both = self.tools.get(name).zip(other.tools.get(name));
        both.is_some_and(|(one, other)| one.is(other))
    }

    /// Whether the other registry has exactly these tools.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.tools.is_same(&other.tools, ToolEntry::is)
    }

    /// Whether a tool is declared read-only.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|it| it.registered.tool.only_reads())
    }

    /// Hides the tools that are not declared read-only.
    pub(crate) fn hide_writing(&mut self) {
        self.only_reading = true;
        for entry in self.tools.iter_mut() {
            entry.hidden |= !entry.registered.tool.only_reads();
        }
    }

    /// The parameters of a tool that headers repeat; none for an unknown tool.
    pub(crate) fn mirrored(&self, name: &str) -> &[MirroredParam] {
        let shown = self.mirrors.then(|| self.shown(name)).flatten();
        shown.map(|it| &*it.mirrored).unwrap_or_default()
    }

    /// The tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Callable> {
        self.shown(name).map(|registered| Callable(Arc::clone(registered)))
    }

    /// The tool that a call names.
    pub(crate) fn named(&self, call: &Call) -> Result<Callable> {
        let Some(name) = &call.name else {
            let problem = "tools/call needs params.name, a string";
            return Err(ErrorObject::invalid_params(problem));
        };
        self.find(name).ok_or_else(|| unknown(name))
    }

    /// Whether calls of a tool may become tasks, if there is such a tool.
    pub(crate) fn task_support(&self, name: &str) -> Option<TaskSupport> {
        Some(self.shown(name)?.tool.task_support)
    }

    /// Judges the arguments of a call: the first half of it, which takes them all. A caller that only awaits the second
    /// half has a small future.
    ///
    /// # Errors
    /// The arguments are not an object.
    pub(crate) fn start(&self, Callable(registered): Callable, call: Call) -> Result<Started> {
        registered.start(call, self.refuse.as_ref())
    }

    /// A failure of a tool as its result, or else the interrupt.
    pub(crate) fn failed(&self, name: &str, error: ToolError) -> Result<CallToolResult, Interrupt> {
        match self.tools.get(name) {
            Some(entry) => entry.registered.failed(error),
            None => error.into_result(),
        }
    }

    fn shown(&self, name: &str) -> Option<&Arc<Registered>> {
        let entry = self.tools.get(name).filter(|entry| !entry.hidden);
        entry.map(|entry| &entry.registered)
    }
}

impl ToolEntry {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.registered, &other.registered)
    }
}

/// The error for an unknown tool name.
pub(crate) fn unknown(name: &str) -> ErrorObject {
    let shown: String = name.chars().take(MAX_NAME).collect();
    ErrorObject::invalid_params(format!("unknown tool {shown:?}"))
}
