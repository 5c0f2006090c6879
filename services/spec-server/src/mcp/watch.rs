//! Turns changes of a project's files into notifications for subscribed clients.
//!
//! | what happens | who is notified |
//! |---|---|
//! | a file of a spec is written, made or removed | who subscribed to `spec://ID` |
//! | any file in the folder of a change is | who subscribed to `change://ID` |
//! | a spec or an active change comes or goes | all clients, by `resources/list_changed` |
//!
//! File system events are not enough: a folder may be moved away and back or replaced while it is watched, and events
//! may be lost. So the folders are watched again whenever one of them was touched itself. Every few seconds all texts
//! are compared with their earlier state.

mod folders;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_proto::{Change, ResourceUpdate, Server, WeakServer};
use service_host::{Changes, Watcher};

use super::address::{self, Address};
use super::failure::Failure;
use super::state::{ChangeDetection, ServerState, Texts, WeakState};
use crate::project::Layout;
use folders::Folders;

/// The delay before looking again for a project that does not exist yet or cannot be watched.
const PAUSE: Duration = Duration::from_secs(1);

/// How long to wait without an event before a full check for missed changes.
const LOOK: Duration = Duration::from_secs(5);

/// A full check takes at most this fraction of the time: one part in `SHARE`.
const SHARE: u32 = 20;

/// Watches the project in the background until the server ends.
pub(super) fn start(state: &ServerState, server: &Server) {
    let ended = state.ended();
    let watch = Watch {
        state: state.downgrade(),
        server: server.downgrade(),
        known: None,
        patience: LOOK,
        without_events: state.settings().without_events,
    };
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = watch.run() => {}
        }
    });
}

/// Whether an update is about the subscribed resource, however its URI is written.
pub(super) fn concerns(subscribed: &str, update: &ResourceUpdate) -> bool {
    let both = Address::read(subscribed).zip(Address::read(&update.uri));
    both.is_some_and(|(one, other)| one.is_same(&other))
}

struct Watch {
    state: WeakState,
    server: WeakServer,
    /// The URIs at the last check; `None` before the first one.
    known: Option<BTreeSet<String>>,
    /// The delay before the next full check.
    patience: Duration,
    without_events: bool,
}

/// The current state of the project.
struct WatchedProject {
    layout: Layout,
    folders: Folders,
    uris: BTreeSet<String>,
}

impl Watch {
    async fn run(mut self) {
        let mut watched: Option<(Folders, Watcher)> = None;
        let mut changes = Changes::Paths(BTreeSet::new());
        let mut lost = false;
        loop {
            let Some(looked) = self.look().await else {
                return;
            };
            let seen = match looked {
                Ok(seen) => seen,
                Err(failure) => {
                    if !lost {
                        tracing::warn!(
                            problem = failure.message,
                            "the project cannot be watched for now"
                        );
                    }
                    (watched, lost) = (None, true);
                    self.notify_known();
                    self.notify_list(BTreeSet::new());
                    self.pause(ChangeDetection::Fine).await;
                    continue;
                }
            };
            self.notify_changed(&seen, &changes);
            self.notify_list(seen.uris);
            match &mut watched {
                Some((folders, watcher)) if *folders == seen.folders => {
                    self.set_detection(if self.without_events {
                        ChangeDetection::Looks("the system's events are off".to_owned())
                    } else {
                        ChangeDetection::Fine
                    });
                    changes = self.next(&seen.layout, watcher).await;
                    if folders.are_touched(&changes) {
                        watched = None;
                    }
                }
                _ => {
                    // Changes up to now may have been missed.
                    changes = Changes::Many;
                    match watch(seen.folders, self.without_events).await {
                        Ok(again) => {
                            if lost {
                                tracing::warn!("the project is watched again");
                            }
                            (watched, lost) = (Some(again), false);
                        }
                        Err(problem) => {
                            if !lost {
                                tracing::warn!(
                                    problem,
                                    "the project is looked at every second instead of watched"
                                );
                            }
                            (watched, lost) = (None, true);
                            self.pause(ChangeDetection::Looks(problem)).await;
                        }
                    }
                }
            }
        }
    }

    /// The next changes of specs and changes: from file system events, or from a full check.
    async fn next(&mut self, layout: &Layout, watcher: &mut Watcher) -> Changes {
        loop {
            tokio::select! {
                changes = watcher.changed() => {
                    if folders::concern(layout, &changes) {
                        return changes;
                    }
                }
                () = tokio::time::sleep(self.patience) => {
                    self.notify_texts().await;
                    return Changes::Paths(BTreeSet::new());
                }
            }
        }
    }

