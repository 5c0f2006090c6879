//! Durable commands of 64 clients by layer: the store alone, the command service, REST and MCP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::json;
use tokio::runtime::Runtime;
use universe_core::{Command, State};
use universe_server::commands::CommandService;
use universe_server::store::{Append, CommandId, Meta, NewEntry, Revision, Timestamp, UniverseLog};

use super::beside::rate;
use super::host::{self, Host, id};
use super::wire::{self, Dialect};
use super::{Rounds, Row};

/// How many clients wait for acknowledgements.
const CLIENTS: usize = 64;

/// What the command service writes for a tick.
const ENTRY: &[u8] = br#"{"command":{"type":"tick","dt":1},"events":[]}"#;

pub(crate) fn table(runtime: &Runtime, rounds: Rounds) {
    let plain = host::plain(runtime, Bytes::from_static(b"{}"));
    for universes in [CLIENTS, 1] {
        let mut rows = vec![
            Row::new("the store alone", || adapter(runtime, universes, rounds.each)),
            Row::new("CommandService", || service(runtime, universes, rounds.each)),
        ];
        for dialect in Dialect::ALL {
            let run = move || over_http(runtime, dialect, universes, rounds.each);
            rows.push(Row::new(dialect.name(), run));
        }
        rows.push(Row::new("plain hyper, without a command", || {
            let request =
                Dialect::Rest.command("sol", &json!({ "type": "tick", "dt": 1 }), "events");
            wire::load(plain, CLIENTS, rounds.each, |_, _| request.clone())
        }));
        let title = match universes {
            1 => "64 clients, one universe".to_owned(),
            universes => format!("64 clients, {universes} universes"),
        };
        rounds.print(&title, rows, |_| 0);
    }
}

fn name(universe: usize) -> String {
    format!("universe-{universe}")
}

/// With a universe for each client, each appends by itself; to one universe, one appends as a batch what all clients
/// wait for, as its writer in the server does.
fn adapter(runtime: &Runtime, universes: usize, time: Duration) -> f64 {
    let (_dir, store) = host::store();
    let (writers, batch) = (universes, CLIENTS / universes);
    runtime.block_on(async {
        for universe in 0..universes {
            let meta =
                Meta { id: id(&name(universe)), name: String::new(), created_at: Timestamp::now() };
            store.create(meta, Bytes::from_static(b"{}")).await.unwrap();
        }
        let appended = rate(time, writers, |client, until| {
            let (store, id) = (Arc::clone(&store), id(&name(client)));
            async move {
                let (mut head, mut done) = (Revision::GENESIS, 0);
                while Instant::now() < until {
                    let entry = || NewEntry {
                        command_id: CommandId::random(),
                        at: Timestamp::now(),
                        body: Bytes::from_static(ENTRY),
                        keyed: false,
                    };
                    let append = Append {
                        expected: head,
                        entries: (0..batch).map(|_| entry()).collect(),
                        name: None,
                    };
                    head = store.append(&id, append).await.unwrap().revision;
                    done += batch;
                }
                done
            }
        });
        appended.await
    })
}

fn service(runtime: &Runtime, universes: usize, time: Duration) -> f64 {
    let (_dir, store) = host::store();
    let service = host::service(store);
    let rate = runtime.block_on(async {
        create(&service, universes).await;
        let processed = rate(time, CLIENTS, |client, until| {
            let (service, id) = (service.clone(), id(&name(client % universes)));
            let tick = Command::from_value(json!({ "type": "tick", "dt": 1 })).unwrap();
            async move {
                let mut done = 0;
                while Instant::now() < until {
                    service.process(&id, tick.clone()).await.unwrap();
                    done += 1;
                }
                done
            }
        });
        processed.await
    });
    runtime.block_on(service.close());
    rate
}

fn over_http(runtime: &Runtime, dialect: Dialect, universes: usize, time: Duration) -> f64 {
    let host = Host::start(runtime);
    runtime.block_on(create(&host.service, universes));
    let tick = json!({ "type": "tick", "dt": 1 });
    let requests: Vec<_> =
        (0..universes).map(|universe| dialect.command(&name(universe), &tick, "events")).collect();
    let request = |client: usize, _| requests[client % universes].clone();
    let rate = wire::load(host.address, CLIENTS, time, request);
    runtime.block_on(host.service.close());
    rate
}

async fn create(service: &CommandService, universes: usize) {
    for universe in 0..universes {
        let created = service.create(id(&name(universe)), String::new(), State::default());
        created.await.unwrap();
    }
}
