//! The thread that embeds passages in the background.
//!
//! Each passage of the index is queued at most once, so the queue is bounded by the index. A passage whose document was
//! removed is skipped. The thread ends with its [`Worker`], after the current passage.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::ModelError;
use super::model::Model;
use super::passage::passages;
use super::segments::{Key, Segments, Vector};
use crate::search::index::{Index, Slot, Update};

/// How many passages are embedded at once.
const TOGETHER: usize = 8;

/// The number of new vectors after which they are saved, if there is no pause before.
const BATCH: usize = 1024;

/// The most unused vectors that are kept.
const UNUSED: usize = 1 << 15;

/// How often a waiting caller checks whether the thread still runs.
const LOOK: Duration = Duration::from_secs(1);

/// The position of a passage in its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PassageLocation {
    pub(super) part: usize,
    pub(super) range: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    model: Model,
    state: Mutex<SearchState>,
    /// There is work, or the thread is to end.
    wake: Condvar,
    /// The queue is empty and all vectors are saved.
    rest: Condvar,
}

/// The state that the thread shares with searches. Only the thread accesses files, so searches never wait for a disk.
#[derive(Debug)]
struct SearchState {
    vectors: HashMap<Key, Vector>,
    documents: HashMap<Slot, Vec<(PassageLocation, Key)>>,
    /// How many passages use each text.
    used: HashMap<Key, usize>,
    waiting: VecDeque<(Key, String)>,
    thread: Doing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Rest,
    /// It embeds this many passages.
    Embedding(usize),
    Saving,
    /// It is to end.
    End,
}

impl Worker {
    pub(super) fn start(model: Model, folder: &Path) -> Result<Self, ModelError> {
        let (segments, vectors) = Segments::open(folder, model.identity(), model.dimensions());
        let shared = Arc::new(Shared {
            model,
            state: Mutex::new(SearchState {
                vectors,
                documents: HashMap::new(),
                used: HashMap::new(),
                waiting: VecDeque::new(),
                thread: Doing::Rest,
            }),
            wake: Condvar::new(),
            rest: Condvar::new(),
        });
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(move || its.work(segments))
            .map_err(ModelError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub(super) fn model(&self) -> &Model {
        &self.shared.model
    }

    pub(super) fn apply(&self, index: &Index, update: &Update) {
        let model = &self.shared.model;
        // Splitting text into passages takes longer than anything else here, and does not need the lock.
        let fresh: Vec<_> = update
            .occupied
            .iter()
            .filter_map(|slot| Some((*slot, index.document(*slot)?)))
            .map(|(slot, document)| (slot, passages(document, model.tokenizer(), model.room())))
            .collect();
        let mut state = self.shared.state();
        for slot in &update.vacated {
            state.forget(*slot);
        }
        let SearchState { used, waiting, .. } = &mut *state;
        waiting.retain(|(key, _)| used.contains_key(key));
        for (slot, passages) in fresh {
            // Two updates may arrive in reverse order. Both read the same index, which is already the newer one.
            state.forget(slot);
            let mut locations = Vec::with_capacity(passages.len());
            for passage in passages {
                let key = self.shared.key(&passage.text);
                let uses = state.used.entry(key).or_default();
                *uses += 1;
                if *uses == 1 && !state.vectors.contains_key(&key) {
                    state.waiting.push_back((key, passage.text));
                }
                let (part, range) = (passage.part, passage.range);
                locations.push((PassageLocation { part, range }, key));
            }
            state.documents.insert(slot, locations);
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

    pub(super) fn waiting(&self) -> usize {
        let state = self.shared.state();
        let at_work = match state.thread {
            Doing::Embedding(count) => count,
            Doing::Rest | Doing::Saving | Doing::End => 0,
        };
        state.waiting.len() + at_work
    }

    pub(super) fn finish(&self) {
        let mut state = self.shared.state();
        let is_alive = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while (state.thread != Doing::Rest || !state.waiting.is_empty()) && is_alive() {
            let waited = self.shared.rest.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.state().thread = Doing::End;
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

    fn work(&self, mut segments: Segments) {
        let mut unsaved = Vec::new();
        let mut state = self.state();
        while state.thread != Doing::End {
            let batch = state.take();
            if !batch.is_empty() {
                drop(state);
                let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
                let vectors = self.model.embed(&texts);
                state = self.state();
                for ((key, _), vector) in batch.iter().zip(vectors) {
                    state.vectors.insert(*key, vector.into());
                    unsaved.push(*key);
                }
                if unsaved.len() >= BATCH {
                    state = self.save(state, &mut segments, &mut unsaved);
                }
            } else if !unsaved.is_empty() {
                state = self.save(state, &mut segments, &mut unsaved);
            } else {
                state.thread = Doing::Rest;
                self.rest.notify_all();
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        drop(self.save(state, &mut segments, &mut unsaved));
    }

    /// Saves new vectors. If that fails, search continues with those in memory.
    fn save<'d>(
        &'d self,
        mut state: MutexGuard<'d, SearchState>,
        segments: &mut Segments,
        unsaved: &mut Vec<Key>,
    ) -> MutexGuard<'d, SearchState> {
        state.set_doing(Doing::Saving);
        let thinned = state.thin_out();
        drop(state);
        let look_up = |keys: &[Key]| {
            let state = self.state();
            let vectors =
                keys.iter().filter_map(|key| Some((*key, Arc::clone(state.vectors.get(key)?))));
            vectors.collect()
        };
        if let Err(problem) = segments.save(std::mem::take(unsaved), thinned, look_up) {
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
            // A text that was removed and added again during its embedding is queued although it is done.
            if !self.vectors.contains_key(&key) {
                batch.push((key, text));
            }
        }
        if !batch.is_empty() {
            self.set_doing(Doing::Embedding(batch.len()));
        }
        batch
    }

    /// Sets the state of the thread, unless it is to end.
    fn set_doing(&mut self, doing: Doing) {
        if self.thread != Doing::End {
            self.thread = doing;
        }
    }

    fn forget(&mut self, slot: Slot) {
        for (_, key) in self.documents.remove(&slot).into_iter().flatten() {
            if let Some(uses) = self.used.get_mut(&key) {
                *uses -= 1;
                if *uses == 0 {
                    self.used.remove(&key);
                }
            }
        }
    }

    /// Drops unused vectors if there are too many. Returns whether it did.
    fn thin_out(&mut self) -> bool {
        let unused = self.vectors.keys().filter(|key| !self.used.contains_key(*key)).count();
        if unused > UNUSED {
            self.vectors.retain(|key, _| self.used.contains_key(key));
        }
        unused > UNUSED
    }
}
