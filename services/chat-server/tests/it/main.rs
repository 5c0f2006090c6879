//! The library from outside.

mod index;
mod query;
