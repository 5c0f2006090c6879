//! What the client knows about its server, and the terms that they negotiated.

use std::sync::Arc;

use http::HeaderValue;
use mcp_proto::lifecycle::Implementation;
use mcp_proto::{Era, ProtocolVersion};
use serde_json::{Map, Value};

/// A server's description of itself, from `server/discover` in the modern era and `initialize` in the legacy era.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The protocol version in use.
    pub version: ProtocolVersion,
    /// The name and version that it reports. They are for display: no behavior may depend on them.
    pub info: Option<Implementation>,
    /// Its capabilities (schema: `ServerCapabilities`).
    pub capabilities: Map<String, Value>,
    /// Its usage instructions for the model.
    pub instructions: Option<String>,
}

/// The current terms between client and server.
#[derive(Debug, Clone, Default)]
pub(super) struct Speaking {
    pub(super) version: Option<ProtocolVersion>,
    pub(super) session: Option<HeaderValue>,
    pub(super) server: Option<Arc<ServerInfo>>,
    /// Grows with each negotiation.
    pub(super) generation: u64,
}

impl Speaking {
    pub(super) fn era(&self) -> Era {
        self.version.map_or(Era::Modern, ProtocolVersion::era)
    }
}

impl ServerInfo {
    /// A server without capabilities, a name and instructions.
    pub fn new(version: ProtocolVersion) -> Self {
        Self { version, info: None, capabilities: Map::new(), instructions: None }
    }

    /// Whether it declared a capability, such as `tools` or `resources/subscribe`.
    pub fn can(&self, capability: &str) -> bool {
        let mut names = capability.split('/');
        let first = names.next().and_then(|name| self.capabilities.get(name));
        let last = names.try_fold(first, |value, name| Some(value?.get(name)));
        !matches!(last.flatten(), None | Some(Value::Null | Value::Bool(false)))
    }

    /// Whether it declared an extension.
    pub fn has_extension(&self, id: &str) -> bool {
        let extensions = self.capabilities.get("extensions");
        extensions.is_some_and(|extensions| extensions.get(id).is_some())
    }

    pub(super) fn read(
        version: ProtocolVersion,
        info: Option<&Value>,
        result: &Value,
    ) -> Arc<Self> {
        let instructions = result.get("instructions").and_then(Value::as_str);
        let capabilities = result.get("capabilities").and_then(Value::as_object);
        Arc::new(Self {
            version,
            info: info.and_then(|info| serde_json::from_value(info.clone()).ok()),
            capabilities: capabilities.cloned().unwrap_or_default(),
            instructions: instructions.map(str::to_owned),
        })
    }
}
