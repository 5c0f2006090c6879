//! `initialize`: the request that opens a session, and its result.

use serde::Serialize;
use serde_json::Value;

use crate::json::{self, json_size};
use crate::jsonrpc::{ErrorObject, Payload, Request, Result};
use crate::lifecycle::{
    ClientCapabilities, Implementation, ServerCapabilities, malformed_capability,
};
use crate::server::Server;
use crate::version::{Era, ProtocolVersion};

/// The most that a session keeps of `clientInfo` and `capabilities` together, in bytes as JSON. Icons, which are only
/// for display, are dropped first; an `initialize` that is still larger is refused.
pub const MAX_CLIENT_BYTES: usize = 16 * 1024;

/// The most JSON values in a session's `capabilities`: in memory, a small object takes far more than its text.
pub const MAX_CAPABILITY_VALUES: usize = 256;

/// The params with which a legacy client opens a session (schema: `InitializeRequestParams`).
#[derive(Debug, Clone)]
pub(crate) struct InitializeParams {
    pub(crate) protocol_version: String,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) client_info: Implementation,
}

/// `InitializeResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult<'a> {
    protocol_version: ProtocolVersion,
    capabilities: &'a ServerCapabilities,
    server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl Server {
    /// The result of `initialize`; the transport creates the session. It is written when a client first asks for it.
    pub(crate) fn initialize(&self, version: ProtocolVersion) -> Result<Payload> {
        let write = || {
            let result = Payload::of(&InitializeResult {
                protocol_version: version,
                capabilities: &self.0.capabilities.for_version(version),
                server_info: &self.0.info,
                instructions: self.0.instructions.as_deref(),
            });
            result.map(Payload::shared)
        };
        match self.0.initialized.get(version as usize) {
            Some(written) => written.get_or_init(write).clone(),
            None => write(),
        }
    }
}

impl InitializeParams {
    /// Reads and checks the params: −32602 without the string `protocolVersion`, or above [`MAX_CLIENT_BYTES`] or
    /// [`MAX_CAPABILITY_VALUES`].
    pub(crate) fn read(mut request: Request) -> Result<Self> {
        let mut take = |member| request.params.remove(member);
        let Some(Value::String(protocol_version)) = take("protocolVersion") else {
            return Err(ErrorObject::invalid_params(
                "initialize needs params.protocolVersion, a string",
            ));
        };
        let Some(capabilities) = json::object_or_empty(take("capabilities")) else {
            return Err(ErrorObject::invalid_params("params.capabilities must be an object"));
        };
        if let Some(path) = malformed_capability(&capabilities) {
            return Err(ErrorObject::invalid_params(format!(
                "params.capabilities.{path} must be an object"
            )));
        }
        let capabilities = Value::Object(capabilities);
        if !json::is_small(&capabilities, MAX_CAPABILITY_VALUES, usize::MAX) {
            return Err(ErrorObject::invalid_params(format!(
                "params.capabilities has more than {MAX_CAPABILITY_VALUES} values"
            )));
        }
        // For display only, which is no reason to refuse a client.
        let client_info = take("clientInfo").filter(Value::is_object);
        let mut client_info = client_info
            .and_then(|client| serde_json::from_value(client).ok())
            .unwrap_or_else(|| Implementation::new("", ""));
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
            capabilities: match capabilities {
                Value::Object(members) => members.into(),
                _ => ClientCapabilities::default(),
            },
            client_info,
        })
    }

    /// The negotiated version: the client's if it has a handshake here, otherwise our newest that has one.
    pub(crate) fn negotiated(&self) -> ProtocolVersion {
        self.protocol_version
            .parse()
            .ok()
            .filter(|version: &ProtocolVersion| version.era() == Era::Legacy)
            .unwrap_or(ProtocolVersion::LATEST_LEGACY)
    }
}

/// Whether a session may keep both.
fn fits(client_info: &Implementation, capabilities: &Value) -> bool {
    json_size(client_info).saturating_add(json_size(capabilities)) <= MAX_CLIENT_BYTES
}
