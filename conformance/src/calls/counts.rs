//! How many tools were called, and why the others were not.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shorten::few;

/// The most tools that are named for one reason.
const MAX_NAMES: usize = 8;

/// How many tools of a server were called, and why the others were not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Calls {
    /// How many tools the server lists.
    pub tools: usize,
    /// About how many tokens a model reads for all of them.
    pub tokens: usize,
    /// How many of them were called.
    pub called: usize,
    /// The revision in which most were called.
    pub revision: String,
    /// Tools whose required arguments could not be made from their schema.
    pub need_arguments: Vec<String>,
    /// Tools that are neither annotated as read-only nor named to be called.
    pub not_read_only: Vec<String>,
    /// Tools that can be called only as tasks.
    pub tasks: Vec<String>,
    /// Tools for which no time was left.
    pub no_time: Vec<String>,
    /// Tools of those that were called, whose answer was an error at least once.
    pub errors: Vec<String>,
}

/// About how many tokens a model reads for a tool: a token has four bytes of JSON on average.
pub(crate) fn tokens(tool: &Value) -> usize {
    let text: usize = ["name", "description", "inputSchema"]
        .iter()
        .filter_map(|member| tool.get(*member))
        .map(|it| it.to_string().len())
        .sum();
    text.div_ceil(4)
}

/// Such as `called 27 of 29 tools; 2 need arguments (--call NAME={…}): move, copy`.
impl fmt::Display for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.tools == 1 { "" } else { "s" };
        write!(formatter, "called {} of {} tool{plural}", self.called, self.tools)?;
        for (names, verbs, what) in [
            (&self.need_arguments, ["needs", "need"], "arguments (--call NAME={…})"),
            (&self.not_read_only, ["is", "are"], "not marked as read-only (--call NAME)"),
            (&self.tasks, ["runs", "run"], "only as a task"),
            (&self.no_time, ["was", "were"], "left out for time"),
            (
                &self.errors,
                ["answered"; 2],
                "with an error (--call NAME={…} gives other arguments)",
            ),
        ] {
            if !names.is_empty() {
                let [one, many] = verbs;
                let verb = if names.len() == 1 { one } else { many };
                write!(formatter, "; {} {verb} {what}: {}", names.len(), few(names, MAX_NAMES))?;
            }
        }
        write!(formatter, "; the list takes about {} tokens", self.tokens)
    }
}
