//! The library from outside.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod index;
mod query;
