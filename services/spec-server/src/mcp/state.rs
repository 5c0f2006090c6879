//! The state that the handlers share: the project, found when it is first needed, and permits to read it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::failure::{self, Failure};
use crate::model::{Change, Spec};
use crate::project::{Kind, Project, ProjectError, ReadError};
use crate::repository::Repository;
use crate::search::{self, SearchError, Searcher};
use crate::view::{Budget, notes};

/// The files behind each URI: the path, the size, and the hash of the text if it is read.
pub(super) type Texts = BTreeMap<String, Vec<(String, u64, Option<[u8; 32]>)>>;

/// How many requests read the disk at the same time. The others wait.
const TURNS: usize = 8;

/// How long a subscription waits for the watcher to start.
const WATCH_PATIENCE: Duration = Duration::from_secs(2);

/// How many different resource lists are kept between two checks. One that differs is enough for a notification.
const GIVEN: usize = 4;

/// How much of an unknown id an error repeats.
const SHOWN: Budget = Budget(100);

/// The settings of a server.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The repository.
    pub repository: Repository,
    /// Whether there are tools that write.
    pub allow_writes: bool,
    /// The longest answer.
    pub budget: Budget,
    /// How to search.
    pub search: search::Settings,
    /// Whether changes are found only by polling the disk, for file systems that do not report events.
    pub without_events: bool,
    /// Whether the client's roots may select the project if `repository` does not name one. This must be off for
    /// clients on other machines, because it lets them select a folder on this machine.
    pub use_roots: bool,
}

/// How changes of files are noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChangeDetection {
    /// Not started yet.
    NotYet,
    /// By file system events, and by polling for missed events; or there is nothing to watch.
    Fine,
    /// Only by polling, for this reason.
    Looks(String),
}

/// The state that the handlers share. Clones share the same data.
#[derive(Debug, Clone)]
pub(super) struct ServerState(Arc<Inner>);

/// A [`ServerState`] that this handle does not keep alive.
#[derive(Debug, Clone)]
pub(super) struct WeakState(Weak<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    /// `None` until a project is found.
    project: Mutex<Option<Project>>,
    /// The searcher of the project at this root; `None` until the first search.
    searcher: Mutex<Option<(PathBuf, Arc<Searcher>)>>,
    /// Held while the searcher is updated to the current specs.
    updating: Mutex<()>,
    turns: Arc<Semaphore>,
    /// The project among the client's roots, if `settings.repository` does not name one; `None` until the client was
    /// asked.
    root: Mutex<Option<PathBuf>>,
    detection: watch::Sender<ChangeDetection>,
    /// The different resource lists that clients received since the last check; at most [`GIVEN`].
    given: Mutex<Vec<BTreeSet<String>>>,
    /// All texts at the last look since there are subscribers.
    texts: Mutex<Option<Texts>>,
    /// Cancelled with the last clone. This ends the background tasks.
    ended: CancellationToken,
    _end: DropGuard,
}

impl ServerState {
    pub(super) fn new(settings: Settings) -> Self {
        let ended = CancellationToken::new();
        Self(Arc::new(Inner {
            settings,
            project: Mutex::new(None),
            searcher: Mutex::new(None),
            updating: Mutex::new(()),
            turns: Arc::new(Semaphore::new(TURNS)),
            root: Mutex::new(None),
            detection: watch::Sender::new(ChangeDetection::NotYet),
            given: Mutex::default(),
            texts: Mutex::new(None),
            _end: ended.clone().drop_guard(),
            ended,
        }))
    }

