//! Results as they go onto the wire, with what each era adds to them.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::content::ContentBlock;
use crate::lifecycle::{Implementation, META_SERVER_INFO, ServerCapabilities};
use crate::tool::{CallToolResult, Tool};
use crate::version::{Era, ProtocolVersion};

/// How long a client may keep a list that is the same for everybody, in milliseconds (2026-07-28, caching hints).
const LIST_TTL_MS: u64 = 60_000;

/// `CallToolResult` as sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireCallToolResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    content: &'a [ContentBlock],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "ResultMeta::is_empty")]
    meta: ResultMeta<'a>,
}

/// `ListToolsResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListToolsResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    tools: Vec<&'a Tool>,
    #[serde(flatten)]
    caching: Option<Caching>,
    #[serde(rename = "_meta", skip_serializing_if = "ResultMeta::is_empty")]
    meta: ResultMeta<'a>,
}

/// `DiscoverResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiscoverResult<'a> {
    result_type: ResultType,
    supported_versions: [ProtocolVersion; 5],
    capabilities: &'a ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(flatten)]
    caching: Caching,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

/// `InitializeResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResult<'a> {
    pub(super) protocol_version: ProtocolVersion,
    pub(super) capabilities: &'a ServerCapabilities,
    pub(super) server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
}

/// What kind of result a modern one is.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResultType {
    Complete,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Caching {
    ttl_ms: u64,
    cache_scope: &'static str,
}

/// `_meta` of a result: the handler's members and, in the modern era, the server's name.
#[derive(Debug)]
pub(super) struct ResultMeta<'a> {
    members: Option<&'a Map<String, Value>>,
    server_info: Option<&'a RawValue>,
}

const PUBLIC_LIST: Caching = Caching {
    ttl_ms: LIST_TTL_MS,
    cache_scope: "public",
};

impl<'a> WireCallToolResult<'a> {
    pub(super) fn new(result: &'a CallToolResult, era: Era, server_info: &'a RawValue) -> Self {
        Self {
            result_type: result_type(era),
            content: &result.content,
            // Before 2026-07-28 it is an object; the text says the same to those clients.
            structured_content: result
                .structured_content
                .as_deref()
                .filter(|json| era == Era::Modern || json.get().starts_with('{')),
            is_error: result.is_error,
            meta: ResultMeta::new(result.meta.as_ref(), era, server_info),
        }
    }
}

impl<'a> ListToolsResult<'a> {
    pub(super) fn new(tools: Vec<&'a Tool>, era: Era, server_info: &'a RawValue) -> Self {
        Self {
            result_type: result_type(era),
            tools,
            caching: (era == Era::Modern).then_some(PUBLIC_LIST),
            meta: ResultMeta::new(None, era, server_info),
        }
    }
}

impl<'a> DiscoverResult<'a> {
    pub(super) fn new(
        capabilities: &'a ServerCapabilities,
        instructions: Option<&'a str>,
        server_info: &'a RawValue,
    ) -> Self {
        Self {
            result_type: ResultType::Complete,
            supported_versions: ProtocolVersion::ALL,
            capabilities,
            instructions,
            caching: PUBLIC_LIST,
            meta: ResultMeta::new(None, Era::Modern, server_info),
        }
    }
}

impl<'a> ResultMeta<'a> {
    fn new(members: Option<&'a Map<String, Value>>, era: Era, server_info: &'a RawValue) -> Self {
        Self {
            members,
            server_info: (era == Era::Modern).then_some(server_info),
        }
    }

    fn is_empty(&self) -> bool {
        self.members.is_none() && self.server_info.is_none()
    }
}

impl Serialize for ResultMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members.into_iter().flatten();
        let members =
            members.filter(|(key, _)| self.server_info.is_none() || *key != META_SERVER_INFO);
        let members = members.map(|(key, value)| (key.as_str(), Member::Value(value)));
        let server_info = self
            .server_info
            .map(|info| (META_SERVER_INFO, Member::Raw(info)));
        serializer.collect_map(members.chain(server_info))
    }
}

/// A member of `_meta`, from either source.
#[derive(Serialize)]
#[serde(untagged)]
enum Member<'a> {
    Value(&'a Value),
    Raw(&'a RawValue),
}

fn result_type(era: Era) -> Option<ResultType> {
    (era == Era::Modern).then_some(ResultType::Complete)
}
