//! What a system has besides its stars, planets and moons: belts, rings, comets, Lagrange points with their Trojans,
//! disks.

use serde_json::{Value, json};

use super::super::bodies::{Body, Kind, Motion, mass};
use super::super::{Random, names, rounded};
use super::{System, ring};
use crate::orbit::turn;

/// The most planets of a system that have their Lagrange points marked.
const MAX_MARKED: usize = 2;

impl System {
    /// Adds all of it, each from separate random numbers.
    pub(super) fn add_besides(&mut self, random: &Random) {
        let planets = self.planets();
        self.add_belts(&planets, random);
        self.add_rings(&planets, &mut random.fork("rings"));
        self.add_comets(&mut random.fork("comets"));
        self.add_lagrange(&planets, &mut random.fork("lagrange"));
        self.add_disk(&mut random.fork("protoplanetary-disks"));
    }

    fn root_id(&self) -> String {
        format!("s{}", self.number)
    }

    fn axes(&self, planets: &[usize]) -> Vec<f64> {
        let planets = planets.iter().filter_map(|&at| self.bodies.get(at));
        planets.map(|planet| planet.orbit.axis).collect()
    }

    /// A belt in a gap between planets, and one outside of all.
    fn add_belts(&mut self, planets: &[usize], random: &Random) {
        let axes = self.axes(planets);
        let mut main = random.fork("belts");
        let gaps: Vec<_> = axes.windows(2).map(<[f64]>::to_vec).collect();
        if main.bool(self.settings.belt)
            && let Some([inside, outside]) = main.pick(&gaps).map(Vec::as_slice)
        {
            // In the middle of the gap, so that no planet is in it.
            let gap = outside - inside;
            let (inner, outer) = (inside + gap * 0.38, inside + gap * 0.68);
            let field = self.field("main", "Belt", (inner, outer), &mut main);
            self.fields.push(field);
        }
        let mut kuiper = random.fork("kuiper");
        if kuiper.bool(self.settings.kuiper) {
            let inner = self.extent.max(self.spacing.base) * 1.25;
            let outer = inner * kuiper.between(1.25, 1.6);
            let field = self.field("kuiper", "Outer Belt", (inner, outer), &mut kuiper);
            self.extent = self.extent.max(outer);
            self.fields.push(field);
        }
    }

    fn field(
        &self,
        kind: &str,
        label: &str,
        (inner, outer): (f64, f64),
        random: &mut Random,
    ) -> Value {
        let styles = ["thin", "moderate", "thick", "scattered"];
        let (icy, root) = (kind == "kuiper", self.root_id());
        let name = self.bodies.first().map_or("", |root| &root.name);
        let id = format!("{root}-{kind}-belt");
        json!({
            "id": id,
            "systemId": root,
            "hostStarId": root,
            "innerRadius": rounded(inner),
            "outerRadius": rounded(outer),
            "thickness": rounded((outer - inner) * random.between(0.05, 0.2)),
            "particleCount": random.int(10, 60) * 100,
            "baseColor": if icy { "#7D94AD" } else { "#8C7A66" },
            "highlightColor": if icy { "#CFE3F5" } else { "#D0B894" },
            "opacity": rounded(random.between(0.5, 0.9)),
            "brightness": rounded(random.between(0.7, 1.2)),
            "clumpiness": rounded(random.between(0.1, 0.6)),
            "rotationSpeedMultiplier": 1,
            "beltType": kind,
            "regionLabel": label,
            "isIcy": icy,
            "seed": id,
            "style": random.pick(&styles),
            "name": format!("{name} {label}"),
            "visible": true,
        })
    }

    fn add_rings(&mut self, planets: &[usize], random: &mut Random) {
        for &at in planets {
            if random.bool(self.settings.ring)
                && let Some(planet) = self.bodies.get_mut(at)
            {
                let ring = ring(planet, random);
                planet.more.insert("ring".to_owned(), ring);
            }
        }
    }

