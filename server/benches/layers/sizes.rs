//! Commands on a small universe and on a large one, answered by changes, by REST and MCP: they must cost the same.

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::host::Host;
use super::wire::{self, Dialect};
use super::{Rounds, Row};

/// How many connections there are.
const CLIENTS: usize = 16;

/// How many bodies a universe has, small and large.
const SIZES: [usize; 2] = [100, 100_000];

const COMMANDS: [&str; 3] = ["tick", "addStar", "updateStar"];

pub(crate) fn table(runtime: &Runtime, rounds: Rounds) {
    for dialect in Dialect::ALL {
        for command in COMMANDS {
            let hosts = SIZES.map(|size| {
                let host = Host::start(runtime);
                host.create(runtime, "bodies", size);
                (size, host)
            });
            let rows = hosts.iter().map(|(size, host)| {
                let mut round = 0;
                Row::new(format!("{size} bodies"), move || {
                    round += 1;
                    let request = |client: usize, number: usize| {
                        let unique = format!("{round}-{client}-{number}");
                        let command = self::command(command, *size, &unique);
                        dialect.command("bodies", &command, "changes")
                    };
                    wire::load(host.address, CLIENTS, rounds.each, request)
                })
            });
            let title = format!("{command} by {}, {CLIENTS} clients", dialect.name());
            rounds.print(&title, rows.collect(), |_| 0);
        }
    }
}

fn command(name: &str, size: usize, unique: &str) -> Value {
    match name {
        "addStar" => json!({
            "type": "addStar", "id": format!("new-{unique}"),
            "payload": {
                "name": "New", "mass": 0.5, "radius": 0.25, "color": "#3366CC", "parentId": null,
                "orbitalDistance": 0, "orbitalSpeed": 0, "bodyType": "star",
            },
        }),
        "updateStar" => json!({
            "type": "updateStar", "id": format!("body-{}", size / 2),
            "payload": { "name": format!("Renamed {unique}"), "mass": 2 },
        }),
        _ => json!({ "type": "tick", "dt": 0.5 }),
    }
}
