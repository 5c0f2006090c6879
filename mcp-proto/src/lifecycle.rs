//! Who is talking and what each side can do: the legacy handshake and the modern `_meta` and `server/discover`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Icon;
use crate::jsonrpc::ErrorObject;
use crate::version::{Era, ProtocolVersion};

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

/// Name and version of a client or a server (schema: `Implementation`). For display: nothing may depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
}

/// What a client says it can do (schema: `ClientCapabilities`), kept as it came: extensions add members.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientCapabilities(Map<String, Value>);

/// What a server says it can do (schema: `ServerCapabilities`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<ListCapability>,
}

/// The capability of a list that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) list_changed: bool,
}

/// What a legacy client opens with (schema: `InitializeRequestParams`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeParams {
    pub(crate) protocol_version: String,
    #[serde(default)]
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) client_info: Implementation,
}

/// What every modern request says of itself in `_meta`, judged.
#[derive(Debug, Clone)]
pub(crate) struct ModernMeta {
    pub(crate) version: ProtocolVersion,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) client: Option<Implementation>,
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

impl ClientCapabilities {
    /// The settings of one capability such as `elicitation`, if the client declared it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The settings of an extension such as `io.modelcontextprotocol/tasks`, if the client declared it.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<&Value> {
        self.0.get("extensions")?.get(id)
    }
}

impl From<Map<String, Value>> for ClientCapabilities {
    fn from(members: Map<String, Value>) -> Self {
        Self(members)
    }
}

impl InitializeParams {
    pub(crate) fn read(params: Map<String, Value>) -> Result<Self, ErrorObject> {
        serde_json::from_value(Value::Object(params)).map_err(|problem| {
            ErrorObject::invalid_params(format!(
                "initialize needs protocolVersion and clientInfo: {problem}"
            ))
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
        let capabilities = match meta.get(META_CLIENT_CAPABILITIES) {
            Some(Value::Object(capabilities)) => ClientCapabilities(capabilities.clone()),
            Some(_) => return Err(malformed(META_CLIENT_CAPABILITIES, "an object")),
            None => return Err(missing(META_CLIENT_CAPABILITIES)),
        };
        let client = match meta.get(META_CLIENT_INFO) {
            None => None,
            Some(client) => Some(Implementation::deserialize(client).map_err(|_| {
                malformed(
                    META_CLIENT_INFO,
                    "an object with the strings name and version",
                )
            })?),
        };
        let version = version
            .parse()
            .ok()
            .filter(|version: &ProtocolVersion| version.era() == Era::Modern)
            .ok_or_else(|| unsupported(version))?;
        Ok(Self {
            version,
            capabilities,
            client,
        })
    }
}

/// −32022: names what was asked for and what is served in the modern form.
fn unsupported(requested: &str) -> ErrorObject {
    let supported: Vec<_> = ProtocolVersion::ALL
        .into_iter()
        .filter(|version| version.era() == Era::Modern)
        .collect();
    ErrorObject::new(
        ErrorObject::UNSUPPORTED_VERSION,
        format!(
            "protocol version {requested:?} is not served; older versions are reached by initialize"
        ),
    )
    .with_data(json!({ "supported": supported, "requested": requested }))
}

fn missing(key: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("params._meta needs {key:?}"))
}

fn malformed(key: &str, wanted: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("params._meta[{key:?}] must be {wanted}"))
}
