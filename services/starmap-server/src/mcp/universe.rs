//! What the handlers share: the current map, and the activity on it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use crate::activity::{Activity, Feed};
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
    live: Option<Live>,
    /// By name, for another map to come.
    connections: Vec<Connection>,
    /// The same on the map there is.
    extras: Arc<Extras>,
}

/// A feed, and what it makes of the overlay.
#[derive(Debug)]
struct Live {
    feed: Arc<Mutex<Feed>>,
    merged: Mutex<Option<(Instant, Arc<Activity>)>>,
}

/// How long an overlay is kept that a feed was merged into.
const MERGED_FOR: Duration = Duration::from_millis(250);

/// What one request works with, even if it is replaced meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) map: Arc<Map>,
    pub(crate) activity: Option<Arc<Activity>>,
    /// The connections of the user's file.
    pub(crate) extras: Arc<Extras>,
}

impl Universe {
    /// The current map, overlay and connections.
    ///
    /// # Errors
    /// `UNIVERSE_ERROR` before a map is loaded, which is a mistake of the program: it loads one before it serves.
    pub(crate) fn now(&self) -> Result<Snapshot, UniverseError> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match &slots.map {
            Some(map) => Ok(Snapshot {
                map: Arc::clone(map),
                activity: slots.activity(),
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

    /// Whether a dump is loaded or a feed followed.
    pub(crate) fn has_overlay(&self) -> bool {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        slots.activity.is_some() || slots.live.is_some()
    }

    /// Returns which connections are left out on the new map.
    pub(crate) fn replace_map(&self, map: Arc<Map>) -> Vec<String> {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.map = Some(map);
        slots.resolve()
    }

    /// Returns which of them are left out.
    pub(crate) fn replace_connections(&self, connections: Vec<Connection>) -> Vec<String> {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.connections = connections;
        slots.resolve()
    }

    pub(crate) fn replace_activity(&self, activity: Option<Activity>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.activity = activity.map(Arc::new);
        if let Some(live) = &mut slots.live {
            live.merged = Mutex::default();
        }
    }

    /// From now on the kills of this feed count too.
    pub(crate) fn follow(&self, feed: Arc<Mutex<Feed>>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let merged = Mutex::default();
        slots.live = Some(Live { feed, merged });
    }
}

impl Slots {
    /// The dump, with what the feed adds.
    fn activity(&self) -> Option<Arc<Activity>> {
        let Some(live) = &self.live else {
            return self.activity.clone();
        };
        let mut merged = live.merged.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = merged.as_ref().filter(|(at, _)| at.elapsed() < MERGED_FOR);
        if let Some((_, activity)) = kept {
            return Some(Arc::clone(activity));
        }
        let feed = live.feed.lock().unwrap_or_else(PoisonError::into_inner);
        let activity = Arc::new(feed.overlay(self.activity.as_deref(), SystemTime::now()));
        *merged = Some((Instant::now(), Arc::clone(&activity)));
        Some(activity)
    }

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
