//! The wire format of skills: entries, their files, resources.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The prefix of every `_meta` key of a skill's resource (SEP-2640, *Resource Metadata*).
const META_PREFIX: &str = "io.modelcontextprotocol.skills/";

/// A skill as `skills/list` and `skills/get` return it (SEP-2640: `Skill`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// Where its `SKILL.md` is, such as `skill://acme/billing/refunds/SKILL.md`. It identifies the skill.
    pub uri: String,
    /// The YAML frontmatter of its `SKILL.md` as JSON, every field of it; `name` and `description` are there.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: SkillFiles,
}

/// The files of a skill (SEP-2640: `Skill.resources`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SkillFiles {
    /// They are generated when they are read, so that their digests are not known.
    Dynamic,
    /// All of them, each once. A server of this crate has its `SKILL.md` first and the others in the order of their
    /// URIs.
    #[serde(untagged)]
    Listed(Vec<SkillResource>),
}

/// A file of a skill as its entry lists it (SEP-2640: `SkillResource`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillResource {
    /// Where it is.
    pub uri: String,
    /// `sha256:` and 64 lowercase hexadecimal digits, over its bytes.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

impl SkillFiles {
    /// The files; empty for those that are generated.
    #[must_use]
    pub fn listed(&self) -> &[SkillResource] {
        match self {
            Self::Listed(files) => files,
            Self::Dynamic => &[],
        }
    }
}

impl SkillEntry {
    /// The skill's name: the last segment of its path. Other skills may have the same name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.field("name")
    }

    /// What the skill does and when to use it.
    #[must_use]
    pub fn description(&self) -> &str {
        self.field("description")
    }

    /// A field that was checked to be a string before the entry was created.
    fn field(&self, key: &str) -> &str {
        self.frontmatter.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// `_meta` of its `SKILL.md`: the other fields of the frontmatter, their names after
    /// `io.modelcontextprotocol.skills/`. A field whose name cannot be part of a `_meta` key is left out.
    pub(crate) fn meta(&self) -> Option<Map<String, Value>> {
        let fields = self.frontmatter.iter();
        let others = fields.filter(|(key, _)| !matches!(key.as_str(), "name" | "description"));
        let meta: Map<_, _> = others
            .filter(|(key, _)| is_meta_name(key))
            .map(|(key, value)| (format!("{META_PREFIX}{key}"), value.clone()))
            .collect();
        (!meta.is_empty()).then_some(meta)
    }
}

/// Whether a `_meta` key may have this name after its prefix (MCP, "_meta").
fn is_meta_name(name: &str) -> bool {
    let is_edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty()
        || (name.starts_with(is_edge)
            && name.ends_with(is_edge)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)))
}
