//! The members of the cache that are read. All others are skipped.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::load::json::{Name, Position};
use crate::map::{MAX_CONSTELLATIONS, MAX_GATES, MAX_REGIONS, MAX_SYSTEMS};

#[derive(Deserialize)]
pub(super) struct Cache {
    pub(super) generated: Option<Text>,
    pub(super) version: Option<Text>,
    #[serde(default)]
    pub(super) regions: Entries<Region, MAX_REGIONS>,
    #[serde(default)]
    pub(super) constellations: Entries<Constellation, MAX_CONSTELLATIONS>,
    pub(super) systems: Option<Entries<System, MAX_SYSTEMS>>,
    #[serde(default)]
    pub(super) stargates: Entries<Gate, MAX_GATES>,
}

#[derive(Deserialize)]
pub(super) struct Region {
    pub(super) name: Name,
}

#[derive(Deserialize)]
pub(super) struct Constellation {
    pub(super) name: Name,
    pub(super) region_id: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct System {
    pub(super) system_id: Option<u32>,
    pub(super) name: Name,
    pub(super) security: Option<f64>,
    pub(super) security_status: Option<f64>,
    pub(super) constellation_id: Option<u32>,
    pub(super) region_id: Option<u32>,
    pub(super) stargates: Option<Vec<u32>>,
    pub(super) position: Option<Position>,
}

#[derive(Deserialize)]
pub(super) struct Gate {
    pub(super) system_id: Option<u32>,
    destination_system_id: Option<u32>,
    destination: Option<Destination>,
}

#[derive(Deserialize)]
struct Destination {
    system_id: u32,
}

/// A version is a string or a number.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Text {
    Text(String),
    Number(serde_json::Number),
}

/// The entries of an object in their order, with the keys that are ids: at most `MOST` entries.
pub(super) struct Entries<T, const MOST: usize>(pub(super) Vec<(Option<u32>, T)>);

impl Gate {
    pub(super) fn leads_to(&self) -> Option<u32> {
        let nested = self.destination.as_ref().map(|it| it.system_id);
        self.destination_system_id.or(nested)
    }
}

impl Text {
    pub(super) fn into_string(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

impl<T, const MOST: usize> Default for Entries<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Entries<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for EntriesVisitor<T, MOST> {
    type Value = Entries<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an entry for each id")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, T>()? {
            if entries.len() == MOST {
                return Err(A::Error::custom(format_args!(
                    "there are more than the {MOST} entries that a map may have of this kind"
                )));
            }
            entries.push((key.parse().ok(), value));
        }
        Ok(Entries(entries))
    }
}
