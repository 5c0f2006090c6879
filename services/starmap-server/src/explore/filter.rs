//! A filter for systems.

use super::adjacent_lower;
use crate::errors::InvalidParameterError as Invalid;
use crate::map::{ConstellationIndex, Map, RegionIndex, SecurityClass, SystemIndex, plain};

/// A filter for systems. A system passes if it meets every condition. [`Filter::default`] lets all systems pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The lowest unrounded security status, from -1 to 1; -1 by default.
    pub security_min: f64,
    /// The highest, likewise; 1 by default.
    pub security_max: f64,
    /// The security class.
    pub class: Option<SecurityClass>,
    /// The region.
    pub region: Option<RegionIndex>,
    /// The constellation.
    pub constellation: Option<ConstellationIndex>,
    /// Whether it is a border system, see [`System::border`](crate::map::System::border).
    pub border: Option<bool>,
    /// The lowest number of neighbours below high security.
    pub min_adjacent_lower: usize,
    /// The systems that may pass, if the list is given.
    pub among: Option<Vec<SystemIndex>>,
    /// A part of the name, ignoring case, hyphens and blanks.
    pub name: Option<String>,
}

/// A filter that has been checked.
#[derive(Debug)]
pub(super) struct Checked<'f> {
    filter: &'f Filter,
    name: Option<String>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            security_min: -1.0,
            security_max: 1.0,
            class: None,
            region: None,
            constellation: None,
            border: None,
            min_adjacent_lower: 0,
            among: None,
            name: None,
        }
    }
}

impl Filter {
    pub(super) fn check(&self) -> Result<Checked<'_>, Invalid> {
        let (min, max) = (self.security_min, self.security_max);
        for (parameter, value) in [("security_min", min), ("security_max", max)] {
            if !(-1.0..=1.0).contains(&value) {
                return Err(Invalid::new(parameter, value, "must be between -1 and 1"));
            }
        }
        if min > max {
            let reason = format!("must not be above security_max, which is {max}");
            return Err(Invalid::new("security_min", min, reason));
        }
        let name = self.name.as_deref().map(plain);
        if name.as_ref().is_some_and(String::is_empty) {
            let given = self.name.as_deref().unwrap_or_default();
            return Err(Invalid::new("name", given, "must have a letter or a digit"));
        }
        Ok(Checked { filter: self, name })
    }
}

impl Checked<'_> {
    pub(super) fn admits(&self, map: &Map, index: SystemIndex) -> bool {
        let (filter, system) = (self.filter, map.system(index));
        (filter.security_min..=filter.security_max).contains(&system.security)
            && filter.class.is_none_or(|class| system.class == class)
            && filter.region.is_none_or(|region| system.region == region)
            && filter.constellation.is_none_or(|it| system.constellation == it)
            && filter.border.is_none_or(|border| system.border == border)
            && (filter.among.as_ref()).is_none_or(|among| among.contains(&index))
            && (filter.min_adjacent_lower == 0
                || adjacent_lower(map, index).count() >= filter.min_adjacent_lower)
            && (self.name.as_deref()).is_none_or(|name| map.plain_name(index).contains(name))
    }
}
