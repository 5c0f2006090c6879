//! Turns changes of a project's files into notifications for subscribed clients.
//!
//! | what happens | who is notified |
//! |---|---|
//! | a file of a spec is written, made or removed | who subscribed to `spec://ID` |
//! | any file in the folder of a change is | who subscribed to `change://ID` |
//! | a spec or an active change comes or goes | all clients, by `resources/list_changed` |
//!
//! After each event, and every few seconds, all texts are compared with those of the last look: a folder may be moved
//! away and back or replaced while it is watched, and events may be lost. The folders are watched again whenever one of
//! them was touched itself.

mod folders;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mcp_proto::{Change, ResourceUpdate, Server, WeakServer};
use service_host::Watcher;

use super::address::{self, Address};
use super::failure::Failure;
use super::state::{ChangeDetection, ServerState, Texts, WeakState};
use crate::project::Layout;
use folders::Folders;

/// The delay before looking again for a project that does not exist yet or cannot be watched.
const PAUSE: Duration = Duration::from_secs(1);

/// How long to wait without an event before the next look.
const LOOK: Duration = Duration::from_secs(5);

/// Looks without an event take at most this fraction of the time: one part in `SHARE`.
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
    /// The URIs at the last look; `None` before the first one.
    known: Option<BTreeSet<String>>,
    /// The delay before the next look.
    patience: Duration,
    without_events: bool,
}

/// The state of the project at one look.
struct WatchedProject {
    layout: Layout,
    folders: Folders,
    uris: BTreeSet<String>,
    /// `None` without subscribers.
    texts: Option<Texts>,
}

impl Watch {
    async fn run(mut self) {
        let mut watched: Option<(Folders, Watcher)> = None;
        loop {
            let Some(looked) = self.look().await else {
                return;
            };
            // Whoever asks is told why.
            let Ok(seen) = looked else {
                watched = None;
                self.compare(BTreeSet::new(), Some(Texts::new()));
                self.pause(ChangeDetection::Fine).await;
                continue;
            };
            self.compare(seen.uris, seen.texts);
            match &mut watched {
                Some((folders, watcher)) if *folders == seen.folders => {
                    self.set_detection(if self.without_events {
                        ChangeDetection::Looks("the system's events are off".to_owned())
                    } else {
                        ChangeDetection::Fine
                    });
                    if self.is_touched(&seen.layout, folders, watcher).await {
                        watched = None;
                    }
                }
                // What has changed up to now is found by the next look.
                _ => match watch(seen.folders, self.without_events).await {
                    Ok(again) => watched = Some(again),
                    Err(problem) => {
                        watched = None;
                        self.pause(ChangeDetection::Looks(problem)).await;
                    }
                },
            }
        }
    }

    /// Waits until specs or changes may have changed, or until it is time for a look. Returns whether one of the
    /// watched folders was touched itself.
    async fn is_touched(&self, layout: &Layout, folders: &Folders, watcher: &mut Watcher) -> bool {
        let concerning = async {
            loop {
                let changes = watcher.changed().await;
                if folders::concern(layout, &changes) {
                    return changes;
                }
            }
        };
        let changes = tokio::time::timeout(self.patience, concerning).await;
        changes.is_ok_and(|changes| folders.are_touched(&changes))
    }

    /// Waits before the next look, which finds changes late.
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
    async fn look(&mut self) -> Option<Result<WatchedProject, Failure>> {
        let (state, server) = (self.state.upgrade()?, self.server.upgrade()?);
        let begun = Instant::now();
        let seen = state.read(move |state| {
            let project = state.project()?;
            Ok(WatchedProject {
                folders: Folders::of(&project),
                layout: project.layout().clone(),
                uris: uris(&project.spec_ids()?, &project.change_ids()?),
                texts: server.has_subscribers().then(|| texts(state)).transpose()?,
            })
        });
        let seen = seen.await;
        self.patience = LOOK.max(begun.elapsed() * SHARE);
        Some(seen)
    }

    /// Notifies the subscribers of resources that are not as at the last look, and all clients if some came or went.
    fn compare(&mut self, uris: BTreeSet<String>, now: Option<Texts>) {
        let (Some(server), Some(state)) = (self.server.upgrade(), self.state.upgrade()) else {
            return;
        };
        if let Some(now) = now
            && let Some(before) = state.texts().replace(now.clone())
        {
            let differs = |uri: &&String| before.get(*uri) != now.get(*uri);
            let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            for uri in all.into_iter().filter(differs) {
                server.notify(Change::resource_updated(uri.clone()));
            }
        }
        // Between two looks, a client may have received a list with items that existed only briefly.
        let other = state.take_given().iter().any(|given| *given != uris);
        let before = self.known.replace(uris);
        if other || before.is_some() && before != self.known {
            server.notify(Change::ResourcesListChanged);
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
    let specs = specs.iter().map(|spec| {
        let file = (String::new(), 0, Some(spec.source.hash));
        (address::spec(&spec.id), vec![file])
    });
    let changes = changes.iter().map(|change| {
        let files = change.files.iter();
        let files = files
            .map(|file| (file.path.clone(), file.bytes, file.text.as_ref().map(|text| text.hash)));
        (address::change(&change.id), files.collect())
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
