//! Results as they are sent, with the members that each era adds.

mod tool_result;

use std::time::Duration;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cache::CacheHint;
use crate::json;
use crate::jsonrpc::Result;
use crate::lifecycle::{META_SERVER_INFO, ServerCapabilities};
use crate::version::{Era, ProtocolVersion};

pub(crate) use tool_result::tool_result;

/// A result with the members that the modern era adds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Complete<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    #[serde(flatten)]
    result: &'a T,
    #[serde(flatten)]
    caching: Option<CacheHint>,
    #[serde(rename = "_meta", skip_serializing_if = "ResultMeta::is_empty")]
    meta: ResultMeta<'a>,
}

/// One page of a list, under the member that the schema names.
#[derive(Debug)]
pub(crate) struct List<'a, T> {
    pub(crate) name: &'static str,
    pub(crate) items: &'a [T],
    pub(crate) next_cursor: Option<String>,
}

/// `InputRequiredResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputRequiredResult<'a> {
    result_type: ResultType,
    input_requests: Map<String, Value>,
    request_state: String,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

/// `DiscoverResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscoverResult<'a> {
    result_type: ResultType,
    supported_versions: [ProtocolVersion; 5],
    capabilities: &'a ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(flatten)]
    caching: CacheHint,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

/// The kind of a modern result.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultType {
    Complete,
    InputRequired,
    /// A task, in the tasks extension.
    Task,
}

/// `_meta` of a result: the handler's members and, in the modern era, the server's name.
#[derive(Debug)]
pub(crate) struct ResultMeta<'a> {
    members: Option<&'a Map<String, Value>>,
    server_info: Option<&'a RawValue>,
}

/// The hint of a list that is the same for every caller.
pub(crate) const PUBLIC_LIST: CacheHint = CacheHint::public(Duration::from_secs(60));

impl<'a, T> Complete<'a, T> {
    pub(crate) fn new(
        result: &'a T,
        caching: Option<CacheHint>,
        meta: Option<&'a Map<String, Value>>,
        era: Era,
        server_info: &'a RawValue,
    ) -> Self {
        Self {
            result_type: result_type(era),
            result,
            caching: caching.filter(|_| era == Era::Modern),
            meta: ResultMeta::new(meta, era, server_info),
        }
    }

    /// `CreateTaskResult` of the tasks extension: flat.
    pub(crate) fn created_task(task: &'a T, server_info: &'a RawValue) -> Self {
        Self {
            result_type: Some(ResultType::Task),
            result: task,
            caching: None,
            meta: ResultMeta::new(None, Era::Modern, server_info),
        }
    }
}

impl<T: Serialize> Serialize for List<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry(self.name, self.items)?;
        if let Some(next) = &self.next_cursor {
            members.serialize_entry("nextCursor", next)?;
        }
        members.end()
    }
}

impl<'a> InputRequiredResult<'a> {
    pub(crate) fn new(
        requests: Map<String, Value>,
        state: String,
        server_info: &'a RawValue,
    ) -> Self {
        Self {
            result_type: ResultType::InputRequired,
            input_requests: requests,
            request_state: state,
            meta: ResultMeta::new(None, Era::Modern, server_info),
        }
    }
}

impl<'a> DiscoverResult<'a> {
    pub(crate) fn new(
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
        Self { members, server_info: (era == Era::Modern).then_some(server_info) }
    }

    fn is_empty(&self) -> bool {
        self.members.is_none() && self.server_info.is_none()
    }

    /// Appends it to a text. Most results have only parts that are text already.
    fn push_to(&self, out: &mut Vec<u8>) -> Result<()> {
        let (None, Some(info)) = (self.members, self.server_info) else {
            return tool_result::push_value(out, self);
        };
        out.push(b'{');
        json::push_string(out, META_SERVER_INFO);
        out.push(b':');
        out.extend_from_slice(info.get().as_bytes());
        out.push(b'}');
        Ok(())
    }
}

impl Serialize for ResultMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members.into_iter().flatten();
        let members =
            members.filter(|(key, _)| self.server_info.is_none() || *key != META_SERVER_INFO);
        let members = members.map(|(key, value)| (key.as_str(), Member::Value(value)));
        let server_info = self.server_info.map(|info| (META_SERVER_INFO, Member::Raw(info)));
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
