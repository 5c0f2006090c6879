//! One value for each system of a map.

use std::ops::{Index, IndexMut};

use super::{Map, SystemIndex};

/// One value for each system of a map, found by its handle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PerSystem<T>(Vec<T>);

impl<T: Clone> PerSystem<T> {
    pub(crate) fn new(map: &Map, value: T) -> Self {
        Self(vec![value; map.systems().len()])
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "handles are made by the map that the table is made for"
)]
impl<T> Index<SystemIndex> for PerSystem<T> {
    type Output = T;

    fn index(&self, system: SystemIndex) -> &T {
        &self.0[system.index()]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "handles are made by the map that the table is made for"
)]
impl<T> IndexMut<SystemIndex> for PerSystem<T> {
    fn index_mut(&mut self, system: SystemIndex) -> &mut T {
        &mut self.0[system.index()]
    }
}
