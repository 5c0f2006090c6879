//! From what happens to the files of a project to what clients have subscribed to.
//!
//! | what happens | who hears of it |
//! |---|---|
//! | a file of a spec is written, made or removed | who subscribed to `spec://ID` |
//! | any file in the folder of a change is | who subscribed to `change://ID` |
//! | a spec or an active change comes or goes | everybody, by `resources/list_changed` |

mod folders;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use mcp_proto::{Change, ResourceUpdate, Server, WeakServer};
use service_host::{Changes, Watcher};

use super::address::{self, Address};
use super::desk::{Desk, WeakDesk};
use super::failure::Failure;
use crate::project::Layout;
use folders::Folders;

/// How long to wait before a place is looked at again where there is no project yet, or that cannot be watched.
const PAUSE: Duration = Duration::from_secs(1);

/// Watches the project beside the server, until the server is gone.
pub(super) fn start(desk: &Desk, server: &Server) {
    let ended = desk.ended();
    let watch = Watch {
        desk: desk.downgrade(),
        server: server.downgrade(),
        known: None,
    };
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = watch.run() => {}
        }
    });
}

/// Whether an update is one of the resource that was subscribed to, however its URI was written.
pub(super) fn concerns(subscribed: &str, update: &ResourceUpdate) -> bool {
    let both = Address::read(subscribed).zip(Address::read(&update.uri));
    both.is_some_and(|(one, other)| one.is_same(&other))
}

struct Watch {
    desk: WeakDesk,
    server: WeakServer,
    /// The URIs there were when it was last looked; `None` before that.
    known: Option<BTreeSet<String>>,
}

/// What there is at the moment.
struct Seen {
    layout: Layout,
    folders: Folders,
    uris: BTreeSet<String>,
}

impl Watch {
    async fn run(mut self) {
        let mut watched: Option<(Folders, Watcher)> = None;
        let mut changes = Changes::Paths(BTreeSet::new());
        loop {
            let Some(looked) = self.look().await else {
                return;
            };
            // What failed is told to whoever asks for it; here there is nobody to tell.
            let Ok(seen) = looked else {
                self.tell_list(BTreeSet::new());
                self.pause().await;
                continue;
            };
            self.tell(&seen, &changes);
            self.tell_list(seen.uris);
            let is_watched = |(folders, _): &(Folders, _)| *folders == seen.folders;
            match &mut watched {
                Some(watched) if is_watched(watched) => {
                    self.hears();
                    changes = watched.1.changed().await;
                    while !folders::concern(&seen.layout, &changes) {
                        changes = watched.1.changed().await;
                    }
                }
                _ => {
                    // What the old watcher hears until it goes is not known, but that there may be something.
                    changes = match watched.is_some() {
                        true => Changes::Many,
                        false => Changes::Paths(BTreeSet::new()),
                    };
                    watched = watch(seen.folders).await;
                    if watched.is_none() {
                        self.pause().await;
                    }
                }
            }
        }
    }

    /// Waits before it is looked again, which finds what comes and goes, if late.
    async fn pause(&self) {
        self.hears();
        tokio::time::sleep(PAUSE).await;
    }

    /// From now on nothing is missed.
    fn hears(&self) {
        if let Some(desk) = self.desk.upgrade() {
            desk.is_watched();
        }
    }

    /// What there is; `None` when the server is gone.
    async fn look(&self) -> Option<Result<Seen, Failure>> {
        let desk = self.desk.upgrade()?;
        let seen = desk.read(|desk| {
            let project = desk.project()?;
            let specs = project.spec_ids()?;
            let changes = project.change_ids()?;
            let specs = specs.iter().map(|id| address::spec(id));
            let uris = specs.chain(changes.iter().map(|id| address::change(id)));
            Ok(Seen {
                folders: Folders::of(&project),
                layout: project.layout().clone(),
                uris: uris.collect(),
            })
        });
        Some(seen.await)
    }

    /// Tells everybody if specs or changes have come or gone.
    fn tell_list(&mut self, now: BTreeSet<String>) {
        let before = self.known.replace(now);
        if before.is_some()
            && before != self.known
            && let Some(server) = self.server.upgrade()
        {
            server.notify(Change::ResourcesListChanged);
        }
    }

    /// Tells who has subscribed to what has changed.
    fn tell(&self, seen: &Seen, changes: &Changes) {
        let Some(server) = self.server.upgrade().filter(Server::has_subscribers) else {
            return;
        };
        // What is gone and what has come, too.
        let known: BTreeSet<_> = self.known.iter().flatten().chain(&seen.uris).collect();
        let told: BTreeSet<_> = match changes {
            Changes::Many => known.into_iter().cloned().collect(),
            Changes::Paths(paths) => {
                let belonging = |path: &PathBuf| folders::uris(&seen.layout, path, &known);
                paths.iter().flat_map(belonging).collect()
            }
        };
        for uri in told {
            server.notify(Change::resource_updated(uri));
        }
    }
}

/// Begins to watch; a large tree takes its time.
async fn watch(folders: Folders) -> Option<(Folders, Watcher)> {
    let begin = move || {
        let watcher = Watcher::new(&folders.to_watch());
        watcher.map(|watcher| (folders, watcher))
    };
    match tokio::task::spawn_blocking(begin).await {
        Ok(Ok(watched)) => Some(watched),
        Ok(Err(error)) => {
            tracing::warn!(%error, "changes of specs are not told for now");
            None
        }
        Err(error) => {
            tracing::error!(%error, "changes of specs are not told for now");
            None
        }
    }
}
