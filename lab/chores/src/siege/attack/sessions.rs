//! Attacks on features that only the legacy era has: sessions, their streams, and batches.

use std::sync::Arc;

use super::super::attacker::Field;
use super::super::crowd::{self, Plan, Reads};
use super::super::target::{self, BATCHING, Kind};
use super::streams;
use xtask::Result;

const REVISION: &str = "2025-11-25";
/// The number of calls in one batch, and the approximate length of each answer in bytes.
const BATCH: usize = 50;
const ANSWER: usize = 70_000;

/// Sessions that are opened and used once.
pub(super) fn flood(field: &Field) -> Result<()> {
    field.on_threads(6, |client| {
        let params = format!(
            r#"{{"protocolVersion":"{REVISION}","capabilities":{{}},"clientInfo":{{"name":"siege","version":"0"}}}}"#
        );
        let opened = field.ask(client, &target::legacy("", "initialize", &params));
        if let Some(session) = opened.and_then(|answer| answer.session) {
            field.ask(client, &target::legacy(&session, "ping", "{}"));
        }
    });
    Ok(())
}

/// Sessions that open a GET stream and do not read it.
pub(super) fn get_streams(field: &Field) -> Result<()> {
    let watched = streams::Watched::new(field)?;
    let uri = format!(r#"{{"uri":"{}"}}"#, watched.uri);
    let target = field.target;
    let mut client = target.client();
    streams::change_while(field, &watched, || {
        crowd::run(
            field,
            &mut Plan {
                connections: 3_000,
                payload: &mut |_| {
                    let session = target.initialize(&mut client, REVISION)?;
                    let subscribe = target::legacy(&session, "resources/subscribe", &uri);
                    target.ask(&mut client, &subscribe)?;
                    let request = target.head(&target::get_stream(&session));
                    Ok(Arc::from(format!("{request}\r\n").into_bytes()))
                },
                drip: b"",
                repeat: false,
                reads: Reads::Nothing,
            },
        );
    });
    Ok(())
}

/// Batches, each in a separate session.
pub(super) fn batches(field: &Field) -> Result<()> {
    let target = field.target;
    let universe = target.universe(ANSWER)?;
    let call = match target.kind {
        Kind::Universe => {
            format!(r#""get_universe_state","arguments":{{"universeId":"{universe}"}}"#)
        }
        Kind::Everything => {
            format!(r#""greet","arguments":{{"name":"{}"}}"#, "n".repeat(ANSWER))
        }
    };
    let calls: Vec<String> = (0..BATCH)
        .map(|id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{call}}}}}"#
            )
        })
        .collect();
    let batch = format!("[{}]", calls.join(","));
    let mut client = target.client();
    crowd::run(
        field,
        &mut Plan {
            connections: 64,
            payload: &mut |_| {
                let session = target.initialize(&mut client, BATCHING)?;
                let headers = target::session_headers(&session, BATCHING);
                Ok(Arc::from(target.http1(&target::post(headers, batch.clone()))))
            },
            drip: b"",
            repeat: true,
            reads: Reads::All,
        },
    );
    Ok(())
}