    /// Compares all texts with those of the last check, if there are subscribers.
    async fn notify_texts(&mut self) {
        let (Some(server), Some(state)) = (self.server.upgrade(), self.state.upgrade()) else {
            return;
        };
        if !server.has_subscribers() {
            *state.texts() = None;
            return;
        }
        let begun = Instant::now();
        let now = state.read(texts).await;
        self.patience = LOOK.max(begun.elapsed() * SHARE);
        // Files that cannot be read now are compared with the known state when they can be read again.
        let Ok(now) = now else { return };
        let before = state.texts().replace(now.clone());
        if let Some(before) = before {
            let differs = |uri: &&String| before.get(*uri) != now.get(*uri);
            let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            for uri in all.into_iter().filter(differs) {
                server.notify(Change::resource_updated(uri.clone()));
            }
        }
    }

    /// Waits before the next check, which finds added and removed items late.
    async fn pause(&self, detection: ChangeDetection) {
        self.set_detection(detection);
        tokio::time::sleep(PAUSE).await;
    }

    /// Sets how changes are noticed from now on.
    fn set_detection(&self, detection: ChangeDetection) {
        if let Some(state) = self.state.upgrade() {
            state.set_detection(detection);
        }
    }

    /// The current state of the project; `None` when the server has ended.
    async fn look(&self) -> Option<Result<WatchedProject, Failure>> {
        let state = self.state.upgrade()?;
        let seen = state.read(|state| {
            let project = state.project()?;
            Ok(WatchedProject {
                folders: Folders::of(&project),
                layout: project.layout().clone(),
                uris: uris(&project.spec_ids()?, &project.change_ids()?),
            })
        });
        Some(seen.await)
    }

    /// Notifies the subscribers of all known resources: none of them can be read now.
    fn notify_known(&self) {
        if let Some(server) = self.server.upgrade().filter(Server::has_subscribers) {
            for uri in self.known.iter().flatten() {
                server.notify(Change::resource_updated(uri.clone()));
            }
        }
    }

    /// Notifies all clients if specs or changes were added or removed.
    fn notify_list(&mut self, now: BTreeSet<String>) {
        // Between two checks, a client may have received a list with items that existed only briefly.
        let given = self.state.upgrade().map(|state| state.take_given());
        let other = given.is_some_and(|given| given.iter().any(|given| *given != now));
        let before = self.known.replace(now);
        if (other || before.is_some() && before != self.known)
            && let Some(server) = self.server.upgrade()
        {
            server.notify(Change::ResourcesListChanged);
        }
    }

    /// Notifies the subscribers of changed resources.
    fn notify_changed(&self, seen: &WatchedProject, changes: &Changes) {
        let Some(server) = self.server.upgrade().filter(Server::has_subscribers) else {
            return;
        };
        // Removed and new resources count too.
        let known: BTreeSet<_> = self.known.iter().flatten().chain(&seen.uris).collect();
        let changed: BTreeSet<_> = match changes {
            Changes::Many => known.into_iter().cloned().collect(),
            Changes::Paths(paths) => {
                let belonging = |path: &PathBuf| folders::uris(&seen.layout, path, &known);
                paths.iter().flat_map(belonging).collect()
            }
        };
        for uri in changed {
            server.notify(Change::resource_updated(uri));
        }
    }
}

/// The URIs of these specs and changes.
pub(super) fn uris(specs: &[String], changes: &[String]) -> BTreeSet<String> {
    let specs = specs.iter().map(|id| address::spec(id));
    let changes = changes.iter().map(|id| address::change(id));
    specs.chain(changes).collect()
}

/// Remembers the state to compare later changes with for a subscriber, unless it is already known.
pub(super) async fn remember(state: &ServerState) {
    if state.texts().is_none() {
        let now = state.read(texts).await.ok();
        state.texts().get_or_insert_with(|| now.unwrap_or_default());
    }
}

/// All current texts. Blocks.
fn texts(state: &ServerState) -> Result<Texts, Failure> {
    let project = state.project()?;
    let (specs, changes) = (project.specs()?.items, project.changes()?.items);
    let specs = specs.iter().map(|spec| (address::spec(&spec.id), vec![spec.source.hash]));
    let changes = changes.iter().map(|change| {
        let hashes = change.sources().map(|source| source.hash);
        (address::change(&change.id), hashes.collect())
    });
    Ok(specs.chain(changes).collect())
}

/// Starts watching. This takes time for a large tree. Without events nothing is watched.
async fn watch(folders: Folders, without_events: bool) -> Result<(Folders, Watcher), String> {
    let begin = move || {
        let paths = if without_events { Vec::new() } else { folders.to_watch() };
        let watcher = Watcher::new(&paths);
        watcher.map(|watcher| (folders, watcher))
    };
    let begun = tokio::task::spawn_blocking(begin).await;
    let begun = begun.map_err(|error| error.to_string())?;
    begun.map_err(|error| error.to_string())
}
