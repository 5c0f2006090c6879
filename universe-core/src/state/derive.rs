//! What follows from the elements of bodies: kept beside them, so that an answer has both and a text need not be read.

use std::sync::Arc;

use serde_json::Value;

use super::State;
use crate::date::NO_EPOCH;
use crate::entity::{Id, Star};

impl State {
    /// To be called when a body's elements, its parent or the epoch may have changed.
    pub(crate) fn derive(&mut self, id: &str) {
        let Some(star) = self.star(id) else { return };
        if star.derived.is_none() && !star.members.may_have("elements") {
            return;
        }
        let derived = self.orbit(star).kepler().map(|kepler| Arc::new(kepler.derived()));
        if derived != star.derived
            && let Some(star) = self.star_mut(id)
        {
            star.derived = derived;
        }
    }

    /// To be called when the pole of a body has changed.
    pub(crate) fn derive_below(&mut self, id: &str) {
        let children: Vec<Id> = self
            .stars
            .get(id)
            .map(|star| star.children.iter().cloned().collect())
            .unwrap_or_default();
        for child in children {
            self.derive(&child);
        }
    }

    /// To be called once for a universe that was read.
    pub(crate) fn derive_all(&mut self) {
        let with_elements = self.stars.values().filter(|star| star.members.may_have("elements"));
        let ids: Vec<Id> = with_elements.map(|star| Arc::clone(&star.id)).collect();
        for id in ids {
            self.derive(&id);
            self.forget_answered(&id);
        }
    }

    /// What was answered once and is given back is not kept as if it were the user's.
    fn forget_answered(&mut self, id: &str) {
        let Some((star, derived)) =
            self.star(id).and_then(|star| Some((star, star.derived.clone()?)))
        else {
            return;
        };
        let given = |name: &&String| star.members.contains_key(*name);
        let same = |name: &String| {
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            number(star.members.get(name)) == number(derived.get(name))
        };
        if derived.keys().filter(given).all(same)
            && let Some(star) = self.star_mut(id)
        {
            star.members.update(|members| members.retain(|name, _| !derived.contains_key(name)));
        }
    }

    /// What is wrong with the epoch of a body's elements.
    pub(crate) fn epoch_problem(&self, star: &Star) -> Option<&'static str> {
        star.derived.as_ref()?;
        let is_date = star.get("elements")?.get("epoch")?.is_string();
        (is_date && self.epoch().is_none()).then_some(NO_EPOCH)
    }
}
