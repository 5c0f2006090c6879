//! One system: its stars, planets and moons, and what else is among them.

mod besides;

use serde_json::{Map, Value, json};

use super::bodies::{Body, Kind, Motion, mass};
use super::style::{Settings, Spacing};
use super::topology::{Moons, Topology};
use super::{Random, Recipe, Universe, names, rounded};

/// A system while it is made.
pub(super) struct System {
    number: u32,
    /// Each body stands behind its parent; the first one is the root.
    bodies: Vec<Body>,
    fields: Vec<Value>,
    disks: Vec<Value>,
    /// How far it reaches, world units.
    extent: f64,
    settings: Settings,
    spacing: Spacing,
}

impl System {
    /// The `number`th system, from 1.
    pub(super) fn new(recipe: &Recipe, number: u32, random: &Random) -> Self {
        let settings = recipe.style.settings();
        let shape = Topology::new(recipe.preset, settings.max_stars, &mut random.fork("lsystem"));
        let mut system = Self {
            number,
            bodies: Vec::new(),
            fields: Vec::new(),
            disks: Vec::new(),
            extent: 0.0,
            settings,
            spacing: recipe.scale.spacing(),
        };
        system.fill(shape, &mut random.fork("stardata"));
        system.add_besides(random);
        system
    }

    /// How far it reaches, world units.
    pub(super) fn extent(&self) -> f64 {
        self.extent
    }

    /// Puts it into a universe at a place.
    pub(super) fn put(mut self, universe: &mut Universe, place: [f64; 3]) {
        if let Some(root) = self.bodies.first_mut() {
            root.orbit.offset = place;
            universe.systems.push((root.id.clone(), place));
        }
        for body in self.bodies {
            let id = body.id.clone();
            universe.stars.insert(id, body.into_value());
        }
        put(&mut universe.fields, self.fields);
        put(&mut universe.disks, self.disks);
    }

    /// The stars, the planets and the moons.
    fn fill(&mut self, shape: Topology, random: &mut Random) {
        let mut masses: Vec<_> = (0..shape.stars).map(|_| mass(Kind::Star, random)).collect();
        masses.sort_by(|a, b| b.total_cmp(a));
        let mut masses = masses.into_iter();
        let (root_id, name) = (format!("s{}", self.number), names::star(random));
        let mass_of_root = masses.next().unwrap_or(100.0);
        let root = Body::new(Kind::Star, mass_of_root, (root_id.clone(), name.clone()), random);
        let base = self.spacing.base.max(2.0 * root.radius);
        self.bodies.push(root);
        let growth = self.spacing.growth;
        let mut distance = base;
        for (planet, n) in shape.planets.into_iter().zip(1..) {
            let axis = distance + random.between(-0.1, 0.1);
            let motion = Motion::at(axis, &self.settings, &self.spacing, random);
            let id = format!("{root_id}-p{n}");
            let name = names::numbered(&name, n);
            let body = self.orbiting(Kind::Planet, &root_id, (id, name), motion, random);
            self.add_moons(&body, planet, axis * (1.0 - 1.0 / growth), random);
            distance *= growth;
        }
        // Companions are outside of the planets, spread evenly over the circle.
        let companions = masses.len();
        for (mass, n) in masses.zip(1..) {
            let (id, name) = (format!("{root_id}-star{}", n + 1), names::companion(&name, n));
            let mut body = Body::new(Kind::Star, mass, (id, name), random);
            let mut motion = Motion::at(distance, &self.settings, &self.spacing, random);
            motion.phase = 360.0 * n as f64 / companions as f64;
            body.orbit = motion;
            self.attach(body, &root_id);
            distance *= growth;
        }
    }

    /// The moons of a planet, and theirs, within a part of the room that it has.
    fn add_moons(&mut self, around: &Primary, moons: Moons, room: f64, random: &mut Random) {
        // Between them the distances grow evenly by a factor.
        let inner = around.radius * 2.4;
        let outer = (room * 0.35).max(inner * 1.6);
        let steps = moons.len().saturating_sub(1).max(1) as f64;
        let factor = libm::pow(outer / inner, 1.0 / steps);
        let mut distance = inner;
        for (below, n) in moons.into_iter().zip(1..) {
            let axis = distance * random.between(0.98, 1.02);
            let motion = Motion::at(axis, &self.settings, &self.spacing, random);
            let id = format!("{}-m{n}", around.id);
            let name = names::moon(&around.name, n);
            let moon = self.orbiting(Kind::Moon, &around.id, (id, name), motion, random);
            if below > 0 {
                self.add_moons(&moon, vec![0; below], axis * (factor - 1.0), random);
            }
            distance *= factor;
        }
    }

    /// Adds a body around another one.
    fn orbiting(
        &mut self,
        kind: Kind,
        parent: &str,
        named: (String, String),
        motion: Motion,
        random: &mut Random,
    ) -> Primary {
        let mass = mass(kind, random);
        let mut body = Body::new(kind, mass, named, random);
        body.orbit = motion;
        let primary = Primary { id: body.id.clone(), name: body.name.clone(), radius: body.radius };
        self.attach(body, parent);
        primary
    }

    fn attach(&mut self, mut body: Body, parent: &str) {
        if let Some(above) = self.bodies.iter_mut().find(|above| above.id == parent) {
            if self.spacing.is_keplerian && !body.orbit.is_keplerian {
                body.orbit.obey(above.mass, &self.spacing);
            }
            above.children.push(body.id.clone());
        }
        if self.bodies.first().is_some_and(|root| root.id == parent) {
            let reach = body.orbit.axis * (1.0 + body.orbit.eccentricity);
            self.extent = self.extent.max(reach);
        }
        body.parent = Some(parent.to_owned());
        self.bodies.push(body);
    }

    /// The planets, from the inside.
    fn planets(&self) -> Vec<usize> {
        let bodies = self.bodies.iter().enumerate();
        let planets = bodies.filter(|(_, body)| body.kind == Kind::Planet);
        planets.map(|(at, _)| at).collect()
    }
}

/// What moons need to know about the body that they circle.
struct Primary {
    id: String,
    name: String,
    radius: f64,
}

fn put(map: &mut Map<String, Value>, entities: Vec<Value>) {
    for entity in entities {
        let id = entity.get("id").and_then(Value::as_str);
        if let Some(id) = id.map(str::to_owned) {
            map.insert(id, entity);
        }
    }
}

/// A ring for a body.
fn ring(body: &Body, random: &mut Random) -> Value {
    json!({
        "innerRadiusMultiplier": rounded(random.between(1.25, 1.5)),
        "outerRadiusMultiplier": rounded(random.between(1.8, 2.2)),
        "thickness": rounded(body.radius * 0.02),
        "opacity": rounded(random.between(0.4, 0.85)),
        "albedo": rounded(random.between(0.3, 0.8)),
        "color": body.color,
        "density": rounded(random.between(0.3, 0.9)),
        "seed": body.id,
    })
}
