//! How fast durable commands are on NATS, beside messages that a plain client publishes and has acknowledged.
//!
//! 64 clients wait for every acknowledgement, at one node or at three. Either each has a universe of its own, and its
//! command is a message; or all write one universe, and a node appends what waits as one message, as the writer of the
//! universe server does. The plain client does what `nats bench js pub sync` does: it publishes messages with bodies of
//! the same size, over as many connections, each waiting for its acknowledgement, and says nothing of what it expects.
//! The expecting client does the same, but names the message that each is to follow, as the port must: what it is
//! slower by, comparing and setting costs by itself.
//!
//! `nats bench js pub sync` itself runs as well if the program `nats` is found: 64 clients, each of which publishes one
//! command as a message and waits for its acknowledgement, to 64 subjects or to one. It cannot publish for a given
//! time, so a short run says how many messages take about that long.
//!
//! In `contrib`, `cargo bench -p universe-nats -- 9 5 3/always` makes 9 rounds of 5 seconds for each
//! side, on three servers that write all to their disks; without the last word, all rows.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table, and no caller takes its errors"
)]

#[path = "../../../universe-store/benches/beside/mod.rs"]
mod beside;
#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/fleet.rs"]
mod fleet;

use std::cell::RefCell;
use std::error::Error as _;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context};
use bytes::Bytes;
use tokio::runtime::Builder;
use universe_nats::{NatsOptions, NatsStore};
use universe_store::UniverseLog;

use self::beside::{BODY, Rounds, Work, commands, rate};
use self::fleet::{Fleet, Settings};

/// The messages of a short run of `nats bench`.
const SHORT: usize = 2_000;

fn main() {
    let Some(rounds) = Rounds::wanted(5, Duration::from_secs(2)) else {
        return;
    };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| word.contains('/')).collect();
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!(
        "servers/sync/nodes/universes    ours/s    plain/s  ratio (min-max)   expecting/s  ratio (min-max)  nats bench/s  ratio (min-max)"
    );
    let has_tool = Command::new("nats").arg("--version").output().is_ok();
    if !has_tool {
        println!("without nats bench: there is no program nats");
    }
    for (count, is_durable) in [(1, true), (3, true), (1, false), (3, false)] {
        let sync = if is_durable { "always" } else { "2min" };
        for work in Work::SHARED {
            let (nodes, universes) = (work.nodes, work.universes);
            let row = format!("{count}/{sync}/{nodes}/{universes}");
            if !wanted.is_empty() && !wanted.iter().any(|wanted| row.starts_with(wanted)) {
                continue;
            }
            let settings = Settings { is_durable, ..Settings::default() };
            let Some(fleet) = Fleet::start(count, &settings) else {
                return;
            };
            let url = RefCell::new(String::new());
            let ours = || {
                url.replace(fleet.url());
                runtime.block_on(appends(&url.borrow(), work, rounds.each))
            };
            // The streams of the universes were made just now, with as many copies.
            let messages = |expects| {
                let url = url.borrow();
                runtime.block_on(messages(&url, count, work, expects, rounds.each))
            };
            let (mut plain, mut expecting) = (|| messages(false), || messages(true));
            let mut tool = || {
                let rate = tool(&fleet, work, SHORT);
                tool(&fleet, work, SHORT + (rate * rounds.each.as_secs_f64()) as usize)
            };
            let mut others: Vec<&mut dyn FnMut() -> f64> = vec![&mut plain, &mut expecting];
            if has_tool {
                others.push(&mut tool);
            }
            rounds.compare(&format!("{row:<28}"), ours, &mut others);
        }
    }
}

/// Commands a second by the port.
async fn appends(url: &str, work: Work, time: Duration) -> f64 {
    let options = NatsOptions::default();
    let mut opened: Vec<Arc<dyn UniverseLog>> = Vec::new();
    for _ in 0..work.nodes {
        opened.push(Arc::new(NatsStore::open(url, &options).await.unwrap()));
    }
    commands(opened, work, time).await
}

