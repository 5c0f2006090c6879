//! The thread that embeds what is not embedded yet.
//!
//! Each passage of the index waits at most once, so the queue is bounded by the index. A passage whose document is gone
//! is skipped. The thread ends with its [`Worker`], after the current passage.

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

/// After how many new vectors they are saved, if there is no pause before.
const BATCH: usize = 1024;

/// The most vectors that are kept though no document has use of them.
const UNUSED: usize = 1 << 15;

/// How often a waiting caller checks whether the thread still runs.
const LOOK: Duration = Duration::from_secs(1);

/// Where a passage is in its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
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
    desk: Mutex<Desk>,
    /// Something waits, or the end has come.
    wake: Condvar,
    /// Nothing waits and all is written down.
    rest: Condvar,
}

/// What the thread shares with searches. Only the thread uses files, so searches never wait for a disk.
#[derive(Debug)]
struct Desk {
    vectors: HashMap<Key, Vector>,
    documents: HashMap<Slot, Vec<(Place, Key)>>,
    /// How many passages have each text.
    used: HashMap<Key, usize>,
    waiting: VecDeque<(Key, String)>,
    thread: Doing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Rest,
    /// So many passages.
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
            desk: Mutex::new(Desk {
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
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    pub(super) fn model(&self) -> &Model {
        &self.shared.model
    }

    pub(super) fn apply(&self, index: &Index, update: &Update) {
        let model = &self.shared.model;
        // Cutting text into passages takes longer than anything else here, and needs no lock.
        let fresh: Vec<_> = update
            .occupied
            .iter()
            .filter_map(|slot| Some((*slot, index.document(*slot)?)))
            .map(|(slot, document)| (slot, passages(document, model.tokenizer(), model.room())))
            .collect();
        let mut desk = self.shared.desk();
        for slot in &update.vacated {
            desk.forget(*slot);
        }
        let Desk { used, waiting, .. } = &mut *desk;
        waiting.retain(|(key, _)| used.contains_key(key));
        for (slot, passages) in fresh {
            // Two updates may come here in another order than they were made in; the index they read is the newer one.
            desk.forget(slot);
            let mut places = Vec::with_capacity(passages.len());
            for passage in passages {
                let key = self.shared.key(&passage.text);
                let uses = desk.used.entry(key).or_default();
                *uses += 1;
                if *uses == 1 && !desk.vectors.contains_key(&key) {
                    desk.waiting.push_back((key, passage.text));
                }
                let (part, range) = (passage.part, passage.range);
                places.push((Place { part, range }, key));
            }
            desk.documents.insert(slot, places);
        }
        self.shared.wake.notify_one();
    }

    /// Every passage that is embedded.
    pub(super) fn each(&self, mut visit: impl FnMut(Slot, &Place, &[f32])) {
        let desk = self.shared.desk();
        for (slot, places) in &desk.documents {
            for (place, key) in places {
                if let Some(vector) = desk.vectors.get(key) {
                    visit(*slot, place, vector);
                }
            }
        }
    }

    pub(super) fn waiting(&self) -> usize {
        let desk = self.shared.desk();
        let at_work = match desk.thread {
            Doing::Embedding(count) => count,
            Doing::Rest | Doing::Saving | Doing::End => 0,
        };
        desk.waiting.len() + at_work
    }

    pub(super) fn finish(&self) {
        let mut desk = self.shared.desk();
        let is_alive = || {
            self.thread
                .as_ref()
                .is_some_and(|thread| !thread.is_finished())
        };
        while (desk.thread != Doing::Rest || !desk.waiting.is_empty()) && is_alive() {
            let waited = self.shared.rest.wait_timeout(desk, LOOK);
            desk = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.desk().thread = Doing::End;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic was reported by the thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, text: &str) -> Key {
        let model = self.model.identity();
        Sha256::new()
            .chain_update(model)
            .chain_update(text)
            .finalize()
            .into()
    }

    fn work(&self, mut segments: Segments) {
        let mut unsaved = Vec::new();
        let mut desk = self.desk();
        while desk.thread != Doing::End {
            let batch = desk.take();
            if !batch.is_empty() {
                drop(desk);
                let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
                let vectors = self.model.embed(&texts);
                desk = self.desk();
                for ((key, _), vector) in batch.iter().zip(vectors) {
                    desk.vectors.insert(*key, vector.into());
                    unsaved.push(*key);
                }
                if unsaved.len() >= BATCH {
                    desk = self.save(desk, &mut segments, &mut unsaved);
                }
            } else if !unsaved.is_empty() {
                desk = self.save(desk, &mut segments, &mut unsaved);
            } else {
                desk.thread = Doing::Rest;
                self.rest.notify_all();
                desk = self.wake.wait(desk).unwrap_or_else(PoisonError::into_inner);
            }
        }
        drop(self.save(desk, &mut segments, &mut unsaved));
    }

    /// Saves new vectors. If that fails, search continues with those in memory.
    fn save<'d>(
        &'d self,
        mut desk: MutexGuard<'d, Desk>,
        segments: &mut Segments,
        unsaved: &mut Vec<Key>,
    ) -> MutexGuard<'d, Desk> {
        desk.go_on(Doing::Saving);
        let thinned = desk.thin_out();
        drop(desk);
        let look_up = |keys: &[Key]| {
            let desk = self.desk();
            let vectors = keys
                .iter()
                .filter_map(|key| Some((*key, Arc::clone(desk.vectors.get(key)?))));
            vectors.collect()
        };
        if let Err(problem) = segments.save(std::mem::take(unsaved), thinned, look_up) {
            tracing::warn!("vectors are not kept: {problem}");
        }
        self.desk()
    }
}

impl Desk {
    /// The next passages to embed, if any wait.
    fn take(&mut self) -> Vec<(Key, String)> {
        let mut batch = Vec::new();
        while batch.len() < TOGETHER
            && let Some((key, text)) = self.waiting.pop_front()
        {
            // One that went while it was embedded, and came again, waits though it is done.
            if !self.vectors.contains_key(&key) {
                batch.push((key, text));
            }
        }
        if !batch.is_empty() {
            self.go_on(Doing::Embedding(batch.len()));
        }
        batch
    }

    /// Says what the thread does, unless it is to end.
    fn go_on(&mut self, doing: Doing) {
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

    /// Forgets vectors without use if there are too many. Whether it did.
    fn thin_out(&mut self) -> bool {
        let unused = self
            .vectors
            .keys()
            .filter(|key| !self.used.contains_key(*key))
            .count();
        if unused > UNUSED {
            self.vectors.retain(|key, _| self.used.contains_key(key));
        }
        unused > UNUSED
    }
}