    /// Runs blocking work on a blocking thread, when a permit is free. Work that has begun continues even if its caller
    /// stops waiting.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = Arc::clone(&self.0.turns).acquire_owned().await;
        let turn = turn.map_err(|closed| failure::internal(&closed))?;
        let state = self.clone();
        let work = move || {
            let _turn = turn;
            work(&state)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(failure::internal(&error)))
    }

    /// The current project. It is the same one as before unless it has moved or its configuration has changed. Blocks.
    pub(super) fn project(&self) -> Result<Project, Failure> {
        let found = match (self.0.settings.repository.project(), self.root().clone()) {
            (Err(ProjectError::NotFound(_)), Some(root)) => Project::open(&root),
            (found, _) => found,
        };
        let found = found.map_err(|error| failure::no_project(&error))?;
        let mut known = lock(&self.0.project);
        // The same project is reused if possible, since it caches the files that it has read.
        let is_same =
            |known: &Project| known.root() == found.root() && known.layout() == found.layout();
        match &*known {
            Some(known) if is_same(known) => Ok(known.clone()),
            _ => Ok(known.insert(found).clone()),
        }
    }

    /// The searcher of the project. The first caller also loads the model. Blocks.
    pub(super) fn searcher(&self) -> Result<Arc<Searcher>, Failure> {
        let project = self.project()?;
        // Held while the searcher is created: a model is large, so it is loaded only once.
        let mut searcher = lock(&self.0.searcher);
        if let Some((root, searcher)) = &*searcher
            && root == project.root()
        {
            return Ok(Arc::clone(searcher));
        }
        let made = Searcher::open(project.root(), self.0.settings.search.clone())?;
        let (_, made) = searcher.insert((project.root().to_owned(), Arc::new(made)));
        Ok(Arc::clone(made))
    }

    /// The searcher, updated to the current specs, and the number of their files that cannot be read. Blocks.
    pub(super) fn fresh_searcher(&self) -> Result<(Arc<Searcher>, usize), Failure> {
        let searcher = self.searcher()?;
        let project = self.project()?;
        // One at a time: an older view must not overwrite a newer one.
        let _updating = lock(&self.0.updating);
        let specs = project.specs()?;
        searcher.update(&specs.items)?;
        Ok((searcher, specs.unreadable.len()))
    }

    /// The spec with this id. Blocks.
    pub(super) fn spec(&self, id: &str) -> Result<Arc<Spec>, Failure> {
        Ok(self.project()?.spec(id)?)
    }

    /// The active change with this id. Blocks.
    pub(super) fn active_change(&self, id: &str) -> Result<Arc<Change>, Failure> {
        let project = self.project()?;
        project.change(id).map_err(|error| {
            let archived = project.archived(id).ok().filter(|_| error.is_absent());
            let mut failure = Failure::from(error);
            if let Some(change) = archived {
                failure.message =
                    format!("the change {id:?} is archived already, as {:?}", change.id);
            }
            failure
        })
    }

    /// The active change with this id, or else the archived one. Blocks.
    pub(super) fn change(&self, id: &str) -> Result<Arc<Change>, Failure> {
        Ok(self.project()?.any_change(id)?)
    }

    /// The longest answer.
    pub(super) fn budget(&self) -> Budget {
        self.0.settings.budget
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The project among the client's roots.
    pub(super) fn root(&self) -> MutexGuard<'_, Option<PathBuf>> {
        lock(&self.0.root)
    }

    /// All texts at the last look.
    pub(super) fn texts(&self) -> MutexGuard<'_, Option<Texts>> {
        lock(&self.0.texts)
    }

    /// Remembers a resource list that a client receives. The client is notified if the next check finds a different
    /// one.
    pub(super) fn gives(&self, uris: BTreeSet<String>) {
        let mut given = lock(&self.0.given);
        if given.len() < GIVEN && !given.contains(&uris) {
            given.push(uris);
        }
    }

    /// Takes the lists that clients received since the last call.
    pub(super) fn take_given(&self) -> Vec<BTreeSet<String>> {
        std::mem::take(&mut *lock(&self.0.given))
    }

    /// Waits until changes are watched, so that subscribers do not miss any. The wait is limited, because watching may
    /// never start.
    pub(super) async fn until_watched(&self) {
        let mut detection = self.0.detection.subscribe();
        let started = detection.wait_for(|detection| *detection != ChangeDetection::NotYet);
        // The subscription continues in any case: without notifications it is no worse than no subscription.
        drop(tokio::time::timeout(WATCH_PATIENCE, started).await);
    }

    /// Sets how changes are noticed from now on.
    pub(super) fn set_detection(&self, detection: ChangeDetection) {
        self.0.detection.send_replace(detection);
    }

    /// Adds a note about how changes are noticed to another note.
    pub(super) fn note(&self, note: Option<String>) -> Option<String> {
        let late = match &*self.0.detection.borrow() {
            ChangeDetection::Looks(why) => {
                format!("subscribers are notified late, by looks at the disk alone: {why}")
            }
            ChangeDetection::NotYet | ChangeDetection::Fine => return note,
        };
        notes([note, Some(late)])
    }

    /// Cancelled when the server has ended.
    pub(super) fn ended(&self) -> CancellationToken {
        self.0.ended.clone()
    }

    /// A handle that does not keep the state alive.
    pub(super) fn downgrade(&self) -> WeakState {
        WeakState(Arc::downgrade(&self.0))
    }
}

/// Locks even if the mutex is poisoned: the data is consistent after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WeakState {
    /// The state, as long as the server exists.
    pub(super) fn upgrade(&self) -> Option<ServerState> {
        self.0.upgrade().map(ServerState)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let message = error.to_string();
        match error {
            ReadError::NotFound { kind, id, nearest } => {
                let (code, member) = match kind {
                    Kind::Spec => ("SPEC_NOT_FOUND", "spec_id"),
                    Kind::Change | Kind::Archived => ("CHANGE_NOT_FOUND", "change_id"),
                };
                Self::not_found(code, message).with_data(json!({ member: id, "nearest": nearest }))
            }
            // The id may be of any length and may contain any character.
            ReadError::BadId { kind, id, problem } => {
                let id = SHOWN.beginning(&id).0;
                let message = format!("{id:?} cannot be the id of a {kind}: {problem}");
                Self::not_found("INVALID_ID", message).with_data(json!({ "id": id }))
            }
            _ => Self::new("UNREADABLE", message),
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        let code = match &error {
            SearchError::NoIndex(_) => "INDEX_MISSING",
            SearchError::LongQuery(_) => "QUERY_TOO_LONG",
            SearchError::Model(_) => "MODEL_UNUSABLE",
            _ => "SEARCH_FAILED",
        };
        Self::new(code, error.to_string())
    }
}
