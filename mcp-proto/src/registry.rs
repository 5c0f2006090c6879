//! Items by name, in the order in which they were added: the tools, prompts, resources and templates of a server.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::slice::{Iter, IterMut};

use foldhash::fast::RandomState;

/// Items in the order of their registration, which is the order they are listed in.
#[derive(Clone)]
pub(crate) struct Registry<T> {
    items: Vec<T>,
    by_name: HashMap<String, usize, RandomState>,
}

impl<T> Registry<T> {
    /// Adds an item; false if another one has this name.
    pub(crate) fn add(&mut self, name: String, item: T) -> bool {
        let Entry::Vacant(place) = self.by_name.entry(name) else {
            return false;
        };
        place.insert(self.items.len());
        self.items.push(item);
        true
    }

    /// Removes an item; false if no item has this name.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Some(index) = self.by_name.remove(name) else {
            return false;
        };
        self.items.remove(index);
        for place in self.by_name.values_mut().filter(|place| **place > index) {
            *place -= 1;
        }
        true
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.by_name.get(name).and_then(|&index| self.items.get(index))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.by_name.get(name).and_then(|&index| self.items.get_mut(index))
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        self.items.iter_mut()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether both have the same items in the same order, by this judgement of two items.
    pub(crate) fn is_same(&self, other: &Self, is_same: impl Fn(&T, &T) -> bool) -> bool {
        self.items.len() == other.items.len()
            && self.iter().zip(other.iter()).all(|(one, other)| is_same(one, other))
    }
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { items: Vec::new(), by_name: HashMap::default() }
    }
}
