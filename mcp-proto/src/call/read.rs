//! A `tools/call`, read directly into the types that the server uses. Whatever is unusual ends the reading: the general
//! reader finds the words for it, or that nothing is wrong.

use std::sync::Arc;

use serde::de::{Error, MapAccess};
use serde_json::{Map, Value};

use super::{CallToolRequest, TOOLS_CALL};
use crate::json::{Fields, Member};
use crate::jsonrpc::RequestId;
use crate::lifecycle::{
    ClientCapabilities, Implementation, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL,
    META_PROTOCOL_VERSION, ModernMeta, malformed_capability,
};
use crate::logging::LogLevel;
use crate::version::{Era, ProtocolVersion};

/// The members of the message.
#[derive(Default)]
pub(super) struct PlainCall {
    version: Option<()>,
    id: Option<RequestId>,
    method: Option<()>,
    params: Option<CallToolParams>,
}

/// The params of a call (schema: `CallToolRequestParams`).
#[derive(Default)]
struct CallToolParams {
    name: Option<String>,
    arguments: Option<Value>,
    meta: Option<Meta>,
}

/// `_meta`, judged as [`ModernMeta::take`] judges it.
#[derive(Default)]
struct Meta {
    version: Option<ProtocolVersion>,
    client: Option<Client>,
    capabilities: Option<Value>,
    log_level: Option<LogLevel>,
    others: Map<String, Value>,
}

/// Who the client is.
#[derive(Default)]
struct Client {
    name: Option<String>,
    title: Option<String>,
    version: Option<String>,
    others: Map<String, Value>,
}

impl PlainCall {
    /// The call; `None` for a message of another kind.
    pub(super) fn into_request(self) -> Option<Box<CallToolRequest>> {
        let (((), ()), params) = (self.version.zip(self.method)?, self.params?);
        let (modern, meta) = match params.meta {
            None => (None, None),
            Some(meta) if meta.version.is_some() => (Some(meta.into_modern()?), None),
            // Only a version gives the other members a meaning.
            Some(Meta { client: None, capabilities: None, log_level: None, others, .. }) => {
                (None, Some(others))
            }
            Some(_) => return None,
        };
        let (id, name, arguments) = (self.id?, params.name?, params.arguments);
        Some(Box::new(CallToolRequest { id, name, arguments, modern, meta }))
    }
}

impl Fields for PlainCall {
    fn take<'de, A: MapAccess<'de>>(&mut self, mut member: Member<'_, A>) -> Result<(), A::Error> {
        match member.name {
            "jsonrpc" => is(&mut self.version, member, "2.0"),
            "method" => is(&mut self.method, member, TOOLS_CALL),
            "id" => {
                let id = RequestId::from_value(&member.tree()?);
                member.put(&mut self.id, id.map_err(|_| unusual())?)
            }
            "params" => {
                let params = member.object()?;
                member.put(&mut self.params, params)
            }
            // A message other than a request has these.
            _ => Err(unusual()),
        }
    }
}

impl Fields for CallToolParams {
    fn take<'de, A: MapAccess<'de>>(&mut self, mut member: Member<'_, A>) -> Result<(), A::Error> {
        match member.name {
            "name" => text(&mut self.name, member),
            "arguments" => {
                let arguments = member.tree()?;
                if !arguments.is_object() && !arguments.is_null() {
                    return Err(unusual());
                }
                member.put(&mut self.arguments, arguments)
            }
            "_meta" => {
                let meta = member.object()?;
                member.put(&mut self.meta, meta)
            }
            _ => Err(unusual()),
        }
    }
}

impl Meta {
    fn into_modern(self) -> Option<ModernMeta> {
        let Some(Value::Object(capabilities)) = self.capabilities else {
            return None;
        };
        if malformed_capability(&capabilities).is_some() {
            return None;
        }
        let client_info = match self.client {
            None => None,
            Some(client) => Some(Arc::new(client.into_implementation()?)),
        };
        Some(ModernMeta {
            version: self.version?,
            log_level: self.log_level,
            client_info,
            client_capabilities: ClientCapabilities::shared(capabilities),
            others: self.others,
        })
    }
}

impl Fields for Meta {
    fn take<'de, A: MapAccess<'de>>(&mut self, mut member: Member<'_, A>) -> Result<(), A::Error> {
        match member.name {
            META_PROTOCOL_VERSION => {
                let version = member.text()?.parse::<ProtocolVersion>();
                let version = version.map_err(|_| unusual())?;
                if version.era() == Era::Legacy {
                    return Err(unusual());
                }
                member.put(&mut self.version, version)
            }
            META_CLIENT_INFO => {
                let client = member.object()?;
                member.put(&mut self.client, client)
            }
            META_CLIENT_CAPABILITIES => {
                let capabilities = member.tree()?;
                member.put(&mut self.capabilities, capabilities)
            }
            META_LOG_LEVEL => {
                let level = member.text()?.parse();
                member.put(&mut self.log_level, level.map_err(|_| unusual())?)
            }
            _ => insert(&mut self.others, member),
        }
    }
}

impl Client {
    fn into_implementation(mut self) -> Option<Implementation> {
        let (name, version) = (self.name?, self.version?);
        // Members that few clients send have a separate reader.
        let mut client = if self.others.is_empty() {
            Implementation::new(name, version)
        } else {
            self.others.insert("name".to_owned(), name.into());
            self.others.insert("version".to_owned(), version.into());
            serde_json::from_value(self.others.into()).ok()?
        };
        client.title = self.title;
        Some(client)
    }
}

impl Fields for Client {
    fn take<'de, A: MapAccess<'de>>(&mut self, member: Member<'_, A>) -> Result<(), A::Error> {
        let field = match member.name {
            "name" => &mut self.name,
            "title" => &mut self.title,
            "version" => &mut self.version,
            _ => return insert(&mut self.others, member),
        };
        text(field, member)
    }
}

/// Any error ends the reading.
fn unusual<E: Error>() -> E {
    E::custom("not a plain tools/call")
}

/// Reads a text that must be this one.
fn is<'de, A: MapAccess<'de>>(
    field: &mut Option<()>,
    mut member: Member<'_, A>,
    expected: &str,
) -> Result<(), A::Error> {
    if member.text()? == expected { member.put(field, ()) } else { Err(unusual()) }
}

/// Reads a text, which is counted.
fn text<'de, A: MapAccess<'de>>(
    field: &mut Option<String>,
    mut member: Member<'_, A>,
) -> Result<(), A::Error> {
    let text = member.text()?.into_owned();
    member.meter.string(text.len())?;
    member.put(field, text)
}

/// Reads one more member of an object.
fn insert<'de, A: MapAccess<'de>>(
    members: &mut Map<String, Value>,
    mut member: Member<'_, A>,
) -> Result<(), A::Error> {
    member.meter.member(member.name, members.len())?;
    match members.insert(member.name.to_owned(), member.tree()?) {
        None => Ok(()),
        Some(_) => Err(unusual()),
    }
}
