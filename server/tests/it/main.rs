//! The server's tests through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod authorize;
mod care;
mod cli;
mod client;
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../universe-store/tests/it/cluster.rs"]
mod cluster;
mod config;
mod crash;
mod demo;
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../universe-store/tests/it/engines.rs"]
mod engines;
mod feed;
mod field_reports;
#[cfg(feature = "nats")]
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../contrib/universe-nats/tests/it/fleet.rs"]
mod fleet;
mod generate;
mod golden;
mod harness;
mod limits;
mod logs;
mod looking;
mod mcp;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "nats")]
#[path = "../../../contrib/universe-nats/tests/it/engine.rs"]
mod nats_engine;
mod no_effect;
mod nodes;
mod operator;
mod page;
mod past;
mod peers;
mod picture;
#[path = "../../../universe-store/tests/it/postgres.rs"]
mod postgres;
#[cfg(feature = "nats")]
#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../contrib/universe-nats/tests/it/raw.rs"]
mod raw;
mod rest;
mod retention;
mod retries;
mod service;
mod simulation;
mod sky;
mod stdio;
mod trappist;

/// The engines of stores that servers share. The feature `postgres` is always there in tests.
const ENGINES: &[&dyn engines::Engine] = &[
    &postgres::Postgres,
    #[cfg(feature = "nats")]
    &nats_engine::Nats,
];