    fn add_comets(&mut self, random: &mut Random) {
        let (root, reach) = (self.root_id(), self.extent.max(self.spacing.base));
        let name = self.bodies.first().map_or("", |root| &root.name).to_owned();
        let (least, most) = self.settings.comets;
        for n in 1..=random.int(least, most) {
            let axis = reach * random.between(0.5, 1.1);
            let mut motion = Motion::at(axis, &self.settings, &self.spacing, random);
            motion.eccentricity = random.between(0.6, 0.9);
            // The parent is at a focus, where it belongs, not at the centre.
            let centre = [-axis * motion.eccentricity, 0.0, 0.0];
            motion.offset = turn(centre, motion.turned.map(Some));
            let (near, far) = (1.0 - motion.eccentricity, 1.0 + motion.eccentricity);
            let mass = mass(Kind::Comet, random);
            let named = (format!("{root}-comet{n}"), format!("Comet {name} {n}"));
            let id = named.0.clone();
            let mut body = Body::new(Kind::Comet, mass, named, random).with(
                "comet",
                json!({
                    "isPeriodic": true,
                    "perihelionDistance": rounded(axis * near),
                    "aphelionDistance": rounded(axis * far),
                    "hasTail": true,
                    "tailLengthBase": rounded(reach * 0.1),
                    "tailWidthBase": rounded(reach * 0.01),
                    "tailColor": "#BFE6FF",
                    "tailOpacityBase": rounded(random.between(0.4, 0.8)),
                    "activityFalloffDistance": rounded(reach * 0.4),
                    "seed": id,
                }),
            );
            body.orbit = motion;
            // It goes beyond the others, which does not make the system larger.
            let extent = self.extent;
            self.attach(body, &root);
            self.extent = extent.max(axis * far);
        }
    }

    /// The five points of some planets, and Trojans at the stable two.
    fn add_lagrange(&mut self, planets: &[usize], random: &mut Random) {
        let mut marked = 0;
        for &at in planets {
            if marked == MAX_MARKED || !random.bool(self.settings.lagrange) {
                continue;
            }
            marked += 1;
            let (Some(planet), Some(root)) = (self.bodies.get(at), self.bodies.first()) else {
                continue;
            };
            let hill = libm::cbrt(planet.mass / (3.0 * root.mass)).min(0.3);
            let (orbit, id, name) = (planet.orbit.clone(), planet.id.clone(), planet.name.clone());
            let root = root.id.clone();
            let places =
                [(1.0 - hill, 0.0), (1.0 + hill, 0.0), (1.0, 180.0), (1.0, 60.0), (1.0, -60.0)];
            for ((factor, ahead), n) in places.into_iter().zip(1..) {
                let point = format!("{id}-l{n}");
                let named = (point.clone(), format!("{name} L{n}"));
                let mut marker = Body::new(Kind::LagrangePoint, 0.0, named, random).with(
                    "lagrangePoint",
                    json!({
                        "primaryId": root,
                        "secondaryId": id,
                        "pointIndex": n,
                        "stable": n > 3,
                        "pairType": "starPlanet",
                        "label": format!("L{n}"),
                    }),
                );
                marker.orbit = moved(&orbit, factor, ahead);
                self.attach(marker, &root);
                let trojans = if n > 3 { random.int(1, 5) } else { 0 };
                for k in 1..=trojans {
                    let named = (
                        format!("{point}-t{k}"),
                        names::moon(
                            &format!("{name} Trojan {n}"),
                            usize::try_from(k).unwrap_or_default(),
                        ),
                    );
                    let mass = mass(Kind::Asteroid, random);
                    let mut trojan = Body::new(Kind::Asteroid, mass, named, random)
                        .with("asteroidSubType", json!("generic"))
                        .with("lagrangeHostId", json!(point));
                    let factor = random.between(0.98, 1.02);
                    trojan.orbit = moved(&orbit, factor, ahead + random.between(-8.0, 8.0));
                    self.attach(trojan, &root);
                }
            }
        }
    }

    /// A disk around the star of a young system.
    fn add_disk(&mut self, random: &mut Random) {
        if !random.bool(self.settings.disk) {
            return;
        }
        let root = self.root_id();
        let name = self.bodies.first().map_or("", |root| &root.name);
        let radius = self.bodies.first().map_or(1.0, |root| root.radius);
        let styles = ["thin", "moderate", "thick", "extreme"];
        let outer = self.extent.max(self.spacing.base);
        let id = format!("{root}-disk");
        let disk = json!({
            "id": id,
            "systemId": root,
            "centralStarId": root,
            "innerRadius": rounded(radius * 1.5),
            "outerRadius": rounded(outer.max(radius * 3.0)),
            "thickness": rounded(outer * random.between(0.01, 0.06)),
            "particleCount": random.int(20, 80) * 100,
            "baseColor": "#8A5A3C",
            "highlightColor": "#F2C38B",
            "opacity": rounded(random.between(0.3, 0.7)),
            "brightness": rounded(random.between(0.6, 1.1)),
            "clumpiness": rounded(random.between(0.2, 0.7)),
            "rotationSpeedMultiplier": 1,
            "seed": id,
            "style": random.pick(&styles),
            "name": format!("{name} Disk"),
            "spiralStrength": rounded(random.float()),
            "spiralArmCount": random.int(1, 4),
        });
        self.disks.push(disk);
    }
}

/// The same motion, further out or in, and ahead by an angle.
fn moved(orbit: &Motion, factor: f64, ahead: f64) -> Motion {
    let full = 360.0;
    Motion {
        axis: orbit.axis * factor,
        phase: (orbit.phase + ahead + full) % full,
        ..orbit.clone()
    }
}
