//! What the tests of the whole server share: servers to talk to and clients to talk with.

pub(crate) mod client;
pub(crate) mod faulty;
pub(crate) mod feed;
pub(crate) mod local;
pub(crate) mod mcp;
pub(crate) mod process;
pub(crate) mod stdio;
pub(crate) mod ways;
pub(crate) mod wire;

use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use client::{Client, Connection, Reply};
pub(crate) use feed::{Event, Feed};
pub(crate) use local::Local;
pub(crate) use mcp::Mcp;
pub(crate) use process::Server;
pub(crate) use stdio::Stdio;
pub(crate) use ways::Ways;
pub(crate) use wire::{Era, Wire};

/// Long enough that only what hangs exceeds it.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// Waits for what must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, what).await.expect("it hangs")
}

/// A command that adds a root body.
pub(crate) fn add_star(id: &str) -> Value {
    json!({"type": "addStar", "id": id, "payload": {
        "name": id, "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": null,
        "orbitalDistance": 0, "orbitalSpeed": 0, "bodyType": "star",
    }})
}

/// A tick of one second.
pub(crate) fn tick() -> Value {
    json!({"type": "tick", "dt": 1})
}

/// A command that gives a body another mass.
pub(crate) fn set_mass(id: &str, mass: u32) -> Value {
    json!({"type": "updateStar", "id": id, "payload": {"mass": mass}})
}

/// A command that removes a body.
pub(crate) fn remove_star(id: &str) -> Value {
    json!({"type": "removeStar", "id": id})
}

/// Numbers without a pattern (SplitMix64).
pub(crate) fn scatter(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
