//! The state that the handlers share: the current map, and the activity on it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use crate::activity::{Activity, Feed, FeedReport, Measure};
use crate::connections::{Connection, Connections, resolve};
use crate::errors::UniverseError;
use crate::map::{Map, Space};
use crate::route::Travel;

/// The map, its overlay and the user's connections, each replaced as a whole when its file changes. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Universe(Arc<RwLock<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    map: Option<Arc<Map>>,
    activity: Option<Arc<Activity>>,
    live: Option<Live>,
    /// With names of systems, so that they can be resolved on the next map.
    connections: Arc<Vec<Connection>>,
    /// The same connections on the current map, those that have not ended.
    travel: Arc<Travel>,
    /// When the first of them ends, in seconds since 1970.
    until: Option<i64>,
    /// What could not be read, by file, as sentences.
    problems: BTreeMap<Source, String>,
}

/// A file that the answers depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Map,
    /// Entries of it.
    PartOfMap,
    Activity,
    /// Entries of it.
    PartOfActivity,
    /// The file as a whole.
    Connections,
    /// What of it was not understood.
    PartOfConnections,
    /// Entries of it that are none on this map.
    SomeConnections,
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
    /// The same as they are in the file.
    pub(crate) connections: Arc<Vec<Connection>>,
    /// What could not be read, as sentences for the answers.
    pub(crate) problems: Vec<String>,
    /// Set when the request is cancelled.
    pub(crate) stop: CancellationToken,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Map | Self::PartOfMap => "the map",
            Self::Activity | Self::PartOfActivity => "the activity overlay",
            Self::Connections | Self::PartOfConnections | Self::SomeConnections => {
                "the file of connections"
            }
        })
    }
}

impl Universe {
    /// The current map, overlay and connections.
    ///
    /// # Errors
    /// `UNIVERSE_ERROR` before a map is loaded. This is an error in the program, which loads a map before it serves.
    pub(crate) fn now(&self) -> Result<Snapshot, UniverseError> {
        let time = seconds_now();
        let mut slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if slots.until.is_some_and(|until| until <= time) {
            drop(slots);
            self.0.write().unwrap_or_else(PoisonError::into_inner).resolve();
            slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        }
        match &slots.map {
            Some(map) => Ok(Snapshot {
                map: Arc::clone(map),
                activity: slots.activity(),
                travel: Arc::clone(&slots.travel),
                connections: Arc::clone(&slots.connections),
                problems: slots.problems.values().cloned().collect(),
                stop: CancellationToken::new(),
            }),
            None => Err(UniverseError::Universe(
                "Universe graph not loaded: the server must load one before it serves".to_owned(),
            )),
        }
    }

    /// Sets what is wrong with a file; `None` if it was read.
    pub(crate) fn report(&self, source: Source, problem: Option<String>) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match problem {
            Some(problem) => _ = slots.problems.insert(source, problem),
            None => _ = slots.problems.remove(&source),
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
    pub(crate) fn replace_connections(&self, connections: Connections) -> Vec<String> {
        self.report(Source::PartOfConnections, connections.report);
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        slots.connections = Arc::new(connections.list);
        slots.resolve()
    }

    pub(crate) fn replace_activity(&self, activity: Option<Activity>) {
        let left_out = activity.as_ref().and_then(Activity::left_out).map(str::to_owned);
        self.report(Source::PartOfActivity, left_out);
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
        let is_high = |id: u32| {
            let map = self.map.as_deref();
            map.and_then(|map| map.system_by_id(id).map(|at| map.space(at))) == Some(Space::High)
        };
        let activity =
            Arc::new(feed.overlay(self.activity.as_deref(), SystemTime::now(), &is_high));
        *merged = Some((Instant::now(), Arc::clone(&activity)));
        Some(activity)
    }

    /// The handles of one map mean other systems on another map, so the names are resolved again.
    fn resolve(&mut self) -> Vec<String> {
        let Some(map) = &self.map else {
            return Vec::new();
        };
        let time = seconds_now();
        let (list, about, mut left_out) = resolve(map, &self.connections, None, time);
        let travel = Travel::new(list).unwrap_or_else(|problem| {
            left_out.push(format!("no connection is used: {problem}"));
            Travel::default()
        });
        self.travel = Arc::new(travel.knowing(about).kept());
        let ends = self.connections.iter().filter_map(|it| it.expires);
        self.until = ends.filter(|end| *end > time).min();
        let count = format!("{} of {}", left_out.len(), self.connections.len());
        self.problems.remove(&Source::SomeConnections);
        if let Some(first) = left_out.first() {
            let problem =
                format!("{count} connections of the file are left out; the first: {first}");
            self.problems.insert(Source::SomeConnections, problem);
        }
        left_out
    }
}

impl Snapshot {
    /// What could not be read, and what the feed has to say of itself.
    pub(crate) fn all_problems(&self) -> impl Iterator<Item = String> {
        let feed = self.activity.as_deref().and_then(Activity::feed);
        self.problems.iter().cloned().chain(feed.and_then(FeedReport::sentence))
    }

    /// An error, with what could not be read if there is no way: one may be in it.
    pub(crate) fn explained(&self, mut error: UniverseError) -> UniverseError {
        if let UniverseError::RouteNotFound(none) = &mut error {
            let told = none.reason.take().into_iter().chain(self.problems.iter().cloned());
            none.reason = told.reduce(|all, one| format!("{all}; {one}"));
        }
        error
    }

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
            (false, Measure::Jumps) => Err(lacks(what, "system_jumps", overlay)),
            (false, Measure::Kills | Measure::Ratting) => Err(lacks(what, "system_kills", overlay)),
        }
    }
}

/// The error for an overlay without the figures that a tool needs.
pub(crate) fn lacks(tool: &str, array: &str, activity: &Activity) -> UniverseError {
    let heard = activity.feed().and_then(FeedReport::sentence);
    let heard = heard.map_or_else(String::new, |heard| format!(" {heard}."));
    UniverseError::Universe(format!(
        "{tool}: the activity overlay has no {array}. Put that answer of the public API into the dump that --activity \
         names; kills also come with the first killmail of --feed.{heard}"
    ))
}

/// Seconds since 1970.
pub(crate) fn seconds_now() -> i64 {
    jiff::Timestamp::now().as_second()
}
