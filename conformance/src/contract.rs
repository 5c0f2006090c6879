//! What a server offers, as one value that can be kept in a file and compared with another: its contract.
//!
//! It is read from a live server, from a lock file, from the result of a list, or from transcripts. Lists are kept by
//! name, so that their order does not matter. What was not read is not the same as what is not there: it is not
//! compared, and a note says so.

mod annotations;
mod change;
mod compare;
mod items;
mod live;
mod lock;
mod recorded;
mod renamed;
mod report;
mod same;
mod schema;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::change::{Change, Impact, TextChange};
pub use self::compare::ContractDiff;
pub(crate) use self::live::opened;
use crate::probe::Revision;
use crate::target::TargetError;

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contract {
    /// Where it was read: a URL, a command or a file.
    #[serde(skip)]
    source: String,
    /// The name and the version that the server gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Value>,
    /// The revision in which it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Value>,
    /// What could not be read, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The items of each list, by name. A list that was not read is absent.
    #[serde(flatten)]
    lists: BTreeMap<ItemKind, BTreeMap<String, Value>>,
}

/// What a server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ItemKind {
    #[serde(rename = "tools")]
    Tool,
    #[serde(rename = "prompts")]
    Prompt,
    #[serde(rename = "resources")]
    Resource,
    #[serde(rename = "resourceTemplates")]
    Template,
}

/// Why a contract could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// The server cannot be reached.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The server answers, but in none of the requested revisions.
    #[error("{0} answers, but supports none of the requested protocol revisions")]
    Revision(String),
    /// The file cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl ItemKind {
    const ALL: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Template];

    /// The request that lists them.
    fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/list",
            Self::Prompt => "prompts/list",
            Self::Resource => "resources/list",
            Self::Template => "resources/templates/list",
        }
    }

    /// The member of its result.
    fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
        }
    }

    /// The member by which an item is known.
    fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        }
    }
}

impl Contract {
    /// Reads a lock file, the result of a list as JSON, or transcripts (`*.jsonl`, or a directory of them).
    ///
    /// # Errors
    /// [`ContractError::File`].
    pub fn read(path: &Path) -> Result<Self, ContractError> {
        let is_recorded = path.is_dir() || path.extension().is_some_and(|it| it == "jsonl");
        let read = if is_recorded { recorded::read(path) } else { lock::read(path) };
        read.map_err(|problem| ContractError::File { path: path.to_owned(), problem })
    }

    /// What it says of itself in a few words, such as `files 1.2.0 (server.lock.json)`.
    #[must_use]
    pub fn title(&self) -> String {
        let text = |member: &str| self.server.as_ref()?.get(member)?.as_str();
        let named: Vec<_> = ["name", "version"].into_iter().filter_map(text).collect();
        if named.is_empty() {
            return self.source.clone();
        }
        format!("{} ({})", named.join(" "), self.source)
    }

    /// How many items it has, in words.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = ItemKind::ALL.into_iter().filter_map(|kind| {
            let count = self.lists.get(&kind)?.len();
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {}{plural}", kind.word()))
        });
        let counts: Vec<_> = counts.collect();
        if counts.is_empty() { "nothing listed".to_owned() } else { counts.join(", ") }
    }

    /// Whether it was read in a revision without a handshake.
    fn is_modern(&self) -> bool {
        let revision = self.revision.as_deref().and_then(|it| it.parse::<Revision>().ok());
        revision.is_some_and(Revision::is_modern)
    }

    /// Adds what a greeting says: the result of `initialize` or `server/discover`.
    fn greet(&mut self, result: &Value) {
        let stated = "/_meta/io.modelcontextprotocol~1serverInfo";
        if let Some(info) = result.get("serverInfo").or_else(|| result.pointer(stated)) {
            let kept = ["name", "version"].into_iter();
            let kept = kept.filter_map(|name| Some((name.to_owned(), info.get(name)?.clone())));
            self.server = Some(Map::from_iter(kept).into());
        }
        for (part, known) in
            [("capabilities", &mut self.capabilities), ("instructions", &mut self.instructions)]
        {
            *known = result.get(part).cloned().or_else(|| known.take());
        }
    }

    /// Adds items to a list. What has no name, or a name for the second time, is left out with a note.
    fn add<'a>(&mut self, kind: ItemKind, items: impl IntoIterator<Item = &'a Value>) {
        let list = self.lists.entry(kind).or_default();
        for item in items {
            let Some(name) = item.get(kind.key()).and_then(Value::as_str) else {
                self.notes.push(format!("a {} without a {} is left out", kind.word(), kind.key()));
                continue;
            };
            let mut kept = item.clone();
            if let Some(members) = kept.as_object_mut() {
                members.remove(kind.key());
                // Pictures are no part of what callers rely on, and are large. Sizes and times are data.
                members.remove("icons");
                members.remove("size");
                let annotations = members.get_mut("annotations").and_then(Value::as_object_mut);
                if let Some(annotations) = annotations {
                    annotations.remove("lastModified");
                }
            }
            let known = list.insert(name.to_owned(), kept.clone());
            if known.is_some_and(|known| known != kept) {
                let word = kind.word();
                self.notes.push(format!("two {word}s are called `{name}`: the last is kept"));
            }
        }
    }
}
