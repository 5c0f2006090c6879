//! What several tools are told: modes, and what to avoid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::{InvalidParameterError, UniverseError};
use crate::map::Map;
use crate::route::{Avoid, Avoided, Mode, Penalty, SecurityFilter};

use super::super::names::{Names, nearest_names};
use super::super::records::Class;

/// The words for the modes, in the order they are offered.
pub(crate) const MODES: [&str; 5] = ["shortest", "safe", "unsafe", "safer", "less_secure"];

/// What a route prefers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeName {
    // The fewest jumps.
    #[default]
    Shortest,
    // High security, without endless detours.
    Safe,
    // Low and null security, where there is prey.
    Unsafe,
    // As the game's autopilot with "prefer safer".
    Safer,
    // As the game's autopilot with "prefer less secure".
    LessSecure,
}

/// Which security a way keeps to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Filter {
    // High security only.
    HighSec,
    // High and low security.
    LowSec,
    // Everywhere.
    #[default]
    Any,
}

/// What to avoid, by the parameters of a tool.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) systems: &'a [String],
    pub(crate) constellations: &'a [String],
    pub(crate) regions: &'a [String],
    pub(crate) classes: &'a [Class],
}

impl ModeName {
    /// The mode of a word, with the penalty that goes with the game's own two.
    pub(crate) fn with(self, penalty: Option<u8>) -> Result<Mode, UniverseError> {
        let own = !matches!(self, Self::Safer | Self::LessSecure);
        if let Some(given) = penalty.filter(|_| own) {
            let reason = "it goes with the modes safer and less_secure alone";
            return Err(invalid("penalty", &given.to_string(), reason));
        }
        let penalty = match penalty {
            None => Penalty::default(),
            Some(given) => Penalty::new(given)
                .ok_or_else(|| invalid("penalty", &given.to_string(), "it is at most 100"))?,
        };
        Ok(match self {
            Self::Shortest => Mode::Shortest,
            Self::Safe => Mode::Safe,
            Self::Unsafe => Mode::Unsafe,
            Self::Safer => Mode::Safer { penalty },
            Self::LessSecure => Mode::LessSecure { penalty },
        })
    }

    /// The word of a mode.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Shortest => "shortest",
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Safer => "safer",
            Self::LessSecure => "less_secure",
        }
    }

    /// The mode that a word stands for.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word.trim().to_lowercase().as_str() {
            "shortest" => Self::Shortest,
            "safe" => Self::Safe,
            "unsafe" => Self::Unsafe,
            "safer" => Self::Safer,
            "less_secure" => Self::LessSecure,
            _ => return None,
        })
    }
}

impl From<Filter> for SecurityFilter {
    fn from(filter: Filter) -> Self {
        match filter {
            Filter::HighSec => Self::HighSec,
            Filter::LowSec => Self::LowSec,
            Filter::Any => Self::Any,
        }
    }
}

impl Wanted<'_> {
    /// What they name on the map. A name that is none is an error: to pass through what should be avoided is worse than
    /// to ask again.
    pub(crate) fn avoid(&self, map: &Map, names: &mut Names<'_>) -> Result<Avoid, UniverseError> {
        let mut things = Vec::new();
        for name in self.systems {
            things.push(Avoided::System(names.system(name)?));
        }
        for name in self.constellations {
            let found = map.constellation_by_name(name);
            let known = || map.constellations().iter().map(|it| &*it.name);
            let found = found.ok_or_else(|| unknown("avoid_constellations", name, known()))?;
            things.push(Avoided::Constellation(found));
        }
        for name in self.regions {
            let found = map.region_by_name(name);
            let known = || map.regions().iter().map(|it| &*it.name);
            let found = found.ok_or_else(|| unknown("avoid_regions", name, known()))?;
            things.push(Avoided::Region(found));
        }
        things.extend(
            self.classes
                .iter()
                .map(|&class| Avoided::Class(class.into())),
        );
        Avoid::new(map, things).map_err(|error| invalid("avoid_systems", "", &error.to_string()))
    }
}

/// A parameter that cannot be meant.
pub(crate) fn invalid(parameter: &str, value: &str, reason: &str) -> UniverseError {
    InvalidParameterError::new(parameter, value, reason).into()
}

fn unknown<'m>(parameter: &str, name: &str, names: impl Iterator<Item = &'m str>) -> UniverseError {
    let near = nearest_names(name, names);
    let reason = match near.is_empty() {
        true => "there is none of this name".to_owned(),
        false => format!(
            "there is none of this name; did you mean {}?",
            near.join(", ")
        ),
    };
    invalid(parameter, name, &reason)
}
