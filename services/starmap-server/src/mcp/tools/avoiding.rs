//! Arguments that several tools share: modes, and what to avoid.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::errors::{UniverseError, invalid};
use crate::map::{Map, SecurityClass};
use crate::name::{List, Name};
use crate::route::{Avoid, Avoided, Mode, Penalty, SecurityFilter};

use super::super::names::{Names, did_you_mean, nearest_names, plain_word, word};
use super::super::records::CLASSES;

/// The words for the modes, in the order they are offered.
pub(crate) const MODES: [&str; 5] = ["shortest", "safe", "unsafe", "safer", "less_secure"];

/// Words that others have for the modes: the game's public API (`Shorter`, `Safer`, `LessSecure`; before that `secure`
/// and `insecure`), and what players write.
const OTHER_MODES: [(&str, &str); 12] = [
    ("shorter", "shortest"),
    ("fastest", "shortest"),
    ("quickest", "shortest"),
    ("secure", "safer"),
    ("prefer_safer", "safer"),
    ("safest", "safe"),
    ("insecure", "less_secure"),
    ("unsecure", "less_secure"),
    ("lesssecure", "less_secure"),
    ("least_secure", "less_secure"),
    ("prefer_less_secure", "less_secure"),
    ("dangerous", "unsafe"),
];

/// The words for the security filters.
const FILTERS: [(&str, SecurityFilter); 4] = [
    ("highsec", SecurityFilter::HighSec),
    ("high", SecurityFilter::HighSec),
    ("lowsec", SecurityFilter::LowSec),
    ("any", SecurityFilter::Any),
];

/// What to avoid, by the parameters of a tool.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) systems: &'a [Name],
    pub(crate) constellations: &'a [Name],
    pub(crate) regions: &'a [Name],
    pub(crate) classes: &'a [Name],
    /// Whether the tool has parameters for constellations and regions.
    pub(crate) takes_areas: bool,
}

// What tools with many ways avoid. Not in the schema, which takes it for a description of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Avoiding {
    #[serde(default)]
    #[schemars(length(max = 200))]
    avoid_systems: List,
    /// high, low, null
    #[serde(default)]
    #[schemars(extend("maxItems" = 3))]
    avoid_security: List,
}

impl Avoiding {
    pub(super) fn avoid(&self, map: &Map, names: &mut Names<'_>) -> Result<Avoid, UniverseError> {
        let wanted = Wanted {
            systems: &self.avoid_systems,
            classes: &self.avoid_security,
            ..Wanted::default()
        };
        wanted.avoid(map, names)
    }
}

/// The mode for a word, shortest by default, with the penalty for the game's own two modes. The word may be one of
/// those that others have; the name of the mode is that used here.
pub(crate) fn mode(
    given: Option<&str>,
    penalty: Option<u8>,
) -> Result<(&'static str, Mode), UniverseError> {
    let strength = penalty.map_or_else(|| Some(Penalty::default()), Penalty::new);
    let strength = strength.ok_or_else(|| invalid("penalty", "", "it is at most 100"))?;
    let known = [
        Mode::Shortest,
        Mode::Safe,
        Mode::Unsafe,
        Mode::Safer { penalty: strength },
        Mode::LessSecure { penalty: strength },
    ];
    let other = given.map(plain_word);
    let other = OTHER_MODES.iter().find(|(word, _)| other.as_deref() == Some(*word));
    let given = other.map_or(given, |(_, ours)| Some(*ours));
    let words = MODES.map(|name| (name, MODES.iter().position(|it| *it == name)));
    let at = word("mode", given, &words)?.flatten().unwrap_or(0);
    let (name, mode) = MODES.iter().zip(known).nth(at).unwrap_or((&"shortest", Mode::Shortest));
    if let Some(penalty) = penalty.filter(|_| at < 3) {
        let reason = "it goes with the modes safer and less_secure alone";
        return Err(invalid("penalty", penalty, reason));
    }
    Ok((name, mode))
}

/// The security filter, if one is given.
pub(crate) fn security_filter(
    given: Option<&str>,
) -> Result<Option<SecurityFilter>, UniverseError> {
    word("security_filter", given, &FILTERS)
}

/// The security class for a word.
pub(crate) fn security_class(
    parameter: &str,
    given: Option<&str>,
) -> Result<Option<SecurityClass>, UniverseError> {
    word(parameter, given, &CLASSES)
}

impl Wanted<'_> {
    /// Finds the named things on the map. An unknown name is an error: a route through something that should be avoided
    /// is worse than a second call.
    pub(crate) fn things(
        &self,
        map: &Map,
        names: &mut Names<'_>,
    ) -> Result<Vec<Avoided>, UniverseError> {
        let mut things = Vec::new();
        for name in self.systems {
            things.push(Avoided::System(
                names.system(name).map_err(|error| self.area(map, name, error))?,
            ));
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
        for class in self.classes {
            let class = security_class("avoid_security", Some(class))?;
            things.extend(class.map(Avoided::Class));
        }
        Ok(things)
    }

    /// The error for an area among the systems to avoid.
    fn area(&self, map: &Map, name: &str, error: UniverseError) -> UniverseError {
        let kind = match kind_of(map, name) {
            Some("avoid_regions") => "region",
            Some("avoid_constellations") => "constellation",
            _ => return error,
        };
        let reason = if self.takes_areas {
            format!("that is a {kind}: give it in avoid_{kind}s")
        } else {
            format!(
                "that is a {kind}: name its systems here, or use route, which has avoid_{kind}s"
            )
        };
        invalid("avoid_systems", name, reason)
    }

    pub(crate) fn avoid(&self, map: &Map, names: &mut Names<'_>) -> Result<Avoid, UniverseError> {
        avoid(map, self.things(map, names)?)
    }
}

/// The parameter that takes the thing with this name.
pub(super) fn kind_of(map: &Map, name: &str) -> Option<&'static str> {
    let system = super::super::resolve_system_name(map, name).ok().map(|_| "avoid_systems");
    let region = || map.region_by_name(name).map(|_| "avoid_regions");
    let constellation = || map.constellation_by_name(name).map(|_| "avoid_constellations");
    let class = || security_class("", Some(name)).ok().map(|_| "avoid_security");
    system.or_else(region).or_else(constellation).or_else(class)
}

/// The things to avoid, as a set of systems.
pub(crate) fn avoid(map: &Map, things: Vec<Avoided>) -> Result<Avoid, UniverseError> {
    Avoid::new(map, things).map_err(|error| invalid("avoid_systems", "", error.to_string()))
}

fn unknown<'m>(parameter: &str, name: &str, names: impl Iterator<Item = &'m str>) -> UniverseError {
    let near = did_you_mean(&nearest_names(name, names));
    invalid(parameter, name, format!("nothing on the map has this name{near}"))
}
