//! The shape of `data/sol.json`: every member as published, in the units its name ends with.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plane::Plane;

/// The whole file.
#[derive(Debug, Deserialize)]
pub(super) struct Table {
    pub(super) units: Units,
    pub(super) bodies: Vec<Body>,
    pub(super) rings: Vec<Ring>,
    pub(super) belts: Vec<Belt>,
    pub(super) lagrange_points: Vec<LagrangePoint>,
}

/// The size of the simulator's units.
#[derive(Debug, Deserialize)]
pub(super) struct Units {
    pub(super) au_km: f64,
    pub(super) earth_mass_kg: f64,
    pub(super) earth_radius_km: f64,
}

/// The astronomical kind of a body. The simulator knows fewer kinds: see [`Kind::body_type`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Star,
    Planet,
    DwarfPlanet,
    DwarfPlanetCandidate,
    Moon,
    Comet,
}

impl Kind {
    /// The simulator's `bodyType`. Dwarf planets do not count as planets, so there are eight planets.
    pub(super) fn body_type(self) -> &'static str {
        match self {
            Self::Star => "star",
            Self::Planet => "planet",
            Self::DwarfPlanet | Self::DwarfPlanetCandidate => "asteroid",
            Self::Moon => "moon",
            Self::Comet => "comet",
        }
    }
}

/// A body and its orbit. A body without a parent has no orbit; that of some moons has no orientation.
#[derive(Debug, Deserialize)]
pub(super) struct Body {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) parent: Option<String>,
    pub(super) belt: Option<String>,
    pub(super) colour: String,
    pub(super) mass_kg: f64,
    pub(super) radius_km: f64,
    pub(super) semi_major_axis_au: Option<f64>,
    pub(super) semi_major_axis_km: Option<f64>,
    pub(super) eccentricity: Option<f64>,
    pub(super) inclination_deg: Option<f64>,
    pub(super) inclination_to: Option<String>,
    pub(super) period_days: Option<f64>,
    pub(super) node_deg: Option<f64>,
    pub(super) perihelion_deg: Option<f64>,
    pub(super) mean_anomaly_deg: Option<f64>,
    /// Longitudes in place of the argument and the anomaly.
    pub(super) perihelion_longitude_deg: Option<f64>,
    pub(super) mean_longitude_deg: Option<f64>,
    pub(super) rates: Option<Rates>,
    /// The date of the angles; J2000.0 if absent.
    pub(super) epoch: Option<String>,
    /// The motion in longitude, and the years in which the apsis and the node go round.
    pub(super) motion_deg_per_day: Option<f64>,
    pub(super) perihelion_years: Option<f64>,
    pub(super) node_years: Option<f64>,
    /// Right ascension and declination of the pole of the orbit's plane of reference.
    plane_ra_dec_deg: Option<[f64; 2]>,
    /// Those of its own pole.
    pole_ra_dec_deg: Option<[f64; 2]>,
    /// Of a turn about it against the stars; that of most moons is their orbit's.
    pub(super) rotation_days: Option<f64>,
    pub(super) last_perihelion_julian_date: Option<f64>,
}

/// Changes of elements in a Julian century.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rates {
    pub(super) semi_major_axis_au: f64,
    pub(super) eccentricity: f64,
    pub(super) inclination_deg: f64,
    pub(super) mean_longitude_deg: f64,
    pub(super) perihelion_longitude_deg: f64,
    pub(super) node_deg: f64,
}

impl Body {
    /// How its equator lies.
    pub(super) fn equator(&self) -> Option<Plane> {
        self.pole_ra_dec_deg.map(Plane::with_pole)
    }

    /// The plane from which the angles of its orbit are measured, if it is not the ecliptic.
    pub(super) fn plane(&self) -> Option<Plane> {
        self.plane_ra_dec_deg.map(Plane::with_pole)
    }

    /// The semi-major axis in astronomical units, for any unit in the table.
    pub(super) fn axis_au(&self, units: &Units) -> Option<f64> {
        self.semi_major_axis_au.or_else(|| self.semi_major_axis_km.map(|km| km / units.au_km))
    }

    /// The published data of the orbit, under the member names of the state. Unknown values are absent.
    pub(super) fn facts(&self, units: &Units) -> Vec<(&'static str, Value)> {
        let axis_km =
            self.semi_major_axis_km.or_else(|| self.semi_major_axis_au.map(|au| au * units.au_km));
        [
            ("semiMajorAxisKm", axis_km.map(|fact| json!(fact))),
            ("inclinationDeg", self.inclination_deg.map(|fact| json!(fact))),
            ("inclinationTo", self.inclination_to.as_ref().map(|fact| json!(fact))),
            ("periodDays", self.period_days.map(|fact| json!(fact))),
        ]
        .into_iter()
        .filter_map(|(name, fact)| fact.map(|fact| (name, fact)))
        .collect()
    }
}

/// A planet's rings as one disk.
#[derive(Debug, Deserialize)]
pub(super) struct Ring {
    pub(super) body: String,
    pub(super) note: String,
    pub(super) inner_radius_km: f64,
    pub(super) outer_radius_km: f64,
    pub(super) half_thickness_km: f64,
    pub(super) opacity: f64,
    pub(super) albedo: f64,
    pub(super) density: f64,
    pub(super) colour: String,
}

/// A belt of small bodies.
#[derive(Debug, Deserialize)]
pub(super) struct Belt {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) belt_type: String,
    pub(super) host: String,
    pub(super) note: String,
    pub(super) inner_radius_au: f64,
    pub(super) outer_radius_au: f64,
    pub(super) thickness_au: f64,
    pub(super) inclination_sigma_deg: f64,
    pub(super) mass_kg: f64,
    pub(super) icy: bool,
    pub(super) particle_count: u32,
    pub(super) base_colour: String,
    pub(super) highlight_colour: String,
    pub(super) opacity: f64,
    pub(super) brightness: f64,
    pub(super) clumpiness: f64,
    pub(super) style: String,
}

/// A Lagrange point on the orbit of `secondary` around `primary`.
#[derive(Debug, Deserialize)]
pub(super) struct LagrangePoint {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) primary: String,
    pub(super) secondary: String,
    pub(super) point: u8,
    pub(super) leads_by_deg: f64,
}
