//! Bodies while they are made: their size, their look, and how they move.

use serde_json::{Map, Value, json};

use super::style::{Settings, Spacing};
use super::{Random, rounded};

const ROCKY: [&str; 6] = ["#B5793F", "#C2A37C", "#8C7B6B", "#4F7FBF", "#A8553A", "#6FA66A"];
const GIANT: [&str; 6] = ["#D9B48F", "#E3C98A", "#7FB2D9", "#5C7FD0", "#C98F6B", "#9FC9C4"];
const MOON: [&str; 5] = ["#BFBDB8", "#9C9A97", "#D8D2C4", "#A79A86", "#C7CBD1"];
/// From this mass on a planet looks like a giant.
const GIANT_MASS: f64 = 60.0;

/// A kind of body that orbits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Star,
    Planet,
    Moon,
    Asteroid,
    Comet,
    LagrangePoint,
}

/// A body of a system.
pub(super) struct Body {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) mass: f64,
    pub(super) radius: f64,
    pub(super) color: &'static str,
    pub(super) parent: Option<String>,
    pub(super) children: Vec<String>,
    pub(super) orbit: Motion,
    /// What only some kinds have.
    pub(super) more: Map<String, Value>,
}

/// How a body moves around its parent.
#[derive(Debug, Clone, Default)]
pub(super) struct Motion {
    pub(super) axis: f64,
    pub(super) eccentricity: f64,
    pub(super) speed: f64,
    pub(super) phase: f64,
    /// Degrees about x, y and z.
    pub(super) turned: [f64; 3],
    pub(super) offset: [f64; 3],
    /// Whether it is written as elements, with the parent in the focus.
    pub(super) is_keplerian: bool,
}

impl Kind {
    pub(super) fn body_type(self) -> &'static str {
        match self {
            Self::Star => "star",
            Self::Planet => "planet",
            Self::Moon => "moon",
            Self::Asteroid => "asteroid",
            Self::Comet => "comet",
            Self::LagrangePoint => "lagrangePoint",
        }
    }

    /// What a mass that was drawn is multiplied with.
    fn mass_factor(self) -> f64 {
        match self {
            Self::Star => 100.0,
            Self::Planet => 10.0,
            Self::Moon => 1.0,
            Self::Asteroid => 0.01,
            Self::Comet => 0.005,
            Self::LagrangePoint => 0.0,
        }
    }

    fn color(self, mass: f64, random: &mut Random) -> &'static str {
        let palette: &[&str] = match self {
            Self::Star => return star_color(mass),
            Self::Planet if mass >= GIANT_MASS => &GIANT,
            Self::Planet => &ROCKY,
            Self::Moon | Self::Asteroid => &MOON,
            Self::Comet => return "#BFE6FF",
            Self::LagrangePoint => return "#7FE0A0",
        };
        random.pick(palette).copied().unwrap_or("#FFFFFF")
    }
}

fn star_color(mass: f64) -> &'static str {
    match mass {
        600.0.. => "#9BB8FF",
        200.0.. => "#E6ECFF",
        100.0.. => "#FFE9A8",
        50.0.. => "#FFB56B",
        _ => "#FF7B5A",
    }
}

/// A mass for a body of this kind.
pub(super) fn mass(kind: Kind, random: &mut Random) -> f64 {
    rounded(random.log_normal(1.5, 0.8) * kind.mass_factor())
}

impl Body {
    pub(super) fn new(
        kind: Kind,
        mass: f64,
        (id, name): (String, String),
        random: &mut Random,
    ) -> Self {
        Self {
            id,
            name,
            kind,
            mass,
            radius: rounded(0.15 * libm::pow(mass, 0.4)),
            color: kind.color(mass, random),
            parent: None,
            children: Vec::new(),
            orbit: Motion::default(),
            more: Map::new(),
        }
    }

    pub(super) fn with(mut self, member: &str, value: Value) -> Self {
        self.more.insert(member.to_owned(), value);
        self
    }

    pub(super) fn into_value(self) -> Value {
        let Motion {
            axis,
            eccentricity,
            speed,
            phase,
            turned: [rot_x, rot_y, rot_z],
            offset: [x, y, z],
            is_keplerian,
        } = self.orbit;
        let mut members = self.more;
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("id", json!(self.id));
        put("name", json!(self.name));
        put("mass", json!(self.mass));
        put("radius", json!(self.radius));
        put("color", json!(self.color));
        put("bodyType", json!(self.kind.body_type()));
        put("parentId", json!(self.parent));
        put("children", json!(self.children));
        if is_keplerian {
            let elements = json!({
                "semiMajorAxis": rounded(axis),
                "eccentricity": rounded(eccentricity),
                "inclination": rounded(rot_x.abs()),
                "ascendingNode": rounded(rot_y),
                "meanAnomaly": rounded(phase),
                "period": 360.0 / speed,
            });
            put("elements", elements);
            return Value::Object(members);
        }
        put("orbitalDistance", json!(rounded(axis)));
        put("semiMajorAxis", json!(rounded(axis)));
        put("eccentricity", json!(rounded(eccentricity)));
        put("orbitalSpeed", json!(rounded(speed)));
        put("orbitalPhase", json!(rounded(phase)));
        let turned = [("orbitRotX", rot_x), ("orbitRotY", rot_y), ("orbitRotZ", rot_z)];
        let moved = [("orbitOffsetX", x), ("orbitOffsetY", y), ("orbitOffsetZ", z)];
        for (name, value) in turned.into_iter().chain(moved) {
            // Absent means 0.
            if value != 0.0 {
                put(name, json!(rounded(value)));
            }
        }
        Value::Object(members)
    }
}

impl Motion {
    /// A motion at this distance, as round and flat as the style has it, at a random angle.
    pub(super) fn at(
        axis: f64,
        settings: &Settings,
        spacing: &Spacing,
        random: &mut Random,
    ) -> Self {
        let (least, most) = settings.eccentricity;
        let tilt = settings.inclination;
        Self {
            axis,
            eccentricity: random.between(least, most),
            speed: spacing.speed / axis.max(0.01).sqrt(),
            phase: random.between(0.0, 360.0),
            // Most are flatter than the style allows.
            turned: [random.between(0.0, tilt) * random.float(), random.between(0.0, 360.0), 0.0],
            offset: [0.0; 3],
            is_keplerian: false,
        }
    }

    /// Takes the speed that Kepler's third law gives it around this mass.
    pub(super) fn obey(&mut self, mass: f64, spacing: &Spacing) {
        let of_hundred = spacing.speed / libm::sqrt(spacing.base);
        let relative = libm::pow(spacing.base / self.axis.max(0.01), 3.0) * mass.max(1e-6) / 100.0;
        self.speed = of_hundred * libm::sqrt(relative);
        self.is_keplerian = true;
    }
}
