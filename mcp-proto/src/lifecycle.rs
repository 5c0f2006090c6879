//! Identity and capabilities of each side: `_meta` of every request and `server/discover`.

mod capabilities;
mod meta_key;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Icon;
use crate::json;
use crate::jsonrpc::{ErrorObject, Result};
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

/// `_meta` key of messages and results that belong to a task of 2025-11-25: an object with its `taskId`.
pub const META_RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// `_meta` key of a modern request: the least severe level of log messages that it wants.
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The identifier of the tasks extension.
pub const EXTENSION_TASKS: &str = "io.modelcontextprotocol/tasks";

/// The most resources that one session or one `subscriptions/listen` may subscribe to.
pub const MAX_SUBSCRIPTIONS: usize = 256;

/// The largest total length of their URIs, in bytes.
pub const MAX_SUBSCRIPTION_BYTES: usize = 64 * 1024;

/// Name and version of a client or a server (schema: `Implementation`). For display: nothing may depend on it.
///
/// Parsed leniently: members that are malformed count as absent, and `name` and `version` are then empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Implementation {
    /// Its name for programs.
    #[serde(default, deserialize_with = "json::lenient")]
    pub name: String,
    /// Its name for people.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    #[serde(default, deserialize_with = "json::lenient")]
    pub version: String,
    /// A description.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL of its home page.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its icons.
    #[serde(
        default,
        deserialize_with = "json::lenient_list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
}

/// The capabilities that a server declares (schema: `ServerCapabilities`).
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
    /// The experimental tasks of 2025-11-25, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<Value>,
    /// By identifier.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) extensions: Settings,
    /// Whether tasks are supported. Each era declares this in a different member.
    #[serde(skip)]
    pub(crate) has_tasks: bool,
}

impl ServerCapabilities {
    /// The capabilities as a revision declares them.
    pub(crate) fn for_version(&self, version: ProtocolVersion) -> Cow<'_, Self> {
        if !self.has_tasks {
            return Cow::Borrowed(self);
        }
        let mut declared = self.clone();
        if version.era() == Era::Modern {
            declared.extensions.insert(EXTENSION_TASKS.to_owned(), json!({}));
        } else if version == ProtocolVersion::V2025_11_25 {
            declared.tasks = Some(json!({
                "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } },
            }));
        }
        Cow::Owned(declared)
    }
}

/// The settings of a capability, often empty.
pub(crate) type Settings = Map<String, Value>;

/// The capability of a list that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) list_changed: bool,
    /// Whether its members can be subscribed to. Only resources can.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) subscribe: bool,
}

/// The validated metadata that every modern request has in `_meta`.
#[derive(Debug)]
pub(crate) struct ModernMeta {
    pub(crate) version: ProtocolVersion,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) client_info: Option<Arc<Implementation>>,
    pub(crate) client_capabilities: Arc<ClientCapabilities>,
    /// The other members.
    pub(crate) others: Map<String, Value>,
}

impl Implementation {
    /// Name and version, without the rest.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }

    /// The same with a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl ModernMeta {
    /// Whether the request claims to be modern: its `_meta` names a version, known or not.
    pub(crate) fn is_claimed(params: &Map<String, Value>) -> bool {
        params.get("_meta").is_some_and(|meta| meta.get(META_PROTOCOL_VERSION).is_some())
    }

    /// The error for a request whose `_meta` names no version.
    pub(crate) fn unclaimed() -> ErrorObject {
        missing(&[META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES])
    }

    /// Takes `_meta` out of the params and validates it: −32602 if it is missing or malformed, then −32022 for a
    /// version that is not served.
    pub(crate) fn take(params: &mut Map<String, Value>) -> Result<Self> {
        let meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            Some(_) => {
                return Err(ErrorObject::invalid_params("params._meta must be an object"));
            }
            None => return Err(Self::unclaimed()),
        };
        let (mut version, mut capabilities, mut client, mut log_level) = (None, None, None, None);
        let mut others = Map::new();
        for (key, value) in meta {
            match key.as_str() {
                META_PROTOCOL_VERSION => version = Some(value),
                META_CLIENT_CAPABILITIES => capabilities = Some(value),
                META_CLIENT_INFO => client = Some(value),
                META_LOG_LEVEL => log_level = Some(value),
                _ => {
                    others.insert(key, value);
                }
            }
        }
        let version = match version {
            Some(Value::String(version)) => version,
            Some(_) => return Err(malformed(META_PROTOCOL_VERSION, "a string")),
            None if capabilities.is_some() => return Err(missing(&[META_PROTOCOL_VERSION])),
            None => return Err(Self::unclaimed()),
        };
        let capabilities = match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            Some(_) => return Err(malformed(META_CLIENT_CAPABILITIES, "an object")),
            None => return Err(missing(&[META_CLIENT_CAPABILITIES])),
        };
        if let Some(path) = malformed_capability(&capabilities) {
            return Err(ErrorObject::invalid_params(format!(
                "params._meta[{META_CLIENT_CAPABILITIES:?}].{path} must be an object"
            )));
        }
        let client_info = match client {
            None | Some(Value::Null) => None,
            Some(client) => {
                let client = serde_json::from_value(client).map_err(|_| {
                    let wanted = "an object with the strings name and version";
                    malformed(META_CLIENT_INFO, wanted)
                })?;
                Some(Arc::new(client))
            }
        };
        let log_level = match log_level {
            None => None,
            Some(level) => Some(read_level(&level).ok_or_else(|| {
                malformed(META_LOG_LEVEL, &format!("one of {}", LogLevel::names()))
            })?),
        };
        let version = version
            .parse()
            .ok()
            .filter(|version: &ProtocolVersion| version.era() == Era::Modern)
            .ok_or_else(|| unsupported(&version))?;
        Ok(Self {
            version,
            log_level,
            client_info,
            client_capabilities: ClientCapabilities::shared(capabilities),
            others,
        })
    }
}

fn read_level(level: &Value) -> Option<LogLevel> {
    level.as_str()?.parse().ok()
}

/// −32022: names the requested version and those that `server/discover` lists.
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

/// −32602. The reader may be a client that pins a version and has a session under an older one.
fn missing(keys: &[&str]) -> ErrorObject {
    let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
    ErrorObject::invalid_params(format!(
        "params._meta needs {}, as every request of {}; a session goes on with the version that initialize returned",
        keys.join(" and "),
        ProtocolVersion::V2026_07_28
    ))
}

fn malformed(key: &str, wanted: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("params._meta[{key:?}] must be {wanted}"))
}
