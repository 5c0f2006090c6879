//! Whether the parts of a map agree. A file that has lost much of itself is not a smaller map.

use std::collections::BTreeMap;

use super::{Format, Read};
use crate::map::{Kind, Warning};

/// What happens to a map that has lost more than single entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Losses {
    /// It is refused.
    #[default]
    Refused,
    /// It is taken as it is.
    Accepted,
}

impl Losses {
    /// Accepted or not.
    pub const fn accepted(accepted: bool) -> Self {
        if accepted { Self::Accepted } else { Self::Refused }
    }
}

/// So many entries of a kind may be left out or changed in any map. In a large one it is a hundredth.
const FEW: usize = 10;

/// How many entries of each kind a file has, those included that were left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals([usize; 4]);

impl Totals {
    pub(super) fn of(read: &Read) -> Self {
        let parts = &read.parts;
        let mut all = [
            parts.regions.len(),
            parts.constellations.len(),
            parts.systems.len(),
            parts.gates.len(),
        ];
        for warning in &read.warnings {
            let kind = match warning {
                Warning::Incomplete { kind, .. } => *kind,
                Warning::NoGate { .. } => Kind::Gate,
                _ => continue,
            };
            if let Some(count) = all.get_mut(kind as usize) {
                *count += 1;
            }
        }
        Self(all)
    }

    /// The first kind of loss that is more than single entries, as a sentence with the file and the field.
    pub(super) fn lost(
        &self,
        warnings: &[Warning],
        members: &BTreeMap<&'static str, String>,
        format: Format,
    ) -> Option<String> {
        let mut groups: BTreeMap<(Kind, &str), (usize, &Warning)> = BTreeMap::new();
        for warning in warnings {
            if let Some(group) = group(warning) {
                groups.entry(group).or_insert((0, warning)).0 += 1;
            }
        }
        groups.into_iter().find_map(|((kind, what), (count, first))| {
            let total = self.0.get(kind as usize).copied().unwrap_or_default();
            if count < total && count <= FEW.max(total / 100) {
                return None;
            }
            let file = match format {
                Format::Sde => format!("{}: ", super::sde::file_of(kind)),
                _ => String::new(),
            };
            let had =
                members.get(what).map_or_else(String::new, |it| format!(" (they have: {it})"));
            Some(match first {
                Warning::Incomplete { lacks, .. } => {
                    format!("{file}{count} of {total} {kind}s have no {lacks}{had}")
                }
                _ => format!("{file}{count} of {total} {kind}s {what}; the first: {first}"),
            })
        })
    }
}

fn group(warning: &Warning) -> Option<(Kind, &'static str)> {
    Some(match warning {
        Warning::NoRegion { .. } => {
            (Kind::Constellation, "are in a region that is not in the file")
        }
        Warning::NoConstellation { .. } => {
            (Kind::System, "are in a constellation that is not in the file")
        }
        Warning::NoSystem { .. } => (Kind::Gate, "lead from or to a system that is not on the map"),
        Warning::NoGate { .. } => (Kind::Gate, "are listed by their systems and not there"),
        Warning::OneWay { .. } => (Kind::Gate, "have no partner that leads back"),
        Warning::Circle { .. } => (Kind::Gate, "lead back to where they begin"),
        Warning::Incomplete { kind, lacks, .. } => (*kind, lacks),
        Warning::SameName { .. } => return None,
    })
}
