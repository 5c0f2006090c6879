//! The demo universe "Sol": the solar system with its true masses, sizes and orbits.
//!
//! The facts are in `data/sol.json`, with their sources, in the units they are published in. This module turns them
//! into a universe state, whose numbers have no units. The demo's choice:
//!
//! | member | unit |
//! |---|---|
//! | `time` | seconds since J2000.0, the `epoch`; a `tick` of 86400 is one day |
//! | `mass`, `radius` | Earth = 1 |
//! | `elements`, belts, `thickness`, comet distances and tails | astronomical units, degrees, seconds |
//! | `axialTilt`, `axialNode` | degrees from the ecliptic, of the equator about whose pole a body turns counter-clockwise |
//!
//! The angles of regular moons are measured from their planet's equator. Moons whose positions are not published here
//! start spread out by the golden angle. Each body also keeps the published facts (`kind`, `massKg`, `radiusKm`,
//! `semiMajorAxisKm`, `inclinationDeg`, `inclinationTo`, `periodDays`), which the universe carries as unknown members.

mod orbit;
mod plane;
mod table;

use serde_json::{Map, Value, json};

use self::table::{Belt, Body, Kind, LagrangePoint, Ring, Table, Units};

/// The fixed id of the demo universe.
pub const ID: &str = "sol";

/// The name of the demo universe.
pub const NAME: &str = "Sol";

/// The date of time 0.
const EPOCH: &str = "2000-01-01T12:00:00Z";

/// The same in seconds since 1970-01-01T00:00:00Z.
const EPOCH_SECONDS: f64 = 946_728_000.0;

/// The state of the demo universe at J2000.0: one root, the Sun, in one group, and everything that orbits it.
///
/// # Errors
/// When the embedded table is invalid. A test shows that it is valid.
pub fn sol() -> Result<Value, serde_json::Error> {
    let table: Table = serde_json::from_str(include_str!("../data/sol.json"))?;
    Ok(state(&table))
}

/// The same at another time, in seconds since J2000.0: what moves is described by elements, which stay.
///
/// # Errors
/// As for [`sol`].
pub fn sol_at(time: f64) -> Result<Value, serde_json::Error> {
    let mut state = sol()?;
    if let Some(members) = state.as_object_mut() {
        members.insert("time".to_owned(), json!(time));
    }
    Ok(state)
}

/// The time of this moment in the demo universe, in whole seconds.
pub(crate) fn now() -> f64 {
    crate::view::now() - EPOCH_SECONDS
}

fn state(table: &Table) -> Value {
    let mut stars: Map<String, Value> = (0_u32..)
        .zip(&table.bodies)
        .map(|(n, body)| (body.id.clone(), star(table, body, n)))
        .collect();
    for point in &table.lagrange_points {
        if let Some(marker) = lagrange_point(table, point) {
            stars.insert(point.id.clone(), marker);
        }
    }
    let fields: Map<String, Value> =
        table.belts.iter().map(|belt| (belt.id.clone(), small_body_field(belt))).collect();
    let roots: Vec<&str> = table
        .bodies
        .iter()
        .filter(|body| body.parent.is_none())
        .map(|body| body.id.as_str())
        .collect();
    let systems: Vec<Value> = roots.iter().map(|id| json!({"id": id, "type": "system"})).collect();
    json!({
        "stars": stars,
        "rootIds": roots,
        "groups": {
            "solar-system": {
                "id": "solar-system",
                "name": "Solar System",
                "children": systems,
                "parentGroupId": null,
                "color": "#F5C04A",
                "icon": "☀",
            },
        },
        "rootGroupIds": ["solar-system"],
        "belts": {},
        "smallBodyFields": fields,
        "protoplanetaryDisks": {},
        "nebulae": {},
        "time": 0,
        "epoch": EPOCH,
        "units": { "length": "au", "mass": "earthMass", "radius": "earthRadius" },
    })
}

/// One body. `n` is its index in the table, which spreads out bodies without a known position on their orbits.
fn star(table: &Table, body: &Body, n: u32) -> Value {
    let units = &table.units;
    let mut star = json!({
        "id": body.id,
        "name": body.name,
        "color": body.colour,
        "mass": body.mass_kg / units.earth_mass_kg,
        "radius": body.radius_km / units.earth_radius_km,
        "children": children(table, &body.id),
        "parentId": body.parent,
        "bodyType": body.kind.body_type(),
        "kind": body.kind,
        "massKg": body.mass_kg,
        "radiusKm": body.radius_km,
    });
    let mut put = |name: &str, value: Value| {
        if let Some(members) = star.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    match elements(table, body, n) {
        Some(elements) => put("elements", elements),
        None => ["orbitalDistance", "orbitalSpeed", "orbitalPhase"]
            .into_iter()
            .for_each(|name| put(name, json!(0))),
    }
    if let Some(equator) = body.equator() {
        put("axialTilt", json!(equator.tilt));
        put("axialNode", json!(equator.node));
    }
    if let Some(days) = body.rotation_days {
        put("rotationPeriod", json!((days * 86_400.0).round()));
    }
    body.facts(units).into_iter().for_each(|(name, value)| put(name, value));
    if let Some(sub_type) = asteroid_sub_type(table, body) {
        put("asteroidSubType", json!(sub_type));
    }
    if let Some(belt) = &body.belt {
        put("parentBeltId", json!(belt));
    }
    if let Some(ring) = table.rings.iter().find(|ring| ring.body == body.id) {
        put("ring", planetary_ring(ring, body, units));
    }
    if body.kind == Kind::Comet {
        put("comet", comet(body, units));
    }
    star
}

/// The elements of a body's orbit. `None` if it orbits nothing.
fn elements(table: &Table, body: &Body, n: u32) -> Option<Value> {
    let parent = table.bodies.iter().find(|other| body.parent.as_ref() == Some(&other.id))?;
    orbit::elements(body, n, parent, &table.units)
}

/// The ids of everything that orbits `id`, in the table's order: bodies, then the markers on its own orbits.
fn children<'t>(table: &'t Table, id: &str) -> Vec<&'t str> {
    let bodies =
        table.bodies.iter().filter(|b| b.parent.as_deref() == Some(id)).map(|b| b.id.as_str());
    let points = table.lagrange_points.iter().filter(|p| p.primary == id).map(|p| p.id.as_str());
    bodies.chain(points).collect()
}

