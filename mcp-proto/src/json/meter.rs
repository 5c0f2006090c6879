//! The memory cost of a JSON tree, counted while it is read.
//!
//! A text and its tree differ in size: `{"":0}` has 6 bytes, and an object with one member takes a node of 640. The
//! count is that of the blocks that a usual allocator (glibc) hands out for the tree, headers included.

use std::cell::{Cell, RefCell};

use serde::de::Error;
use serde_json::Value;

use crate::budget::{Held, Over};

/// The default limit on the memory of one message's tree, in bytes: 128 MiB. A text of 10 MiB with 100,000 objects of
/// nine members stays below it.
pub const MAX_TREE_BYTES: usize = 128 * 1024 * 1024;

/// How many members fit into a node of a map (`std::collections::BTreeMap`).
const NODE_SLOTS: usize = 11;
/// How many members each further node brings when a map grows in order.
const SPLIT_SLOTS: usize = 7;
const LEAF: usize = block(NODE_SLOTS * (size_of::<String>() + size_of::<Value>()) + 16);
const INNER: usize = LEAF + (NODE_SLOTS + 1) * size_of::<usize>();
/// A node of a set of names.
const NAMES: usize = block(NODE_SLOTS * size_of::<String>() + 16);

/// The step by which a client's amount grows while a text is read.
const STEP: usize = 64 * 1024;

/// Counts the memory of the values parsed from a text, and stops above an allowance.
#[derive(Debug)]
pub struct Meter {
    /// How much of `granted` is not used yet.
    left: Cell<usize>,
    /// How much of `max` may be used without asking.
    granted: Cell<usize>,
    max: usize,
    is_over: Cell<bool>,
    /// What a client holds for it; `None` where it is not counted.
    held: Option<RefCell<Held>>,
    /// Why the client could not hold more.
    over: Cell<Option<Over>>,
}

impl Meter {
    /// A count that starts at 0 and may reach `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            left: Cell::new(max),
            granted: Cell::new(max),
            max,
            is_over: Cell::new(false),
            held: None,
            over: Cell::new(None),
        }
    }

    /// The same for a text that a client is already charged for by `held`: the parsed values are charged to it as they
    /// are built, at most `max` bytes.
    pub fn held_by(held: Held, max: usize) -> Self {
        // What can never fit next to its text is too large; waiting would not help.
        let room = held.most().saturating_sub(held.amount());
        Self {
            left: Cell::new(0),
            granted: Cell::new(0),
            held: Some(RefCell::new(held)),
            ..Self::new(max.min(room))
        }
    }

    /// What the client holds for what was built, once its text is gone.
    ///
    /// # Errors
    /// Why the client could not hold more, which ended the reading.
    pub fn into_held(self) -> Result<Option<Held>, Over> {
        if let Some(over) = self.over.get() {
            return Err(over);
        }
        let used = self.used();
        let mut held = self.held.map(RefCell::into_inner);
        if let Some(held) = &mut held {
            held.set(used)?;
        }
        Ok(held)
    }

    /// The cost in bytes of what has been built so far.
    pub fn used(&self) -> usize {
        self.granted.get() - self.left.get()
    }

    /// The allowance, in bytes.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Whether reading was stopped by the allowance.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Counts a string without spare room.
    pub(crate) fn string<E: Error>(&self, bytes: usize) -> Result<(), E> {
        self.charge(block(bytes))
    }

    /// Counts one more member of a map that has `members` already, and its name.
    pub(crate) fn member<E: Error>(&self, name: &str, members: usize) -> Result<(), E> {
        let nodes = match members {
            0 => LEAF,
            1..NODE_SLOTS => 0,
            // The first node is full: another one beside it and one above.
            NODE_SLOTS => LEAF + INNER,
            more if (more - NODE_SLOTS).is_multiple_of(SPLIT_SLOTS) => LEAF + INNER / SPLIT_SLOTS,
            _ => 0,
        };
        self.charge(block(name.len()) + nodes)
    }

    /// Counts the growth of an array from `before` to `after` places.
    pub(super) fn array<E: Error>(&self, before: usize, after: usize) -> Result<(), E> {
        let bytes = |places: usize| block(places.saturating_mul(size_of::<Value>()));
        self.give_back(bytes(before));
        self.charge(bytes(after))
    }

    /// Counts a name in a set of names.
    pub(crate) fn name<E: Error>(&self, name: &str) -> Result<(), E> {
        self.charge(block(name.len()) + NAMES / SPLIT_SLOTS)
    }

    /// Releases what was counted since [`used`](Self::used) returned this: for a text that is read in parts.
    pub fn go_back_to(&self, used: usize) {
        self.left.set(self.granted.get().saturating_sub(used));
    }

    fn give_back(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_add(bytes));
    }

    #[inline]
    fn charge<E: Error>(&self, bytes: usize) -> Result<(), E> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                if self.has_grant(bytes) {
                    Ok(())
                } else {
                    Err(E::custom("the message takes too much memory"))
                }
            }
        }
    }

    /// Whether this much beyond the remaining amount may be used. If so, it is charged.
    #[cold]
    fn has_grant(&self, bytes: usize) -> bool {
        let more = bytes - self.left.get();
        let (granted, ahead) = (self.granted.get(), more.max(STEP));
        let (Some(held), true) = (&self.held, more <= self.max - granted) else {
            self.is_over.set(true);
            return false;
        };
        let (mut held, ahead) = (held.borrow_mut(), ahead.min(self.max - granted));
        let grown = match held.grow(ahead) {
            Ok(()) => Ok(ahead),
            // Near the bound, only the needed amount is charged.
            Err(_) => held.grow(more).map(|()| more),
        };
        match grown {
            Ok(grown) => {
                self.granted.set(granted + grown);
                self.left.set(self.left.get() + grown - bytes);
                true
            }
            Err(over) => {
                self.over.set(Some(over));
                false
            }
        }
    }
}

/// The size of the allocator's block for this many bytes: with a header of 8, in steps of 16, at least 32.
const fn block(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=24 => 32,
        more => more.saturating_add(8 + 15) & !15,
    }
}
