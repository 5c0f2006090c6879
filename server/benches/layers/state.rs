//! Whole states by REST and MCP, beside plain hyper that writes as many bytes from memory.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::host::{self, Host};
use super::wire::{self, Dialect, Wire};
use super::{Rounds, Row};

/// How many bodies a universe has.
const SIZES: [usize; 2] = [100, 100_000];

pub(crate) fn table(runtime: &Runtime, rounds: Rounds) {
    for size in SIZES {
        let host = &Host::start(runtime);
        host.create(runtime, "bodies", size);
        let address = host.address;
        let mut rows = Vec::new();
        let mut titles = Vec::new();
        for dialect in Dialect::ALL {
            let request = dialect.state("bodies");
            let client = Builder::new_current_thread().enable_all().build().unwrap();
            let bytes = client.block_on(async { Wire::open(address).await.call(&request).await });
            let floor = host::plain(runtime, Bytes::from(vec![b'x'; bytes]));
            titles.push(format!("{} {bytes} bytes", dialect.name()));
            let name = |what: &str| format!("{}, {what}", dialect.name());
            let (asked, again, after) = (request.clone(), request.clone(), request);
            rows.push(Row::new(name("plain hyper"), move || {
                wire::load(floor, 1, rounds.each, |_, _| asked.clone())
            }));
            rows.push(Row::new(name("unchanged"), move || {
                wire::load(address, 1, rounds.each, |_, _| again.clone())
            }));
            rows.push(Row::new(name("changed by a tick before each"), move || {
                after_ticks(address, dialect, &after, rounds.each)
            }));
        }
        let title = format!("{size} bodies: {}", titles.join(", "));
        rounds.print(&title, rows, |row| row / 3 * 3);
    }
}

/// States read in a second, each after a tick that is not counted.
fn after_ticks(
    address: std::net::SocketAddr,
    dialect: Dialect,
    request: &[u8],
    time: Duration,
) -> f64 {
    let tick = dialect.command("bodies", &json!({ "type": "tick", "dt": 1 }), "events");
    let client = Builder::new_current_thread().enable_all().build().unwrap();
    client.block_on(async {
        let mut wire = Wire::open(address).await;
        let (mut read, mut done) = (Duration::ZERO, 0);
        while read < time {
            wire.call(&tick).await;
            let start = std::time::Instant::now();
            wire.call(request).await;
            read += start.elapsed();
            done += 1;
        }
        f64::from(done) / read.as_secs_f64()
    })
}
