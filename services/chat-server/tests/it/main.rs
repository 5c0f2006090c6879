//! The library from outside.

mod index;
