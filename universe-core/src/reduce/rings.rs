//! updateRing, removeRing.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Outcome;
use super::stars::merge;
use crate::entity::{Id, Members, Star};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::State;

impl State {
    /// A body without a ring gets one first.
    pub(super) fn update_ring(&mut self, planet: &Id, patch: &Members) -> Outcome {
        let star = self.star_mut(planet).ok_or_else(|| Refusal::star_not_found(planet))?;
        let mut ring = match star.get("ring") {
            Some(Value::Object(ring)) => ring.clone(),
            _ => default_ring(star),
        };
        merge(&mut ring, patch, &[]);
        star.members.update(|members| drop(members.insert("ring".to_owned(), Value::Object(ring))));
        Ok(Event::RingUpdated { planet_id: Arc::clone(planet) })
    }

    pub(super) fn remove_ring(&mut self, planet: &Id) -> Outcome {
        let planet_id = Arc::clone(planet);
        let has_ring =
            self.star(planet).map(|star| star.get("ring").is_some_and(|ring| !ring.is_null()));
        let problem = match has_ring {
            Some(true) => None,
            Some(false) => Some("has no ring; updateRing makes one"),
            None => Some("does not exist in this universe; name one in \"stars\""),
        };
        if let Some(problem) = problem {
            let message = format!("body {planet:?} {problem}");
            return Err(Refusal::new("RING_NOT_FOUND", Event::RingNotFound { planet_id }, message));
        }
        if let Some(star) = self.star_mut(planet) {
            star.members.update(|members| drop(members.remove("ring")));
        }
        Ok(Event::RingRemoved { planet_id })
    }
}

fn default_ring(star: &Star) -> Members {
    let radius = star.get("radius").and_then(Value::as_f64).unwrap_or_default();
    let ring = json!({
        "innerRadiusMultiplier": 1.5,
        "outerRadiusMultiplier": 3,
        "thickness": radius * 0.1,
        "opacity": 0.6,
        "albedo": 0.8,
        "color": star.get("color"),
        "density": 0.6,
    });
    match ring {
        Value::Object(ring) => ring,
        _ => Members::new(),
    }
}
