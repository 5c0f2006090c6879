//! `nearest` and `search`: systems of a kind, near or anywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::Measure;
use crate::errors::UniverseError;
use crate::explore::{self, Invalid, Nearest};
use crate::map::{Map, RegionIndex};

use super::super::names::{Names, nearest_names};
use super::super::records::{Answer, Class, Detail, LocatedList};
use super::super::universe::Snapshot;
use super::avoiding::invalid;
use super::live::{counts, no_overlay};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NearestArguments {
    /// The system to look from; it is not itself among what is found.
    origin: String,
    /// Only border systems, or only others.
    is_border: Option<bool>,
    /// With at least so many neighbors below 0.45.
    #[schemars(range(min = 0, max = 50))]
    min_adjacent_lowsec: Option<u16>,
    /// Only of this security class.
    security_class: Option<Class>,
    /// The lowest unrounded security status.
    #[schemars(range(min = -1, max = 1))]
    security_min: Option<f64>,
    /// The highest unrounded security status.
    #[schemars(range(min = -1, max = 1))]
    security_max: Option<f64>,
    /// Only in this region.
    region: Option<String>,
    /// Only where at most so many ships and capsules were killed in the last hour; needs an activity overlay.
    max_kills: Option<u32>,
    /// Only where at least so many non-players were killed in the last hour; needs an activity overlay.
    min_npc_kills: Option<u32>,
    /// How many to give; 5 unless told.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    /// How many jumps away at most; 30 unless told.
    #[schemars(range(min = 1, max = 50))]
    max_jumps: Option<u16>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Near {
    origin: String,
    #[serde(flatten)]
    list: LocatedList,
    /// How many there are within the radius.
    total_found: usize,
    /// The radius in jumps.
    search_radius: u32,
    /// Why there may be nothing.
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// The system to count jumps from, if any.
    origin: Option<String>,
    /// How many jumps from the origin at most; needs one.
    #[schemars(range(min = 1, max = 50))]
    max_jumps: Option<u16>,
    /// What the name contains, whatever the case, hyphens and blanks.
    #[schemars(length(max = 100))]
    name: Option<String>,
    /// The lowest unrounded security status.
    #[schemars(range(min = -1, max = 1))]
    security_min: Option<f64>,
    /// The highest unrounded security status.
    #[schemars(range(min = -1, max = 1))]
    security_max: Option<f64>,
    /// Only of this security class.
    security_class: Option<Class>,
    /// Only in this region.
    region: Option<String>,
    /// Only border systems, or only others.
    is_border: Option<bool>,
    /// How many to give; 20 unless told.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u16>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Search {
    #[serde(flatten)]
    list: LocatedList,
    /// How many there are, before the list was cut.
    total_found: usize,
    filters_applied: Filters,
    /// Why there may be nothing.
    warnings: Vec<String>,
}

/// The filters that were given.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Filters {
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_jumps: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    security_min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    security_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    security_class: Option<Class>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_border: Option<bool>,
}

