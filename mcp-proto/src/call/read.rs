//! A `tools/call`, read directly into the types that the server uses. Whatever is unusual ends the reading: the general
//! reader finds the words for it, or that nothing is wrong.

use std::sync::Arc;

use serde::de::{Error, MapAccess};
use serde_json::{Map, Value};

use super::{CallToolRequest, TOOLS_CALL};
use crate::json::{Fields, Meter, Name, Object, Strict, put};
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
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        value: &mut A,
        meter: &Meter,
    ) -> Result<(), A::Error> {
        match name {
            "jsonrpc" => put(&mut self.version, name, is(value, "2.0")?),
            "method" => put(&mut self.method, name, is(value, TOOLS_CALL)?),
            "id" => {
                let id = RequestId::from_value(&value.next_value()?);
                put(&mut self.id, name, id.map_err(|_| unusual())?)
            }
            "params" => put(&mut self.params, name, value.next_value_seed(Object::new(meter))?),
            // A message other than a request has these.
            _ => Err(unusual()),
        }
    }
}

impl Fields for CallToolParams {
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        value: &mut A,
        meter: &Meter,
    ) -> Result<(), A::Error> {
        match name {
            "name" => put(&mut self.name, name, text(value, meter)?),
            "arguments" => {
                let arguments = value.next_value_seed(Strict(meter))?;
                if !arguments.is_object() && !arguments.is_null() {
                    return Err(unusual());
                }
                put(&mut self.arguments, name, arguments)
            }
            "_meta" => put(&mut self.meta, name, value.next_value_seed(Object::new(meter))?),
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
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        value: &mut A,
        meter: &Meter,
    ) -> Result<(), A::Error> {
        match name {
            META_PROTOCOL_VERSION => {
                let Name(version) = value.next_value()?;
                let version = version.parse::<ProtocolVersion>().map_err(|_| unusual())?;
                if version.era() == Era::Legacy {
                    return Err(unusual());
                }
                put(&mut self.version, name, version)
            }
            META_CLIENT_INFO => {
                put(&mut self.client, name, value.next_value_seed(Object::new(meter))?)
            }
            META_CLIENT_CAPABILITIES => {
                put(&mut self.capabilities, name, value.next_value_seed(Strict(meter))?)
            }
            META_LOG_LEVEL => {
                let Name(level) = value.next_value()?;
                put(&mut self.log_level, name, level.parse().map_err(|_| unusual())?)
            }
            _ => insert(&mut self.others, name, value, meter),
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
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        value: &mut A,
        meter: &Meter,
    ) -> Result<(), A::Error> {
        let field = match name {
            "name" => &mut self.name,
            "title" => &mut self.title,
            "version" => &mut self.version,
            _ => return insert(&mut self.others, name, value, meter),
        };
        put(field, name, text(value, meter)?)
    }
}

/// Any error ends the reading.
fn unusual<E: Error>() -> E {
    E::custom("not a plain tools/call")
}

/// Reads a text that must be this one.
fn is<'de, A: MapAccess<'de>>(value: &mut A, expected: &str) -> Result<(), A::Error> {
    let Name(text) = value.next_value()?;
    if text == expected { Ok(()) } else { Err(unusual()) }
}

/// Reads a text, which is counted.
fn text<'de, A: MapAccess<'de>>(value: &mut A, meter: &Meter) -> Result<String, A::Error> {
    let Name(text) = value.next_value()?;
    meter.string(text.len())?;
    Ok(text.into_owned())
}

/// Reads one more member of an object.
fn insert<'de, A: MapAccess<'de>>(
    members: &mut Map<String, Value>,
    name: &str,
    value: &mut A,
    meter: &Meter,
) -> Result<(), A::Error> {
    meter.member(name, members.len())?;
    match members.insert(name.to_owned(), value.next_value_seed(Strict(meter))?) {
        None => Ok(()),
        Some(_) => Err(unusual()),
    }
}
