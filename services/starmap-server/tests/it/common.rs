//! Maps to test with: one made by hand, as many as wanted made by a generator, and the real one where it is at hand.

mod files;
mod generated;
mod real;
mod small;

pub(crate) use files::{aria, assert_same, export, fuzzwork, gzip, put, zip};
pub(crate) use generated::{Random, generated};
pub(crate) use real::{real, real_folder};
pub(crate) use small::{LIGHT_YEAR, id_of, index_of, small, small_parts};