pub(super) fn nearest(
    now: &Snapshot,
    arguments: &NearestArguments,
) -> Result<Answer<Near>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let radius = u32::from(arguments.max_jumps.unwrap_or(30));
    let limit = usize::from(arguments.limit.unwrap_or(5));
    let mut warnings = Vec::new();
    let region = region(map, arguments.region.as_deref(), &mut warnings);
    let by_activity = arguments.max_kills.is_some() || arguments.min_npc_kills.is_some();
    let activity = match (&now.activity, by_activity) {
        (None, true) => return Err(no_overlay("max_kills and min_npc_kills")),
        (activity, _) => activity.as_deref().filter(|_| by_activity),
    };
    if let Some(activity) = activity {
        counts(activity, "max_kills and min_npc_kills", Measure::Kills)?;
    }
    let query = Nearest {
        origin,
        max_jumps: radius,
        filter: explore::Filter {
            security_min: arguments.security_min.unwrap_or(-1.0),
            security_max: arguments.security_max.unwrap_or(1.0),
            class: arguments.security_class.map(Into::into),
            region: region.unwrap_or_default(),
            border: arguments.is_border,
            min_adjacent_lower: usize::from(arguments.min_adjacent_lowsec.unwrap_or(0)),
            ..explore::Filter::default()
        },
        // What happens in a system is not on the map: it is looked at afterwards.
        limit: if activity.is_some() {
            usize::MAX
        } else {
            limit
        },
    };
    let mut found = explore::nearest(map, &query).map_err(|error| wrong(&error))?;
    if let Some(activity) = activity {
        found.list.retain(|near| {
            let figures = activity.figures(map.system(near.system).id);
            arguments
                .max_kills
                .is_none_or(|most| figures.kills() <= most)
                && arguments
                    .min_npc_kills
                    .is_none_or(|least| figures.npc_kills >= least)
        });
        found.total = found.list.len();
        found.list.truncate(limit);
    }
    if region.is_none() {
        found.list.clear();
        found.total = 0;
    }
    let list = found
        .list
        .iter()
        .map(|near| (near.system, Some(near.jumps)));
    let body = Near {
        origin: map.system(origin).name.to_string(),
        list: LocatedList::of(now, list, arguments.detail.unwrap_or_default()),
        total_found: found.total,
        search_radius: radius,
        warnings,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

pub(super) fn search(
    now: &Snapshot,
    arguments: &SearchArguments,
) -> Result<Answer<Search>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = arguments.origin.as_deref().map(|name| names.system(name));
    let origin = origin.transpose()?;
    let mut warnings = Vec::new();
    let region = region(map, arguments.region.as_deref(), &mut warnings);
    let query = explore::Search {
        origin,
        max_jumps: arguments.max_jumps.map(u32::from),
        filter: explore::Filter {
            security_min: arguments.security_min.unwrap_or(-1.0),
            security_max: arguments.security_max.unwrap_or(1.0),
            class: arguments.security_class.map(Into::into),
            region: region.unwrap_or_default(),
            border: arguments.is_border,
            name: arguments.name.clone(),
            ..explore::Filter::default()
        },
        limit: usize::from(arguments.limit.unwrap_or(20)),
    };
    let mut found = explore::search(map, &query).map_err(|error| wrong(&error))?;
    if region.is_none() {
        found.list.clear();
        found.total = 0;
    }
    let list = found.list.iter().map(|hit| (hit.system, hit.jumps));
    let body = Search {
        list: LocatedList::of(now, list, arguments.detail.unwrap_or_default()),
        total_found: found.total,
        filters_applied: Filters {
            origin: origin.map(|origin| map.system(origin).name.to_string()),
            max_jumps: arguments.max_jumps,
            name: arguments.name.clone(),
            security_min: arguments.security_min,
            security_max: arguments.security_max,
            security_class: arguments.security_class,
            region: region
                .flatten()
                .map(|region| map.region(region).name.to_string()),
            is_border: arguments.is_border,
        },
        warnings,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

/// The region of a name, if one is given; `None` for one that is not on the map, which then holds no system.
fn region(
    map: &Map,
    name: Option<&str>,
    warnings: &mut Vec<String>,
) -> Option<Option<RegionIndex>> {
    let Some(name) = name else {
        return Some(None);
    };
    if let Some(region) = map.region_by_name(name) {
        return Some(Some(region));
    }
    let near = nearest_names(name, map.regions().iter().map(|it| &*it.name));
    let unknown = format!("Unknown region: {}", crate::errors::shown(name));
    warnings.push(match near.is_empty() {
        true => unknown,
        false => format!("{unknown}; did you mean {}?", near.join(", ")),
    });
    None
}

/// A parameter that the map's own rooms refuse.
pub(super) fn wrong(error: &Invalid) -> UniverseError {
    invalid(error.parameter, &error.value, &error.reason)
}
