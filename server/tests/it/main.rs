//! The server's tests through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod authorize;
mod care;
mod cli;
mod client;
#[cfg(feature = "postgres")]
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../universe-store/tests/it/cluster.rs"]
mod cluster;
mod config;
mod crash;
mod demo;
#[cfg(any(feature = "nats", feature = "postgres"))]
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../universe-store/tests/it/engines.rs"]
mod engines;
mod feed;
#[cfg(feature = "nats")]
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../universe-store/tests/it/fleet.rs"]
mod fleet;
mod full_disk;
mod generate;
mod golden;
mod harness;
mod logs;
mod looking;
mod mcp;
#[cfg(feature = "nats")]
mod nats;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod nodes;
mod page;
mod past;
mod picture;
mod rest;
mod retention;
mod retries;
mod service;
mod simulation;
mod stdio;
