//! What the handlers share: the map as it is now, and what happens on it.

use std::sync::{Arc, PoisonError, RwLock};

use crate::activity::Activity;
use crate::connections::Connection;
use crate::errors::UniverseError;
use crate::map::Map;
use crate::route::Extras;

use super::extras;

/// The map, its overlay and the user's connections, each replaced as a whole when its file changes. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Universe(Arc<RwLock<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    map: Option<Arc<Map>>,
    activity: Option<Arc<Activity>>,
    /// By name, for another map to come.
    connections: Vec<Connection>,
    /// The same on the map there is.
    extras: Arc<Extras>,
}

/// What one request works with, whatever is replaced meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) map: Arc<Map>,
    pub(crate) activity: Option<Arc<Activity>>,
    /// The connections of the user's file.
    pub(crate) extras: Arc<Extras>,
}

impl Universe {
    /// The map, the overlay and the connections as they are now.
    ///
    /// # Errors
    /// `UNIVERSE_ERROR` before a map is loaded, which is a mistake of the program: it loads one before it serves.
    pub(crate) fn now(&self) -> Result<Snapshot, UniverseError> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match &slots.map {
            Some(map) => Ok(Snapshot {
                map: Arc::clone(map),
                activity: slots.activity.clone(),
                extras: Arc::clone(&slots.extras),
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

    /// Tells which connections are left out on the new map.
    pub(crate) fn replace_map(&self, map: Arc<Map>) -> Vec<String> {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.map = Some(map);
        slots.resolve()
    }

    /// Tells which of them are left out.
    pub(crate) fn replace_connections(&self, connections: Vec<Connection>) -> Vec<String> {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.connections = connections;
        slots.resolve()
    }

    pub(crate) fn replace_activity(&self, activity: Option<Activity>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.activity = activity.map(Arc::new);
    }
}

impl Slots {
    /// Handles of another map would be other systems.
    fn resolve(&mut self) -> Vec<String> {
        let Some(map) = &self.map else {
            return Vec::new();
        };
        let (extras, left_out) = extras::of_file(map, &self.connections);
        self.extras = Arc::new(extras);
        left_out
    }
}
