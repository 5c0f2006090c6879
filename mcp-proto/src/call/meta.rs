//! `_meta` of a `tools/call`: judged while it is read, as [`ModernMeta::take`] judges it.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::fields::{ReadText, put, unusual};
use crate::json::{Meter, Strict};
use crate::lifecycle::{
    ClientCapabilities, Implementation, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL,
    META_PROTOCOL_VERSION, ModernMeta, malformed_capability,
};
use crate::logging::LogLevel;
use crate::version::{Era, ProtocolVersion};

/// The outcome of reading `_meta`.
pub(super) enum Meta {
    /// It names a modern version.
    Modern(ModernMeta),
    /// It names no version, and has no member that needs one.
    Older(Map<String, Value>),
}

/// Reads an object as [`Meta`].
pub(super) struct ReadMeta<'m>(pub(super) &'m Meter);

/// Reads who the client is, or null.
struct ReadClient<'m>(&'m Meter);

/// Reads a text that names a `T`.
struct Named<T>(fn(&str) -> Option<T>);

/// Reads a known name as a constant, and any other as a text.
struct Known<'k>(&'k [&'static str]);

enum Name {
    Known(&'static str),
    Other(String),
}

impl<'de> DeserializeSeed<'de> for ReadMeta<'_> {
    type Value = Meta;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Meta, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ReadMeta<'_> {
    type Value = Meta;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Meta, A::Error> {
        let known = Known(&[
            META_PROTOCOL_VERSION,
            META_CLIENT_INFO,
            META_CLIENT_CAPABILITIES,
            META_LOG_LEVEL,
        ]);
        let (mut version, mut client, mut capabilities, mut log_level) = (None, None, None, None);
        let mut others = Map::new();
        while let Some(name) = read.next_key_seed(&known)? {
            match name {
                Name::Known(META_PROTOCOL_VERSION) => {
                    put(&mut version, read.next_value_seed(Named(modern_version))?)?;
                }
                Name::Known(META_CLIENT_INFO) => {
                    put(&mut client, read.next_value_seed(ReadClient(self.0))?)?;
                }
                Name::Known(META_CLIENT_CAPABILITIES) => {
                    put(&mut capabilities, read.next_value_seed(Strict(self.0))?)?;
                }
                Name::Known(_) => {
                    let level = Named(|level: &str| level.parse::<LogLevel>().ok());
                    put(&mut log_level, read.next_value_seed(level)?)?;
                }
                Name::Other(name) => insert(&mut others, name, &mut read, self.0)?,
            }
        }
        let Some(version) = version else {
            return match (client, capabilities, log_level) {
                (None, None, None) => Ok(Meta::Older(others)),
                _ => Err(unusual()),
            };
        };
        let Some(Value::Object(capabilities)) = capabilities else {
            return Err(unusual());
        };
        if malformed_capability(&capabilities).is_some() {
            return Err(unusual());
        }
        Ok(Meta::Modern(ModernMeta {
            version,
            log_level,
            client_info: client.flatten(),
            client_capabilities: ClientCapabilities::shared(capabilities),
            others,
        }))
    }
}

fn modern_version(text: &str) -> Option<ProtocolVersion> {
    let version = text.parse::<ProtocolVersion>().ok();
    version.filter(|version| version.era() == Era::Modern)
}

/// Reads one more member of an object.
fn insert<'de, A: MapAccess<'de>>(
    members: &mut Map<String, Value>,
    name: String,
    read: &mut A,
    meter: &Meter,
) -> Result<(), A::Error> {
    meter.member(&name, members.len())?;
    let value = read.next_value_seed(Strict(meter))?;
    match members.insert(name, value) {
        None => Ok(()),
        Some(_) => Err(unusual()),
    }
}

impl<'de> DeserializeSeed<'de> for ReadClient<'_> {
    type Value = Option<Arc<Implementation>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadClient<'_> {
    type Value = Option<Arc<Implementation>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Self::Value, A::Error> {
        let known = Known(&["name", "title", "version"]);
        let (mut name, mut title, mut version) = (None, None, None);
        let mut others = Map::new();
        while let Some(member) = read.next_key_seed(&known)? {
            let field = match member {
                Name::Known("name") => &mut name,
                Name::Known("title") => &mut title,
                Name::Known(_) => &mut version,
                Name::Other(member) => {
                    insert(&mut others, member, &mut read, self.0)?;
                    continue;
                }
            };
            put(field, read.next_value_seed(ReadText(self.0))?)?;
        }
        let (Some(name), Some(version)) = (name, version) else {
            return Err(unusual());
        };
        // Members that few clients send have a separate reader.
        let mut client = if others.is_empty() {
            Implementation::new(name, version)
        } else {
            others.insert("name".to_owned(), name.into());
            others.insert("version".to_owned(), version.into());
            serde_json::from_value(others.into()).map_err(A::Error::custom)?
        };
        client.title = title;
        Ok(Some(Arc::new(client)))
    }
}

impl<'de, T> DeserializeSeed<'de> for Named<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T> Visitor<'_> for Named<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).ok_or_else(unusual)
    }
}

impl<'de> DeserializeSeed<'de> for &Known<'_> {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for &Known<'_> {
    type Value = Name;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        let known = self.0.iter().find(|known| **known == text);
        Ok(known.map_or_else(|| Name::Other(text.to_owned()), |known| Name::Known(known)))
    }
}
