//! The capabilities that a client declares, unchanged, and which of them are malformed.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json;

/// The capabilities that a client declares (schema: `ClientCapabilities`), kept unchanged: extensions add members.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientCapabilities(Map<String, Value>);

impl ClientCapabilities {
    /// The checked members. All empty ones share one allocation.
    pub(crate) fn shared(members: Map<String, Value>) -> Arc<Self> {
        static NONE: LazyLock<Arc<ClientCapabilities>> = LazyLock::new(Arc::default);
        if members.is_empty() { Arc::clone(&NONE) } else { Arc::new(Self(members)) }
    }

    /// The members, unchanged.
    pub(crate) fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The settings of one capability such as `elicitation`, if the client declared it. Null counts as not declared.
    pub fn get(&self, name: &str) -> Option<&Value> {
        present(self.0.get(name))
    }

    /// Whether the client shows forms to its user. `elicitation` without modes means forms.
    pub fn can_elicit_forms(&self) -> bool {
        let Some(elicitation) = self.get("elicitation") else {
            return false;
        };
        let has = |mode| present(elicitation.get(mode)).is_some();
        has("form") || !has("url")
    }

    /// Whether the client can ask its user to open a URL (since 2025-11-25).
    pub fn can_elicit_urls(&self) -> bool {
        self.get("elicitation").is_some_and(|elicitation| present(elicitation.get("url")).is_some())
    }

    /// Whether the client lets the server use its model.
    pub fn can_sample(&self) -> bool {
        self.get("sampling").is_some()
    }

    /// Whether it supports tools in sampling (since 2025-11-25).
    pub fn can_sample_with_tools(&self) -> bool {
        self.get("sampling").is_some_and(|sampling| present(sampling.get("tools")).is_some())
    }

    /// Whether the client lists its roots.
    pub fn has_roots(&self) -> bool {
        self.get("roots").is_some()
    }

    /// The settings of an extension such as `io.modelcontextprotocol/tasks`, if the client declared it.
    pub fn extension(&self, id: &str) -> Option<&Value> {
        present(self.get("extensions")?.get(id))
    }
}

impl From<Map<String, Value>> for ClientCapabilities {
    fn from(members: Map<String, Value>) -> Self {
        Self(members)
    }
}

/// The path of a known capability whose value is neither an object nor null. Unknown capabilities are ignored. An empty
/// array counts as an object: so PHP writes an empty one.
pub(crate) fn malformed_capability(capabilities: &Map<String, Value>) -> Option<String> {
    let is_wrong = |value: &&Value| match value {
        Value::Object(_) | Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    for (name, value) in capabilities {
        let inner: &[&str] = match name.as_str() {
            "elicitation" => &["form", "url"],
            "sampling" => &["context", "tools"],
            "roots" | "tasks" | "experimental" | "extensions" => &[],
            _ => continue,
        };
        if is_wrong(&value) {
            return Some(name.clone());
        }
        let wrong = match value.as_object().filter(|_| name == "extensions") {
            Some(extensions) => extensions
                .iter()
                .find(|(_, settings)| is_wrong(settings))
                .map(|(id, _)| json::quoted(id)),
            None => inner.iter().find(|mode| value.get(**mode).filter(is_wrong).is_some()).copied(),
        };
        if let Some(wrong) = wrong {
            return Some(format!("{name}.{wrong}"));
        }
    }
    None
}

/// The value, if it is present and not null.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}