/// Messages a second by `nats bench`, which publishes so many.
fn tool(fleet: &Fleet, work: Work, messages: usize) -> f64 {
    let servers: Vec<_> = (0..fleet.count()).map(|n| fleet.host(n)).collect();
    let (clients, size, copies) = (work.clients, BODY.len(), fleet.count());
    let subjects = match work.universes {
        1 => String::new(),
        universes => format!("--multisubject --multisubjectmax={universes}"),
    };
    let options = format!(
        "bench js pub sync tool-{0} --stream tool-{0} --create --purge --storage file --replicas {copies} \
         --clients {clients} --msgs {messages} --size {size} --no-progress {subjects} --server {1}",
        work.universes,
        servers.join(",")
    );
    let run = Command::new("nats").args(options.split_whitespace()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let rate = said
        .split_once("aggregated stats: ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .and_then(|rate| rate.replace(',', "").parse().ok());
    rate.unwrap_or_else(|| panic!("{run:?}"))
}

/// The same in messages of a plain client, which may name the message that each is to follow.
async fn messages(url: &str, replicas: usize, work: Work, expects: bool, time: Duration) -> f64 {
    let (servers, prefix) = url.rsplit_once('/').unwrap();
    let servers: Vec<async_nats::ServerAddr> = servers
        .trim_start_matches("nats://")
        .split(',')
        .map(|server| server.parse().unwrap())
        .collect();
    let mut connections = Vec::new();
    for _ in 0..work.nodes {
        let client = async_nats::connect(servers.clone()).await.unwrap();
        connections.push(jetstream::new(client));
    }
    let prefix = format!("{prefix}_{}", if expects { "expecting" } else { "plain" });
    let config = jetstream::stream::Config {
        name: prefix.clone(),
        subjects: vec![format!("{prefix}.*")],
        num_replicas: replicas,
        ..jetstream::stream::Config::default()
    };
    connections[0].create_stream(config).await.unwrap();
    for context in &connections {
        // Each server comes to know of the stream in its own time.
        while publish(context, format!("{prefix}.begin"), None, Bytes::new()).await.is_err() {}
    }
    let (writers, batch) = work.writers();
    let body = Bytes::from(BODY.repeat(batch));
    rate(time, writers, |n, until| {
        let context = connections[n % connections.len()].clone();
        let (stream, subject) = (prefix.clone(), format!("{prefix}.{}", n % work.universes));
        let body = body.clone();
        async move {
            let (mut last, mut done) = (0, 0);
            while Instant::now() < until {
                let after = expects.then_some(last);
                match publish(&context, subject.clone(), after, body.clone()).await {
                    Ok(sequence) => {
                        last = sequence;
                        done += batch;
                    }
                    Err(problem) if expects => {
                        last = found(&context, &stream, &subject, &problem).await
                    }
                    Err(problem) => panic!("{problem}"),
                }
            }
            done
        }
    })
    .await
}

/// Stores a message, after that of a sequence if one is named, and gives its own.
async fn publish(
    context: &Context,
    subject: String,
    after: Option<u64>,
    body: Bytes,
) -> Result<u64, PublishError> {
    let mut message = PublishMessage::build().payload(body);
    if let Some(after) = after {
        message = message.expected_last_subject_sequence(after);
    }
    let sent = context.send_publish(subject, message).await?;
    Ok(sent.await?.sequence)
}

/// The last sequence of a subject: what a refusal says, or what the stream has where another message is on its way.
async fn found(context: &Context, stream: &str, subject: &str, refusal: &PublishError) -> u64 {
    let said = refusal.source().map(ToString::to_string).unwrap_or_default();
    let said = said.split_once("wrong last sequence: ").map(|(_, rest)| rest);
    let said = said.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    if let Some(said) = said {
        return said;
    }
    let stream = context.get_stream_no_info(stream).await.unwrap();
    let last = stream.raw_message_builder().last_by_subject(subject).send().await;
    last.map_or(0, |last| last.sequence)
}
