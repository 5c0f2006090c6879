//! Where bodies are at a time: positions, distances and directions, as short as models need them.

use serde::{Serialize, Serializer};
use universe_core::orbit::{Places, Vector3};
use universe_core::{Star, State, nearest};

use super::instant;
use crate::commands::Universe;

/// The most bodies in an answer, and the number of them without `limit`.
pub(crate) const MAX_PLACES: usize = 100;
/// The most bodies between which angles are computed: 45 pairs.
pub(crate) const MAX_SEPARATED: usize = 10;

/// So far from time 0, where dates are known, an answer says that its places are extrapolated: 300 years, seconds.
const FAR: f64 = 300.0 * 31_557_600.0;

/// What places are asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlacesAsked {
    /// A date, seconds or `now`; the universe's own time if absent.
    pub(crate) at: Option<String>,
    /// The ids of the bodies; all of them, in pages, if absent.
    pub(crate) bodies: Option<Vec<String>>,
    /// The id of the body that they are seen from; the origin of the world if absent.
    pub(crate) from: Option<String>,
    /// The ids of bodies between which angles are asked for, if they are.
    pub(crate) separations: Option<Vec<String>>,
    /// The most bodies on a page.
    pub(crate) limit: Option<usize>,
    /// The `next` of the page before.
    pub(crate) after: Option<String>,
}

/// Why there is no answer, as a sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlacesError {
    /// A body does not exist.
    #[error("{0}")]
    Unknown(String),
    /// A date, in a universe without an `epoch`.
    #[error("at: {0}")]
    NoEpoch(&'static str),
    /// Something else is wrong with the question.
    #[error("{0}")]
    Invalid(String),
}

/// Where bodies are.
#[derive(Debug, Serialize)]
pub(crate) struct PlacesAnswer {
    universe: String,
    /// The date, to the second. Null without an epoch.
    at: Option<String>,
    /// The simulated time, seconds.
    time: f64,
    /// x to the origin of longitudes, y 90 degrees ahead of it, z to the north.
    frame: &'static str,
    unit: Option<String>,
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    places: Vec<Place>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    separations: Vec<Separation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Debug, Serialize)]
struct Place {
    id: String,
    x: f64,
    y: f64,
    z: f64,
    distance: f64,
    /// Null at a distance of 0.
    longitude: Option<f64>,
    latitude: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Separation {
    between: [String; 2],
    #[serde(serialize_with = "angle")]
    degrees: f64,
}

/// The places of a universe.
///
/// # Errors
/// [`PlacesError`].
pub(crate) fn places(
    universe: &Universe,
    asked: &PlacesAsked,
) -> Result<PlacesAnswer, PlacesError> {
    let state = &universe.state;
    let invalid = |name: &str, problem: &str| PlacesError::Invalid(format!("{name}: {problem}"));
    let time = match &asked.at {
        None => state.time(),
        Some(text) => {
            let instant = instant(text).map_err(|problem| invalid("at", &problem))?;
            state.time_of(instant).map_err(PlacesError::NoEpoch)?
        }
    };
    let mut places = Places::new(state, time);
    let from = asked.from.as_deref().map(|id| body(state, "from", id)).transpose()?;
    let origin = from.map_or(Vector3::default(), |from| places.of(from));
    let (shown, next) = shown(state, asked)?;
    let shown = shown.into_iter().map(|star| Place::of(star.id(), less(places.of(star), origin)));
    let shown: Vec<_> = shown.collect();
    let separations = separations(state, &mut places, asked, origin)?;
    let at = state.date_of(time);
    let is_far = at.is_some() && time.abs() > FAR;
    Ok(PlacesAnswer {
        universe: universe.id.as_str().to_owned(),
        note: is_far.then_some(
            "more than 300 years from time 0: these places are extrapolated, and may be wrong by degrees",
        ),
        at,
        time,
        frame: "ecliptic-j2000",
        unit: state.unit("length").map(str::to_owned),
        from: asked.from.clone(),
        places: shown,
        separations,
        next,
    })
}

/// The bodies of the page, and its `next`.
fn shown<'s>(
    state: &'s State,
    asked: &PlacesAsked,
) -> Result<(Vec<&'s Star>, Option<String>), PlacesError> {
    let limit = asked.limit.unwrap_or(MAX_PLACES);
    if !(1..=MAX_PLACES).contains(&limit) {
        let problem = format!("limit must be a number from 1 to {MAX_PLACES}");
        return Err(PlacesError::Invalid(problem));
    }
    if let Some(ids) = &asked.bodies {
        if ids.is_empty() {
            let problem = "bodies: names no body; leave it out for all of them";
            return Err(PlacesError::Invalid(problem.to_owned()));
        }
        if ids.len() > MAX_PLACES {
            let problem = format!("bodies: at most {MAX_PLACES} at once, found {}", ids.len());
            return Err(PlacesError::Invalid(problem));
        }
        let bodies = ids.iter().map(|id| body(state, "bodies", id));
        return Ok((bodies.collect::<Result<_, _>>()?, None));
    }
    let after = asked.after.as_deref();
    let mut rest = state.stars().filter(|star| after.is_none_or(|after| star.id() > after));
    let page: Vec<_> = rest.by_ref().take(limit).collect();
    let next = rest.next().and(page.last()).map(|last| last.id().to_owned());
    Ok((page, next))
}

