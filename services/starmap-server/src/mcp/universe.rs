//! What the handlers share: the map as it is now, and what happens on it.

use std::sync::{Arc, PoisonError, RwLock};

use crate::activity::Activity;
use crate::errors::UniverseError;
use crate::map::Map;

/// The map and its overlay, replaced as a whole when their files change. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Universe(Arc<RwLock<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    map: Option<Arc<Map>>,
    activity: Option<Arc<Activity>>,
}

/// What one request works with, whatever is replaced meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) map: Arc<Map>,
    pub(crate) activity: Option<Arc<Activity>>,
}

impl Universe {
    /// The map and the overlay as they are now.
    ///
    /// # Errors
    /// `UNIVERSE_ERROR` before a map is loaded, which is a mistake of the program: it loads one before it serves.
    pub(crate) fn now(&self) -> Result<Snapshot, UniverseError> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match &slots.map {
            Some(map) => Ok(Snapshot {
                map: Arc::clone(map),
                activity: slots.activity.clone(),
            }),
            None => Err(UniverseError::Universe(
                "Universe graph not loaded: the server must load one before it serves".to_owned(),
            )),
        }
    }

    pub(crate) fn map(&self) -> Option<Arc<Map>> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        slots.map.clone()
    }

    pub(crate) fn replace_map(&self, map: Arc<Map>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.map = Some(map);
    }

    pub(crate) fn replace_activity(&self, activity: Option<Activity>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.activity = activity.map(Arc::new);
    }
}
