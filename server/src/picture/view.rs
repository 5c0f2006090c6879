//! What a picture needs to know about a body.

use serde::Deserialize;
use universe_core::orbit::Orbit;
use universe_core::{Star, State};

use super::color::Color;

/// A body as it is drawn.
pub(super) struct Body {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) color: Color,
    pub(super) radius: f64,
    pub(super) orbit: Orbit,
    pub(super) has_ring: bool,
    pub(super) has_children: bool,
    /// Whether it belongs to a Lagrange point, together with others of its kind.
    pub(super) is_trojan: bool,
}

/// The appearance of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Star,
    BlackHole,
    Round,
    Small,
    Comet,
    Marker,
    Rogue,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members {
    name: Option<String>,
    color: Option<String>,
    radius: Option<f64>,
    body_type: Option<String>,
    ring: Option<serde::de::IgnoredAny>,
    black_hole: Option<serde::de::IgnoredAny>,
    is_rogue_planet: Option<bool>,
    lagrange_host_id: Option<serde::de::IgnoredAny>,
}

impl Body {
    pub(super) fn of(state: &State, star: &Star) -> Self {
        let members: Members = star.read().unwrap_or_default();
        let kind = match members.body_type.as_deref() {
            _ if members.is_rogue_planet == Some(true) => Kind::Rogue,
            _ if members.black_hole.is_some() => Kind::BlackHole,
            Some("blackHole") => Kind::BlackHole,
            Some("star") => Kind::Star,
            // A body without a type and a parent is most likely a star.
            None if star.parent_id().is_none() => Kind::Star,
            Some("asteroid") => Kind::Small,
            Some("comet") => Kind::Comet,
            Some("lagrangePoint") => Kind::Marker,
            _ => Kind::Round,
        };
        Self {
            id: star.id().to_owned(),
            name: members.name.unwrap_or_else(|| star.id().to_owned()),
            kind,
            color: Color::read(members.color.as_deref()),
            radius: members.radius.unwrap_or_default().max(0.0),
            orbit: state.orbit(star),
            has_ring: members.ring.is_some(),
            has_children: star.children().len() > 0,
            is_trojan: members.lagrange_host_id.is_some(),
        }
    }

    /// Whether it needs space for its satellites, and keeps other bodies out of that space.
    pub(super) fn is_major(&self) -> bool {
        !matches!(self.kind, Kind::Small | Kind::Comet | Kind::Marker) || self.has_children
    }
}
