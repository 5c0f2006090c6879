//! Who is talking and what each side can do: the legacy handshake and the modern `_meta` and `server/discover`.

mod capabilities;
mod meta_key;

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Icon;
use crate::json;
use crate::jsonrpc::{ErrorObject, Request};
use crate::logging::LogLevel;
use crate::version::{Era, ProtocolVersion};
use capabilities::malformed_capability;

pub use capabilities::ClientCapabilities;
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

/// The most that a session keeps of `clientInfo` and `capabilities` together, in bytes as JSON. Icons, which are
/// display alone, are dropped first; an `initialize` that is still larger is refused.
pub const MAX_CLIENT_BYTES: usize = 16 * 1024;

/// The most JSON values in a session's `capabilities`: in memory, a small object takes far more than its text.
pub const MAX_CAPABILITY_VALUES: usize = 256;

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

/// What a legacy request changes of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange {
    /// `resources/subscribe`: to hear of changes of this resource.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
    /// `logging/setLevel`: to get log messages of this level and above.
    LogLevel(LogLevel),
}

/// What a legacy client opens with (schema: `InitializeRequestParams`).
#[derive(Debug, Clone)]
pub(crate) struct InitializeParams {
    pub(crate) protocol_version: String,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) client_info: Implementation,
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

impl InitializeParams {
    /// Reads and judges the params: −32602 without the strings `protocolVersion`, `clientInfo.name` and
    /// `clientInfo.version`, or above [`MAX_CLIENT_BYTES`] or [`MAX_CAPABILITY_VALUES`].
    pub(crate) fn read(mut params: Map<String, Value>) -> Result<Self, ErrorObject> {
        let Some(Value::String(protocol_version)) = params.remove("protocolVersion") else {
            return Err(ErrorObject::invalid_params(
                "initialize needs params.protocolVersion, a string",
            ));
        };
        let capabilities = match params.remove("capabilities") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(Value::Object(capabilities)) => {
                if let Some(path) = malformed_capability(&capabilities) {
                    return Err(ErrorObject::invalid_params(format!(
                        "params.capabilities.{path} must be an object"
                    )));
                }
                Value::Object(capabilities)
            }
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.capabilities must be an object",
                ));
            }
        };
        if !json::is_small(&capabilities, MAX_CAPABILITY_VALUES, usize::MAX) {
            return Err(ErrorObject::invalid_params(format!(
                "params.capabilities has more than {MAX_CAPABILITY_VALUES} values"
            )));
        }
        let mut client_info = params
            .remove("clientInfo")
            .and_then(|client| serde_json::from_value::<Implementation>(client).ok())
            .ok_or_else(|| {
                ErrorObject::invalid_params(
                    "initialize needs params.clientInfo, an object with the strings name and version",
                )
            })?;
        if !fits(&client_info, &capabilities) {
            client_info.icons = Vec::new();
            if !fits(&client_info, &capabilities) {
                return Err(ErrorObject::invalid_params(format!(
                    "params.clientInfo and params.capabilities are together longer than {MAX_CLIENT_BYTES} bytes"
                )));
            }
        }
        Ok(Self {
            protocol_version,
            capabilities: ClientCapabilities::taken(Some(capabilities)),
            client_info,
        })
    }

    /// The version to go on with: the client's if it has a handshake here, else our newest that has one.
    pub(crate) fn negotiated(&self) -> ProtocolVersion {
        self.protocol_version
            .parse()
            .ok()
            .filter(|version: &ProtocolVersion| version.era() == Era::Legacy)
            .unwrap_or(ProtocolVersion::LATEST_LEGACY)
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

impl SessionChange {
    /// What a legacy request changes of its session, once it is answered; `None` for requests that change nothing and
    /// for params that will be refused.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let text = |name| request.params.get(name).and_then(Value::as_str);
        match request.method.as_str() {
            "resources/subscribe" => text("uri").map(|uri| Self::Subscribe(uri.to_owned())),
            "resources/unsubscribe" => text("uri").map(|uri| Self::Unsubscribe(uri.to_owned())),
            "logging/setLevel" => text("level")?.parse().ok().map(Self::LogLevel),
            _ => None,
        }
    }
}

fn read_level(level: &Value) -> Option<LogLevel> {
    level.as_str()?.parse().ok()
}

/// Whether a session may keep both; stops to count where they do not.
fn fits(client_info: &Implementation, capabilities: &Value) -> bool {
    struct Room(usize);
    impl io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut room = Room(MAX_CLIENT_BYTES);
    serde_json::to_writer(&mut room, client_info).is_ok()
        && serde_json::to_writer(&mut room, capabilities).is_ok()
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
