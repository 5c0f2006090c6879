//! The state that the handlers share: the current map, and the activity on it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use crate::activity::{Activity, Feed, Measure};
use crate::connections::Connection;
use crate::errors::{UniverseError, shown};
use crate::map::Map;
use crate::route::{Cost, Extra, Travel};

use super::names::resolve_system_name;

/// The map, its overlay and the user's connections, each replaced as a whole when its file changes. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Universe(Arc<RwLock<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    map: Option<Arc<Map>>,
    activity: Option<Arc<Activity>>,
    live: Option<Live>,
    /// With names of systems, so that they can be resolved on the next map.
    connections: Vec<Connection>,
    /// The same connections on the current map.
    travel: Arc<Travel>,
}

/// A feed, and the overlay that it was last merged into.
#[derive(Debug)]
struct Live {
    feed: Arc<Mutex<Feed>>,
    merged: Mutex<Option<(Instant, Arc<Activity>)>>,
}

/// How long a merged overlay is reused.
const MERGED_FOR: Duration = Duration::from_millis(250);

/// The data for one request. It stays the same even if a file is reloaded in the meantime.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) map: Arc<Map>,
    pub(crate) activity: Option<Arc<Activity>>,
    /// The connections of the user's file.
    pub(crate) travel: Arc<Travel>,
}

impl Universe {
    /// The current map, overlay and connections.
    ///
    /// # Errors
    /// `UNIVERSE_ERROR` before a map is loaded. This is an error in the program, which loads a map before it serves.
    pub(crate) fn now(&self) -> Result<Snapshot, UniverseError> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match &slots.map {
            Some(map) => Ok(Snapshot {
                map: Arc::clone(map),
                activity: slots.activity(),
                travel: Arc::clone(&slots.travel),
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

    /// Whether a dump is loaded or a feed is followed.
    pub(crate) fn has_overlay(&self) -> bool {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        slots.activity.is_some() || slots.live.is_some()
    }

    /// Returns the connections that are left out on the new map.
    pub(crate) fn replace_map(&self, map: Arc<Map>) -> Vec<String> {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.map = Some(map);
        slots.resolve()
    }

    /// Returns the connections that are left out.
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

    /// Merges the kills of this feed from now on.
    pub(crate) fn follow(&self, feed: Arc<Mutex<Feed>>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let merged = Mutex::default();
        slots.live = Some(Live { feed, merged });
    }
}

impl Slots {
    /// The dump, merged with the kills of the feed.
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

    /// The handles of one map mean other systems on another map, so the names are resolved again.
    fn resolve(&mut self) -> Vec<String> {
        let Some(map) = &self.map else {
            return Vec::new();
        };
        let (travel, left_out) = connections_on(map, &self.connections);
        self.travel = Arc::new(travel);
        left_out
    }
}

impl Snapshot {
    /// The overlay, for a tool that needs one.
    pub(crate) fn overlay(&self, what: &str) -> Result<&Activity, UniverseError> {
        self.activity.as_deref().ok_or_else(|| {
            UniverseError::Universe(format!(
                "{what}: no activity overlay is loaded. Start the server with --activity and a dump of the public API \
                 (system_kills, system_jumps, fw/systems), or with --feed and a file of killmails. Everything else works \
                 without it."
            ))
        })
    }

    /// The overlay, if it has the figures that a tool needs.
    ///
    /// # Errors
    /// Missing figures. Their zeros would look like a quiet system.
    pub(crate) fn counted(&self, what: &str, measure: Measure) -> Result<&Activity, UniverseError> {
        let overlay = self.overlay(what)?;
        match (overlay.counts(measure), measure) {
            (true, _) => Ok(overlay),
            (false, Measure::Jumps) => Err(lacks(what, "system_jumps")),
            (false, Measure::Kills | Measure::Ratting) => Err(lacks(what, "system_kills")),
        }
    }
}

/// The error for an overlay without the figures that a tool needs.
pub(crate) fn lacks(tool: &str, array: &str) -> UniverseError {
    UniverseError::Universe(format!(
        "{tool}: the activity overlay has no {array}. Put that answer of the public API into the dump that --activity \
         names; kills also come with the first killmail of --feed."
    ))
}

/// The connections of a file, and a sentence for each that is left out. A map may lack systems that the file names.
pub(crate) fn connections_on(map: &Map, connections: &[Connection]) -> (Travel, Vec<String>) {
    let mut list = Vec::with_capacity(connections.len());
    let mut left_out = Vec::new();
    for connection in connections {
        let both = resolve_system_name(map, &connection.from)
            .and_then(|from| Ok((from, resolve_system_name(map, &connection.to)?)));
        let why = match both {
            Ok((from, to)) if from != to => {
                list.push(Extra {
                    from,
                    to,
                    both_ways: connection.both_ways.unwrap_or(true),
                    cost: connection.cost.and_then(Cost::new),
                });
                continue;
            }
            Ok(_) => "it leads back to where it begins".to_owned(),
            Err(unknown) => unknown.to_string(),
        };
        left_out.push(format!(
            "the connection from {} to {} is left out: {why}",
            shown(&connection.from),
            shown(&connection.to)
        ));
    }
    // A file has at most the allowed number, and connections from a system to itself are left out.
    (Travel::new(list).unwrap_or_default(), left_out)
}
