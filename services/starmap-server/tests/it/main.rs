//! The tests of starmap-server through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod brute;
mod common;
mod explore;
mod load;
mod map;
mod route;
mod tour;
mod vectors;