fn separations<'s>(
    state: &'s State,
    places: &mut Places<'s>,
    asked: &PlacesAsked,
    origin: Vector3,
) -> Result<Vec<Separation>, PlacesError> {
    let Some(ids) = &asked.separations else {
        return Ok(Vec::new());
    };
    if ids.len() < 2 || ids.len() > MAX_SEPARATED {
        let problem = format!("separations: name 2 to {MAX_SEPARATED} bodies, found {}", ids.len());
        return Err(PlacesError::Invalid(problem));
    }
    let mut directions = Vec::new();
    for id in ids {
        let direction = less(places.of(body(state, "separations", id)?), origin);
        if length(direction) == 0.0 {
            let problem =
                format!("separations: {id:?} is where it is seen from; choose another `from`");
            return Err(PlacesError::Invalid(problem));
        }
        directions.push((id, direction));
    }
    let mut found = Vec::new();
    for (at, (one, first)) in directions.iter().enumerate() {
        for (other, second) in directions.iter().skip(at + 1) {
            let degrees = between(*first, *second);
            found.push(Separation { between: [(*one).clone(), (*other).clone()], degrees });
        }
    }
    Ok(found)
}

/// A body by its id, or an error with the nearest id. A body is also near by its name.
fn body<'s>(state: &'s State, of: &str, id: &str) -> Result<&'s Star, PlacesError> {
    if let Some(star) = state.star(id) {
        return Ok(star);
    }
    let ids = state.stars().map(Star::id);
    let mut hint = nearest::hint(id, ids);
    if hint.is_empty() {
        let named = |star: &&Star| {
            let name = star.get("name").and_then(|name| name.as_str());
            name.is_some_and(|name| !nearest::nearest(id, [name]).is_empty())
        };
        if let Some(star) = state.stars().find(named) {
            hint = format!("; did you mean {}?", star.id());
        }
    }
    let shown: String = id.chars().take(80).collect();
    Err(PlacesError::Unknown(format!("{of}: this universe has no body {shown:?}{hint}")))
}

impl Place {
    fn of(id: &str, [x, world_y, world_z]: Vector3) -> Self {
        // From world coordinates, in which north is −y.
        let (y, z) = (world_z, -world_y);
        let distance = length([x, y, z]);
        let digits = |value: f64| significant(value, distance);
        let seen = distance > 0.0;
        Self {
            id: id.to_owned(),
            x: digits(x),
            y: digits(y),
            z: digits(z),
            distance: digits(distance),
            // What is rounded up to 360 is 0.
            longitude: seen
                .then(|| thousandths(y.atan2(x).to_degrees().rem_euclid(360.0)).rem_euclid(360.0)),
            latitude: seen.then(|| thousandths(z.atan2(x.hypot(y)).to_degrees())),
        }
    }
}

fn angle<S: Serializer>(degrees: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(thousandths(*degrees))
}

/// Six digits of what is as large as `scale`.
fn significant(value: f64, scale: f64) -> f64 {
    if scale <= 0.0 || !scale.is_finite() {
        return 0.0;
    }
    let decimals = 5 - scale.log10().floor().clamp(-290.0, 290.0) as i32;
    let factor = 10_f64.powi(decimals.abs());
    let rounded = if decimals >= 0 {
        (value * factor).round() / factor
    } else {
        (value / factor).round() * factor
    };
    // Adding zero makes a negative zero positive.
    rounded + 0.0
}

fn thousandths(degrees: f64) -> f64 {
    (degrees * 1_000.0).round() / 1_000.0 + 0.0
}

fn less([x, y, z]: Vector3, [a, b, c]: Vector3) -> Vector3 {
    [x - a, y - b, z - c]
}

fn length([x, y, z]: Vector3) -> f64 {
    x.hypot(y).hypot(z)
}

/// The angle between two directions, exact for small ones too.
fn between(one @ [a, b, c]: Vector3, other @ [x, y, z]: Vector3) -> f64 {
    let across = length([b * z - c * y, c * x - a * z, a * y - b * x]);
    let along = a * x + b * y + c * z;
    if length(one) == 0.0 || length(other) == 0.0 {
        return 0.0;
    }
    across.atan2(along).to_degrees()
}