/// A dwarf planet is drawn as an asteroid of its belt. Outside of both belts it is a generic asteroid.
fn asteroid_sub_type(table: &Table, body: &Body) -> Option<&'static str> {
    if body.kind.body_type() != "asteroid" {
        return None;
    }
    let belt = table.belts.iter().find(|belt| body.belt.as_deref() == Some(&belt.id));
    Some(match belt.map(|belt| belt.belt_type.as_str()) {
        Some("main") => "mainBelt",
        Some("kuiper") => "kuiperBelt",
        _ => "generic",
    })
}

fn planetary_ring(ring: &Ring, body: &Body, units: &Units) -> Value {
    json!({
        "innerRadiusMultiplier": ring.inner_radius_km / body.radius_km,
        "outerRadiusMultiplier": ring.outer_radius_km / body.radius_km,
        "thickness": ring.half_thickness_km / units.au_km,
        "opacity": ring.opacity,
        "albedo": ring.albedo,
        "color": ring.colour,
        "density": ring.density,
        "innerRadiusKm": ring.inner_radius_km,
        "outerRadiusKm": ring.outer_radius_km,
        "note": ring.note,
    })
}

/// The tail is a sketch: a third of an astronomical unit long. It grows within 3 au, where ice sublimes.
fn comet(body: &Body, units: &Units) -> Value {
    let axis = body.axis_au(units).unwrap_or_default();
    let eccentricity = body.eccentricity.unwrap_or_default();
    json!({
        "isPeriodic": true,
        "perihelionDistance": axis * (1.0 - eccentricity),
        "aphelionDistance": axis * (1.0 + eccentricity),
        "hasTail": true,
        "tailLengthBase": 0.3,
        "tailWidthBase": 0.02,
        "tailColor": body.colour,
        "tailOpacityBase": 0.6,
        "activityFalloffDistance": 3.0,
        "lastPerihelionTime": orbit::seconds_from_j2000(body.last_perihelion_julian_date),
        "seed": body.id,
    })
}

/// A massless marker on the orbit of the secondary, a sixth of a turn ahead of it or behind it.
fn lagrange_point(table: &Table, point: &LagrangePoint) -> Option<Value> {
    let (n, secondary) =
        (0_u32..).zip(&table.bodies).find(|(_, body)| body.id == point.secondary)?;
    let mut marker = json!({
        "id": point.id,
        "name": point.name,
        "color": "#7FE0A0",
        "mass": 0,
        "radius": 0,
        "children": [],
        "parentId": point.primary,
        "bodyType": "lagrangePoint",
        "kind": "lagrangePoint",
        "lagrangePoint": {
            "primaryId": point.primary,
            "secondaryId": point.secondary,
            "pointIndex": point.point,
            "stable": matches!(point.point, 4 | 5),
            "pairType": "starPlanet",
            "label": point.label,
        },
    });
    let mut elements = elements(table, secondary, n)?;
    let anomaly = elements.get("meanAnomaly").and_then(Value::as_f64)?;
    let ahead = json!((anomaly + point.leads_by_deg).rem_euclid(360.0));
    elements.as_object_mut()?.insert("meanAnomaly".to_owned(), ahead);
    marker.as_object_mut()?.insert("elements".to_owned(), elements);
    Some(marker)
}

fn small_body_field(belt: &Belt) -> Value {
    json!({
        "id": belt.id,
        "systemId": belt.host,
        "hostStarId": belt.host,
        "innerRadius": belt.inner_radius_au,
        "outerRadius": belt.outer_radius_au,
        "thickness": belt.thickness_au,
        "particleCount": belt.particle_count,
        "baseColor": belt.base_colour,
        "highlightColor": belt.highlight_colour,
        "opacity": belt.opacity,
        "brightness": belt.brightness,
        "clumpiness": belt.clumpiness,
        "rotationSpeedMultiplier": 1,
        "beltType": belt.belt_type,
        "regionLabel": belt.name,
        "isIcy": belt.icy,
        "seed": belt.id,
        "style": belt.style,
        "inclinationSigma": belt.inclination_sigma_deg,
        "name": belt.name,
        "visible": true,
        "massKg": belt.mass_kg,
        "note": belt.note,
    })
}
