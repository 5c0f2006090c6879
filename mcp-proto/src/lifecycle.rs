//! Who is talking and what each side can do: `_meta` of every request and `server/discover`.

mod capabilities;
mod meta_key;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Icon;
use crate::json;
use crate::jsonrpc::ErrorObject;
use crate::logging::LogLevel;
use crate::version::{Era, ProtocolVersion};
pub use capabilities::ClientCapabilities;
pub(crate) use capabilities::malformed_capability;
pub(crate) use meta_key::{is_extension_id, is_meta_key};

/// `_meta` key of every modern request: its protocol version.
pub const META_PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// `_meta` key of every modern request: what the client can do.
pub const META_CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// `_meta` key of a modern request: who the client is. Optional, and for display only.
pub const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// `_meta` key of every modern result: who the server is.
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// `_meta` key of every message of a `subscriptions/listen` stream.
pub const META_SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// `_meta` key of what belongs to a task of 2025-11-25: an object with its `taskId`.
pub const META_RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// `_meta` key of a modern request: the least level of the log messages it wants.
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The identifier of the tasks extension.
pub(crate) const EXTENSION_TASKS: &str = "io.modelcontextprotocol/tasks";

/// The most resources that one session or one listen subscribes to.
pub const MAX_SUBSCRIPTIONS: usize = 256;

/// The most that the URIs of these have together, in bytes.
pub const MAX_SUBSCRIPTION_BYTES: usize = 64 * 1024;

/// Name and version of a client or a server (schema: `Implementation`). For display: nothing may depend on it.
///
/// Read leniently: only the strings `name` and `version` are needed, other members that cannot be read count as absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(
        default,
        deserialize_with = "json::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is.
    #[serde(
        default,
        deserialize_with = "json::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub description: Option<String>,
    /// Its home page.
    #[serde(
        default,
        deserialize_with = "json::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub website_url: Option<String>,
    /// Its pictures.
    #[serde(
        default,
        deserialize_with = "json::lenient_list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
}

/// What a server says it can do (schema: `ServerCapabilities`).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<ListCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<ListCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompts: Option<ListCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completions: Option<Settings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) logging: Option<Settings>,
    /// The experimental tasks of 2025-11-25, as they are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<Value>,
    /// By identifier.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) extensions: Settings,
    /// Whether there are tasks, which each era tells in its own place.
    #[serde(skip)]
    pub(crate) has_tasks: bool,
}

impl ServerCapabilities {
    /// As they are told in a revision.
    pub(crate) fn told(&self, version: ProtocolVersion) -> Cow<'_, Self> {
        if !self.has_tasks {
            return Cow::Borrowed(self);
        }
        let mut told = self.clone();
        if version.era() == Era::Modern {
            told.extensions
                .insert(EXTENSION_TASKS.to_owned(), json!({}));
        } else if version == ProtocolVersion::V2025_11_25 {
            told.tasks = Some(json!({
                "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } },
            }));
        }
        Cow::Owned(told)
    }
}

/// The settings of a capability; often none.
pub(crate) type Settings = Map<String, Value>;

/// The capability of a list that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) list_changed: bool,
    /// Whether its members can be subscribed to: resources alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) subscribe: bool,
}

/// What every modern request says of itself in `_meta`, judged; what the client says of itself stays there until it is
/// taken out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModernMeta {
    pub(crate) version: ProtocolVersion,
    pub(crate) log_level: Option<LogLevel>,
}

impl Implementation {
    /// Name and version, without the rest.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: Vec::new(),
        }
    }

    /// The same with a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl ModernMeta {
    /// Whether the request claims to be modern: its `_meta` names a version, whichever.
    pub(crate) fn is_claimed(params: &Map<String, Value>) -> bool {
        params
            .get("_meta")
            .is_some_and(|meta| meta.get(META_PROTOCOL_VERSION).is_some())
    }

    /// Reads and judges `_meta`: −32602 where it is missing or malformed, then −32022 for a version not served.
    pub(crate) fn read(params: &Map<String, Value>) -> Result<Self, ErrorObject> {
        let meta = match params.get("_meta") {
            Some(Value::Object(meta)) => meta,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params._meta must be an object",
                ));
            }
            None => return Err(missing(META_PROTOCOL_VERSION)),
        };
        let version = match meta.get(META_PROTOCOL_VERSION) {
            Some(Value::String(version)) => version,
            Some(_) => return Err(malformed(META_PROTOCOL_VERSION, "a string")),
            None => return Err(missing(META_PROTOCOL_VERSION)),
        };
        match meta.get(META_CLIENT_CAPABILITIES) {
            Some(Value::Object(capabilities)) => {
                if let Some(path) = malformed_capability(capabilities) {
                    return Err(ErrorObject::invalid_params(format!(
                        "params._meta[{META_CLIENT_CAPABILITIES:?}].{path} must be an object"
                    )));
                }
            }
            Some(_) => return Err(malformed(META_CLIENT_CAPABILITIES, "an object")),
            None => return Err(missing(META_CLIENT_CAPABILITIES)),
        }
        match meta.get(META_CLIENT_INFO) {
            None | Some(Value::Null) => {}
            Some(client) => {
                let is_text = |member| client.get(member).is_some_and(Value::is_string);
                if !is_text("name") || !is_text("version") {
                    return Err(malformed(
                        META_CLIENT_INFO,
                        "an object with the strings name and version",
                    ));
                }
            }
        }
        let log_level = match meta.get(META_LOG_LEVEL) {
            None => None,
            Some(level) => Some(read_level(level).ok_or_else(|| {
                malformed(META_LOG_LEVEL, &format!("one of {}", LogLevel::names()))
            })?),
        };
        let version = version
            .parse()
            .ok()
            .filter(|version: &ProtocolVersion| version.era() == Era::Modern)
            .ok_or_else(|| unsupported(version))?;
        Ok(Self { version, log_level })
    }

    /// Who sent it and what they can do, taken out of the `_meta` that was judged.
    pub(crate) fn take_client(
        meta: &mut Map<String, Value>,
    ) -> (Option<Implementation>, ClientCapabilities) {
        let client = meta
            .remove(META_CLIENT_INFO)
            .and_then(|client| serde_json::from_value(client).ok());
        let capabilities = ClientCapabilities::taken(meta.remove(META_CLIENT_CAPABILITIES));
        (client, capabilities)
    }
}

fn read_level(level: &Value) -> Option<LogLevel> {
    level.as_str()?.parse().ok()
}

/// −32022: names what was asked for and what `server/discover` lists.
fn unsupported(requested: &str) -> ErrorObject {
    let shown: String = requested.chars().take(40).collect();
    ErrorObject::new(
        ErrorObject::UNSUPPORTED_VERSION,
        format!(
            "protocol version {shown:?} is not served; older versions are reached by initialize"
        ),
    )
    .with_data(json!({ "supported": ProtocolVersion::ALL, "requested": requested }))
}

fn missing(key: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("params._meta needs {key:?}"))
}

fn malformed(key: &str, wanted: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("params._meta[{key:?}] must be {wanted}"))
}
