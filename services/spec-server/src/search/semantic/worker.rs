//! The thread that embeds passages in the background.
//!
//! Each passage of the index is queued at most once, so the queue is bounded by the index. The thread ends with its
//! [`Semantic`], after the current passages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::ModelError;
use super::kept::{Kept, Key, Vector};
use super::model::Model;
use super::passage::{Passage, passages};
use crate::search::index::{Index, Slot};

/// How many passages are embedded at once.
const TOGETHER: usize = 8;

/// Vectors are saved once this many are new, or no passage waits, and the new ones are more than one part in `SHARE` of
/// all: the file is written as a whole. The rest is saved at the end.
const BATCH: usize = 1024;
const SHARE: usize = 8;

/// The most unused vectors that are kept, for passages that come back with another branch.
const UNUSED: usize = 1 << 15;

/// How often a waiting caller checks whether the thread still runs.
const LOOK: Duration = Duration::from_secs(1);

/// The position of a passage in its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PassageLocation {
    pub(super) part: usize,
    pub(super) range: Range<usize>,
}

/// Finds documents by the meaning of a query.
#[derive(Debug)]
pub(in crate::search) struct Semantic {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    model: Model,
    state: Mutex<SearchState>,
    /// There is work, or the thread is to end.
    wake: Condvar,
    /// All passages are embedded.
    rest: Condvar,
}

/// The state that the thread shares with searches. Only the thread accesses files, so searches never wait for a disk.
#[derive(Debug, Default)]
struct SearchState {
    vectors: HashMap<Key, Vector>,
    documents: Vec<(Slot, Vec<(PassageLocation, Key)>)>,
    used: HashSet<Key>,
    waiting: VecDeque<(Key, String)>,
    /// How many passages are being embedded.
    embedding: usize,
    /// The thread is to end.
    ended: bool,
}

impl Semantic {
    /// Opens it with the model in one folder and the vectors in another.
    pub(in crate::search) fn open(model: &Path, folder: &Path) -> Result<Self, ModelError> {
        let model = Model::open(model)?;
        let kept = Kept::of(&model, folder);
        let shared = Arc::new(Shared {
            model,
            state: Mutex::new(SearchState { vectors: kept.read(), ..SearchState::default() }),
            wake: Condvar::new(),
            rest: Condvar::new(),
        });
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(move || its.work(&kept))
            .map_err(ModelError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub(super) fn model(&self) -> &Model {
        &self.shared.model
    }

    /// Takes the passages of an index in place of the present ones, and embeds those that are new. Splitting text into
    /// them takes time.
    pub(in crate::search) fn apply(&self, index: &Index) {
        let model = self.model();
        let split = |document| passages(document, model.tokenizer(), model.room());
        let fresh: Vec<_> = index.all().map(|(slot, document)| (slot, split(document))).collect();
        let mut state = self.shared.state();
        let SearchState { vectors, documents, used, waiting, .. } = &mut *state;
        documents.clear();
        used.clear();
        waiting.clear();
        for (slot, passages) in fresh {
            let mut locations = Vec::with_capacity(passages.len());
            for Passage { text, part, range } in passages {
                let key = self.shared.key(&text);
                if used.insert(key) && !vectors.contains_key(&key) {
                    waiting.push_back((key, text));
                }
                locations.push((PassageLocation { part, range }, key));
            }
            documents.push((slot, locations));
        }
        self.shared.wake.notify_one();
    }

    /// Visits every embedded passage.
    pub(super) fn each(&self, mut visit: impl FnMut(Slot, &PassageLocation, &[f32])) {
        let state = self.shared.state();
        for (slot, locations) in &state.documents {
            for (location, key) in locations {
                if let Some(vector) = state.vectors.get(key) {
                    visit(*slot, location, vector);
                }
            }
        }
    }

    /// How many passages are not embedded yet.
    pub(in crate::search) fn waiting(&self) -> usize {
        self.shared.state().missing()
    }

    /// Waits until all passages are embedded.
    pub(in crate::search) fn finish(&self) {
        let mut state = self.shared.state();
        let is_alive = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while state.missing() > 0 && is_alive() {
            let waited = self.shared.rest.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Semantic {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread has already reported its panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, SearchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, text: &str) -> Key {
        let model = self.model.identity();
        Sha256::new().chain_update(model).chain_update(text).finalize().into()
    }

    fn work(&self, kept: &Kept) {
        let mut unsaved = 0;
        let mut state = self.state();
        while !state.ended {
            let batch = state.take();
            if batch.is_empty() {
                self.rest.notify_all();
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let vectors = self.model.embed(&texts);
            state = self.state();
            state
                .vectors
                .extend(batch.iter().map(|(key, _)| *key).zip(vectors.into_iter().map(Into::into)));
            state.embedding = 0;
            unsaved += batch.len();
            let is_due = state.waiting.is_empty() || unsaved >= BATCH;
            if is_due && unsaved * SHARE >= state.vectors.len() {
                unsaved = 0;
                state = self.save(state, kept);
            }
        }
        if unsaved > 0 {
            drop(self.save(state, kept));
        }
    }

    /// Saves the vectors. If that fails, search continues with those in memory.
    fn save<'d>(
        &'d self,
        mut state: MutexGuard<'d, SearchState>,
        kept: &Kept,
    ) -> MutexGuard<'d, SearchState> {
        let SearchState { vectors, used, .. } = &mut *state;
        if vectors.len() > used.len() + UNUSED {
            vectors.retain(|key, _| used.contains(key));
        }
        let all: Vec<_> = vectors.iter().map(|(key, vector)| (*key, Arc::clone(vector))).collect();
        drop(state);
        if let Err(problem) = kept.write(&all) {
            tracing::warn!("vectors are not kept: {problem}");
        }
        self.state()
    }
}

impl SearchState {
    /// The next passages to embed, if there are any.
    fn take(&mut self) -> Vec<(Key, String)> {
        let mut batch = Vec::new();
        while batch.len() < TOGETHER
            && let Some((key, text)) = self.waiting.pop_front()
        {
            // A text that came again with another index during its embedding is queued although it is done.
            if !self.vectors.contains_key(&key) {
                batch.push((key, text));
            }
        }
        self.embedding = batch.len();
        batch
    }

    /// How many passages are not embedded yet.
    fn missing(&self) -> usize {
        self.waiting.len() + self.embedding
    }
}
