//! The members of a `tools/call`, read into their fields. Whatever is unusual ends the reading.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::fields::{ReadText, put, unusual};
use super::meta::{Meta, ReadMeta};
use super::{CallToolRequest, TOOLS_CALL};
use crate::json::{Meter, Strict};
use crate::jsonrpc::{MAX_REQUEST_ID_BYTES, RequestId};
use crate::lifecycle::ModernMeta;

/// Reads a whole message. The result is `None` or an error if it is not a plain call. The rest of such a message is not
/// read, and serde_json reports the missing end.
pub(super) struct ReadCall<'m>(pub(super) &'m Meter);

/// Reads its params.
struct ReadParams<'m>(&'m Meter);

/// Reads a text, and returns whether it is this one.
struct Exactly(&'static str);

/// Reads the id of a request.
struct ReadId;

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    /// A message other than a request has these.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(field_identifier)]
enum Param {
    #[serde(rename = "name")]
    Name,
    #[serde(rename = "arguments")]
    Arguments,
    #[serde(rename = "_meta")]
    Meta,
}

/// The params of a call.
#[derive(Default)]
struct Params {
    name: Option<String>,
    arguments: Option<Value>,
    modern: Option<ModernMeta>,
    meta: Option<Map<String, Value>>,
}

impl<'de> DeserializeSeed<'de> for ReadCall<'_> {
    type Value = Option<Box<CallToolRequest>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ReadCall<'_> {
    type Value = Option<Box<CallToolRequest>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a call of a tool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Self::Value, A::Error> {
        let (mut version, mut method, mut id, mut params) = (None, None, None, None);
        while let Some(member) = read.next_key::<Member>()? {
            match member {
                Member::Jsonrpc => put(&mut version, read.next_value_seed(Exactly("2.0"))?)?,
                Member::Id => put(&mut id, read.next_value_seed(ReadId)?)?,
                Member::Method => put(&mut method, read.next_value_seed(Exactly(TOOLS_CALL))?)?,
                Member::Params => put(&mut params, read.next_value_seed(ReadParams(self.0))?)?,
                Member::Other => return Ok(None),
            }
            // Other messages are as frequent as calls, and an error costs as much as a small parse.
            if method == Some(false) {
                return Ok(None);
            }
        }
        let (Some(true), Some(true), Some(id), Some(params)) = (version, method, id, params) else {
            return Ok(None);
        };
        let Params { name, arguments, modern, meta } = params;
        let Some(name) = name else {
            return Ok(None);
        };
        Ok(Some(Box::new(CallToolRequest { id, name, arguments, modern, meta })))
    }
}

impl<'de> DeserializeSeed<'de> for ReadParams<'_> {
    type Value = Params;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Params, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ReadParams<'_> {
    type Value = Params;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the params of a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Params, A::Error> {
        let mut params = Params::default();
        let mut has_meta = false;
        while let Some(param) = read.next_key::<Param>()? {
            match param {
                Param::Name => put(&mut params.name, read.next_value_seed(ReadText(self.0))?)?,
                Param::Arguments => {
                    let arguments = read.next_value_seed(Strict(self.0))?;
                    if !arguments.is_object() && !arguments.is_null() {
                        return Err(unusual());
                    }
                    put(&mut params.arguments, arguments)?;
                }
                Param::Meta if has_meta => return Err(unusual()),
                Param::Meta => {
                    has_meta = true;
                    match read.next_value_seed(ReadMeta(self.0))? {
                        Meta::Modern(modern) => params.modern = Some(modern),
                        Meta::Older(meta) => params.meta = Some(meta),
                    }
                }
            }
        }
        Ok(params)
    }
}

impl<'de> DeserializeSeed<'de> for Exactly {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Exactly {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        Ok(text == self.0)
    }
}

impl<'de> DeserializeSeed<'de> for ReadId {
    type Value = RequestId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestId, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ReadId {
    type Value = RequestId;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an id")
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<RequestId, E> {
        Ok(RequestId::Number(id))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<RequestId, E> {
        i64::try_from(id).map_or_else(|_| Err(unusual()), |id| Ok(RequestId::Number(id)))
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<RequestId, E> {
        if id.len() <= MAX_REQUEST_ID_BYTES { Ok(id.into()) } else { Err(unusual()) }
    }
}
