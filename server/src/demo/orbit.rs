//! From published orbital elements to those of a body in the state.

use serde_json::{Map, Value, json};

use super::plane::{Angles, Plane, turn};
use super::table::{Body, Units};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Days in a Julian century, and in a Julian year.
const CENTURY: f64 = 36_525.0;
const YEAR: f64 = 365.25;
/// J2000.0 as a Julian date.
const J2000: f64 = 2_451_545.0;
/// Multiples of this angle, in degrees, spread out evenly over the circle.
const GOLDEN_ANGLE: f64 = 137.507_764;
/// A plane that is further from the parent's equator than this, in degrees, is not it.
const SAME_PLANE: f64 = 5.0;

/// The elements of a body, which is number `n` in the table and orbits `parent`. `None` if it orbits nothing.
pub(super) fn elements(body: &Body, n: u32, parent: &Body, units: &Units) -> Option<Value> {
    let (axis, period) = (body.axis_au(units)?, body.period_days?);
    let mut orbit = Map::new();
    let mut put = |name: &str, value: Value| orbit.insert(name.to_owned(), value);
    let angles = Angles {
        inclination: body.inclination_deg.unwrap_or_default(),
        node: body.node_deg.unwrap_or_default(),
        argument: body.perihelion_deg.unwrap_or_default(),
    };
    put("semiMajorAxis", json!(axis));
    put("eccentricity", json!(body.eccentricity.unwrap_or_default()));
    if let (Some(longitude), Some(perihelion), Some(rates)) =
        (body.mean_longitude_deg, body.perihelion_longitude_deg, &body.rates)
    {
        // An orbit with a negative inclination, as it is published for Earth, has its nodes the other way round.
        let sign = if angles.inclination < 0.0 { -1.0 } else { 1.0 };
        let node = if sign < 0.0 { angles.node + 180.0 } else { angles.node };
        put("inclination", json!(sign * angles.inclination));
        put("ascendingNode", json!(node));
        put("argumentOfPeriapsis", json!(turn(perihelion - node)));
        put("meanAnomaly", json!(turn(longitude - perihelion)));
        let motion = rates.mean_longitude_deg - rates.perihelion_longitude_deg;
        put("period", json!(CENTURY * SECONDS_PER_DAY * 360.0 / motion));
        let rates = [
            ("semiMajorAxis", rates.semi_major_axis_au),
            ("eccentricity", rates.eccentricity),
            ("inclination", sign * rates.inclination_deg),
            ("ascendingNode", rates.node_deg),
            ("argumentOfPeriapsis", rates.perihelion_longitude_deg - rates.node_deg),
        ];
        let rates = rates.into_iter().filter(|(_, rate)| *rate != 0.0);
        put("rates", rates.map(|(name, rate)| (name.to_owned(), json!(rate))).collect());
        return Some(Value::Object(orbit));
    }
    let equator = parent.equator();
    let (in_plane, plane) = match (body.plane(), equator) {
        (Some(plane), Some(equator)) if plane.apart(equator) > SAME_PLANE => {
            (angles.seen_from(plane, Plane::default()), "ecliptic")
        }
        (Some(plane), Some(equator)) => (angles.seen_from(plane, equator), "parentEquator"),
        _ if body.inclination_to.as_deref() == Some("ecliptic") => (angles, "ecliptic"),
        _ => (angles, "parentEquator"),
    };
    put("inclination", json!(in_plane.inclination));
    put("ascendingNode", json!(in_plane.node));
    put("argumentOfPeriapsis", json!(in_plane.argument));
    let anomaly = body.mean_anomaly_deg.unwrap_or_else(|| turn(f64::from(n) * GOLDEN_ANGLE));
    put("meanAnomaly", json!(anomaly));
    put("plane", json!(plane));
    if let Some(epoch) = &body.epoch {
        put("epoch", json!(epoch));
    }
    let mut motion = body.motion_deg_per_day.unwrap_or(360.0 / period);
    if let (Some(apsis), Some(nodes)) = (body.perihelion_years, body.node_years) {
        // The apsis goes ahead, and the node of an orbit that is not retrograde goes back; where years are negative,
        // the other way.
        let (argument, node) = (360.0 / (apsis * YEAR), -360.0 / (nodes * YEAR));
        let is_retrograde = in_plane.inclination > 90.0;
        motion -= argument + if is_retrograde { -node } else { node };
        let rates =
            json!({ "ascendingNode": node * CENTURY, "argumentOfPeriapsis": argument * CENTURY });
        put("rates", rates);
    }
    put("period", json!(SECONDS_PER_DAY * 360.0 / motion));
    Some(Value::Object(orbit))
}

/// Seconds of simulation time at a Julian date; `None` stays `None`.
pub(super) fn seconds_from_j2000(julian_date: Option<f64>) -> Option<f64> {
    julian_date.map(|date| ((date - J2000) * SECONDS_PER_DAY).round())
}
