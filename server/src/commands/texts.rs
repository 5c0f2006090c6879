//! The JSON texts of large universes in memory, kept from one reader to the next.
//!
//! Writing 100,000 bodies takes longer than sending them. What is kept of a text are its parts, so that after a command
//! only those with what it touched are written again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use universe_core::{State, StateText};

/// The most bytes that the texts of all universes may have together. Beyond it, the text written longest ago is
/// dropped.
pub(super) struct Texts {
    max_bytes: usize,
    /// The texts that are kept, with their bytes.
    kept: Mutex<VecDeque<(Weak<Slot>, usize)>>,
}

/// A slot for the text of one universe. It stays empty for universes that are not in memory.
///
/// Clones of a universe share the slot, also at earlier and later revisions. It is freed with the last of them.
#[derive(Clone, Default)]
pub(crate) struct TextPlace(Option<Arc<Slot>>);

struct Slot {
    text: Mutex<Option<Arc<StateText>>>,
    texts: Arc<Texts>,
}

impl Texts {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, kept: Mutex::default() }
    }

    /// Makes room for a text of a slot. Returns the slots whose texts are dropped.
    fn make_room(&self, slot: &Arc<Slot>, bytes: usize) -> Vec<Arc<Slot>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(slot));
        kept.push_back((Arc::downgrade(slot), bytes));
        let mut total: usize = kept.iter().map(|(_, bytes)| bytes).sum();
        let mut lost = Vec::new();
        while total > self.max_bytes
            && let Some((slot, bytes)) = kept.pop_front()
        {
            total = total.saturating_sub(bytes);
            lost.extend(slot.upgrade());
        }
        lost
    }
}

impl TextPlace {
    /// A slot for a universe that was loaded into memory.
    pub(super) fn new(texts: &Arc<Texts>) -> Self {
        Self(Some(Arc::new(Slot { text: Mutex::default(), texts: Arc::clone(texts) })))
    }

    /// The text of this state, if it is kept.
    pub(crate) fn of(&self, state: &State) -> Option<Arc<StateText>> {
        self.text().filter(|text| text.is_of(state))
    }

    /// Writes the text of this state and keeps it. The time depends on the parts that are not kept yet.
    ///
    /// # Errors
    /// As [`State::write_json`].
    pub(crate) fn write(&self, state: &State) -> Result<Arc<StateText>, serde_json::Error> {
        let written = match self.text() {
            Some(text) if text.is_of(state) => return Ok(text),
            Some(text) => text.updated(state)?,
            None => StateText::new(state)?,
        };
        let written = Arc::new(written);
        if let Some(slot) = &self.0 {
            slot.set(Some(Arc::clone(&written)));
        }
        self.measure(&written);
        Ok(written)
    }

    /// Updates the size of a text that was written or has grown. When all texts together are too large, other texts are
    /// dropped first, and then this one.
    pub(crate) fn measure(&self, text: &StateText) {
        if let Some(slot) = &self.0 {
            for lost in slot.texts.make_room(slot, text.size()) {
                lost.set(None);
            }
        }
    }

    fn text(&self) -> Option<Arc<StateText>> {
        let slot = self.0.as_ref()?;
        slot.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Slot {
    fn set(&self, text: Option<Arc<StateText>>) {
        let before =
            std::mem::replace(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner), text);
        // Freeing a text takes a while, so it is done without the lock.
        drop(before);
    }
}

impl fmt::Debug for TextPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TextPlace")
    }
}
