//! The server's tests through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod demo;
mod feed;
mod harness;
mod rest;
mod service;
mod store;
