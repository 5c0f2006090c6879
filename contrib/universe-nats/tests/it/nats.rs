//! What nodes on servers of NATS have to themselves.

mod faults;
mod refused;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use bytes::Bytes;
use futures_util::future::join_all;
use universe_nats::{NatsOptions, NatsStore};
use universe_store::clients::SharedStore as _;
use universe_store::clients::logs::LogBounds;
use universe_store::clients::sessions::SessionBounds;
use universe_store::clients::tasks::TaskBounds;
use universe_store::{
    AppendError, Base, CommandId, CreateError, NewEntry, Revision, Snapshot, Timestamp, UniverseLog,
};

use crate::engines::Kind;
use crate::fleet::shared;
use crate::machine::judge;
use crate::nodes::Nodes;
use crate::{HANG, Subject, after, entry, id, meta, next_entry, raw};

async fn open(url: &str) -> NatsStore {
    let opened = NatsStore::open(url, &NatsOptions::default()).await;
    opened.unwrap_or_else(|problem| panic!("{problem}"))
}

/// Two nodes on the same streams, as the port has them.
async fn pair(url: &str) -> [Arc<dyn UniverseLog>; 2] {
    [Arc::new(open(url).await), Arc::new(open(url).await)]
}

#[test]
fn two_nodes_follow_the_model() {
    let Some(fleet) = shared() else {
        return;
    };
    judge(16, async || {
        let nodes: Box<dyn Subject> = Box::new(Nodes::on(&fleet.url()).await);
        nodes
    });
}

/// A message of a server has up to 1 MiB; a body has more.
#[tokio::test]
async fn large_bodies_are_kept_in_pieces_that_go_with_what_they_are_of() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let (one, other) = (open(&url).await, open(&url).await);
    let sol = id("sol");
    let body = |byte: u8, size: usize| {
        let mut body = vec![byte; size];
        body[size / 2] = b'!';
        Bytes::from(body)
    };
    one.create(meta(&sol, 1), body(b'g', 5_000_000)).await.unwrap();
    assert!(other.base(&sol).await.unwrap().body == body(b'g', 5_000_000));
    let mut commands = Vec::new();
    for n in 0..4 {
        let new = entry(body(b'0' + n as u8, 3_000_000));
        commands.push(new.command_id);
        one.append(&sol, after(n, vec![new])).await.unwrap();
    }
    for (revision, byte) in [(1, b's'), (2, b't')] {
        let body = body(byte, 4_000_000);
        let snapshot = Snapshot { revision: Revision(revision), body };
        other.put_snapshot(&sol, snapshot.clone()).await.unwrap();
        assert_eq!(one.snapshot(&sol).await, Ok(Some(snapshot)));
    }
    let mut tail = other.tail(&sol, Revision(0));
    for n in 0..4 {
        assert!(next_entry(&mut tail).await.body == body(b'0' + n, 3_000_000));
    }
    // 5 + 4 × 3 + 4 MB, and what is around them; of snapshots the newest alone.
    let size = one.size().await.unwrap().unwrap().file;
    assert!((21_000_000..22_500_000).contains(&size), "{size}");
    let base =
        Base { revision: Revision(3), at: Timestamp::from_millis(7), body: body(b'b', 2_000_000) };
    other.trim(&sol, commands[2], base.clone()).await.unwrap();
    assert_eq!(one.base(&sol).await, Ok(base));
    assert_eq!(one.snapshot(&sol).await, Ok(None));
    let size = one.size().await.unwrap().unwrap().file;
    assert!((5_000_000..5_500_000).contains(&size), "{size}");
    one.delete(&sol, None).await.unwrap();
    let size = one.size().await.unwrap().unwrap().file;
    assert!(size < 2_000, "{size}");
}

/// No node takes a task away, or a letter, when its time is over.
#[tokio::test]
async fn pieces_go_with_the_time_of_what_they_are_of() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let node = open(&url).await;
    let mut bounds = LogBounds::default();
    bounds.keep_letters = Duration::from_secs(1);
    let (sessions, logs) = (node.sessions(SessionBounds::default()), node.logs(bounds));
    let tasks = node.tasks(TaskBounds::default());
    let large = [b'x'; 200_000];
    sessions.insert("s", None, b"").await.unwrap();
    logs.send("s", &large).await.unwrap();
    let begun = Instant::now();
    // One whose time is over before it is finished is begun again, with more of it.
    let (mut name, mut ttl) = ("task".to_owned(), Duration::from_secs(2));
    loop {
        let inserted = tasks.insert(&name, None, None, ttl, &large).await;
        inserted.unwrap();
        let finished = tasks.replace(&name, 0, &large, Some(b"result")).await;
        if finished.unwrap() {
            break;
        }
        name.push('s');
        ttl *= 2;
    }
    // It has its result as long as it is there.
    while let Some(result) = tasks.result(&name).await.unwrap() {
        assert_eq!(result, b"result");
        assert!(begun.elapsed() < HANG, "the task stays");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let client = async_nats::connect(fleet.host(0)).await.unwrap();
    let bodies = format!("{}_bodies", url.rsplit('/').next().unwrap());
    let mut bodies = jetstream::new(client).get_stream(bodies).await.unwrap();
    loop {
        let state = bodies.info().await.unwrap().state.clone();
        // Two of the letter, two of the task twice, and the result.
        assert!(state.last_sequence >= 7, "{state:?}");
        if state.messages == 0 {
            break;
        }
        assert!(begun.elapsed() < HANG, "{state:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// No record names them: the node was gone before it could store one.
#[tokio::test]
async fn pieces_of_a_session_that_was_not_stored_go_and_those_of_others_stay() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let node = open(&url).await;
    let client = async_nats::connect(fleet.host(0)).await.unwrap();
    let bodies = format!("{}_bodies", url.rsplit('/').next().unwrap());
    let bodies = jetstream::new(client).get_stream(bodies).await.unwrap();
    let pieces = async || bodies.get_info().await.unwrap().state.messages;
    let sessions = node.sessions(SessionBounds::default());
    let large = vec![b'x'; 32 << 20];
    // Until one is dropped between its first piece and its record.
    for number in 0.. {
        let name = format!("dropped {number}");
        let dropped = async { while pieces().await == 0 {} };
        tokio::select! {
            stored = sessions.insert(&name, None, &large) => stored.unwrap(),
            () = dropped => {}
        }
        if !sessions.remove(&name).await.unwrap() {
            break;
        }
    }
    drop((sessions, node));
    // A node that looks often, and does not wait long for a message.
    let mut options = NatsOptions::default();
    options.connect_timeout = Duration::from_secs(1);
    options.write_timeout = Duration::from_secs(1);
    let node = NatsStore::open(&url, &options).await.unwrap();
    let mut bounds = SessionBounds::default();
    bounds.max_idle = Duration::from_secs(3);
    let sessions = node.sessions(bounds);
    let begun = Instant::now();
    let large = &large[..200_000];
    loop {
        // One that is used stays. It may have been idle for too long on a busy machine.
        match sessions.load("used").await {
            Ok(Some(found)) if pieces().await == 2 => {
                assert!(found == large);
                break;
            }
            Ok(None) => drop(sessions.insert("used", None, large).await),
            Ok(Some(_)) | Err(_) => {}
        }
        assert!(begun.elapsed() < HANG, "there are {}", pieces().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_session_that_was_stored_before_its_label_said_how_long_it_lasts_goes_on() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let sessions = open(&url).await.sessions(SessionBounds::default());
    for name in ["used", "idle"] {
        sessions.insert(name, Some(name), name.as_bytes()).await.unwrap();
    }
    raw::without_lives(&url, Kind::Sessions).await;
    raw::age(&url, Kind::Sessions, 1_000, None).await;
    let sessions = open(&url).await.sessions(SessionBounds::default());
    assert_eq!(sessions.load("used").await, Ok(Some(b"used".to_vec())));
    raw::age(&url, Kind::Sessions, 1_000, None).await;
    assert_eq!(sessions.load("used").await, Ok(Some(b"used".to_vec())));
    assert_eq!(sessions.load("idle").await, Ok(None));
}

#[tokio::test]
async fn a_stream_that_was_made_before_its_messages_had_times_lets_them() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    drop(open(&url).await);
    let client = async_nats::connect(fleet.host(0)).await.unwrap();
    let streams = jetstream::new(client);
    let bodies = format!("{}_bodies", url.rsplit('/').next().unwrap());
    let made = streams.get_stream(&bodies).await.unwrap();
    let mut before = made.cached_info().config.clone();
    before.allow_message_ttl = false;
    streams.delete_stream(&bodies).await.unwrap();
    streams.create_stream(before).await.unwrap();
    drop(open(&url).await);
    let now = streams.get_stream(&bodies).await.unwrap();
    assert_eq!(now.cached_info().config, made.cached_info().config);
}

#[tokio::test]
async fn a_name_that_no_header_can_have_is_refused() {
    let Some(fleet) = shared() else {
        return;
    };
    let node = open(&fleet.url()).await;
    let sol = id("sol");
    let mut long = meta(&sol, 1);
    long.name = "\u{1}".repeat(4_097);
    let refused = node.create(long.clone(), Bytes::new()).await;
    assert_eq!(refused, Err(CreateError::TooLarge { max: 4_096 }));
    long.name.pop();
    node.create(long.clone(), Bytes::new()).await.unwrap();
    let mut append = after(0, vec![entry("x")]);
    append.name = Some("ü\r\n\0\"".to_owned());
    node.append(&sol, append).await.unwrap();
    assert_eq!(node.record(&sol).await.unwrap().meta.name, "ü\r\n\0\"");
    let mut append = after(1, vec![entry("x")]);
    append.name = Some("x".repeat(4_097));
    let refused = node.append(&sol, append).await;
    assert_eq!(refused, Err(AppendError::TooLarge { max: 4_096 }));
}

/// A key is noted before its entry, so a note alone says nothing.
#[tokio::test]
async fn keys_are_of_entries_that_are_there() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let (one, other) = (open(&url).await, open(&url).await);
    let sol = id("sol");
    one.create(meta(&sol, 1), Bytes::new()).await.unwrap();
    assert_eq!(other.oldest_keyed(&sol).await, Ok(None));
    let keyed = |key: &str| NewEntry {
        command_id: CommandId::of_key(key).unwrap(),
        at: Timestamp::now(),
        keyed: true,
        ..entry("x")
    };
    let found = async |node: &NatsStore, key: &str| {
        let command = CommandId::of_key(key).unwrap();
        node.landed(&sol, command).await.unwrap().map(|revision| revision.0)
    };
    one.append(&sol, after(0, vec![entry("x"), keyed("a"), entry("x"), keyed("b")])).await.unwrap();
    // Both want to be the fifth, and know no better: one is noted and not there.
    let rivals = [&one, &other].into_iter().zip(["c", "d"]);
    let rivals = rivals.map(|(node, key)| node.append(&sol, after(4, vec![keyed(key)])));
    let answers = join_all(rivals).await;
    let (won, lost, loser) = match answers[0] {
        Ok(_) => ("c", "d", &other),
        Err(_) => ("d", "c", &one),
    };
    assert_eq!((found(&one, won).await, found(&other, lost).await), (Some(5), None));
    loser.append(&sol, after(5, vec![keyed(lost)])).await.unwrap();
    assert_eq!((found(&other, won).await, found(&one, lost).await), (Some(5), Some(6)));
    assert_eq!(found(&other, "a").await, Some(2));
    assert_eq!(one.oldest_keyed(&sol).await, Ok(Some(Revision(2))));
    // What was trimmed is not found any more.
    let base = Base { revision: Revision(2), at: Timestamp::now(), body: Bytes::new() };
    let last = CommandId::of_key("a").unwrap();
    other.trim(&sol, last, base).await.unwrap();
    assert_eq!((found(&one, "a").await, found(&one, "b").await), (None, Some(4)));
    assert_eq!(one.oldest_keyed(&sol).await, Ok(Some(Revision(4))));
}

/// What is known of a universe by one message of a long log among others is found again from any place.
#[tokio::test]
async fn any_place_of_a_long_log_is_found() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let (one, other) = (open(&url).await, open(&url).await);
    let (sol, noise) = (id("sol"), id("noise"));
    for name in [&sol, &noise] {
        one.create(meta(name, 1), Bytes::new()).await.unwrap();
    }
    let mut commands = Vec::new();
    for n in 0..100 {
        // Batches of all sizes, and other messages between them.
        let batch: Vec<_> = (0..1 + n % 7).map(|_| entry("x")).collect();
        let expected = commands.len() as u64;
        commands.extend(batch.iter().map(|entry| entry.command_id));
        one.append(&sol, after(expected, batch)).await.unwrap();
        one.append(&noise, after(n, vec![entry("y")])).await.unwrap();
    }
    for from in (0..commands.len()).step_by(3) {
        let mut tail = other.tail(&sol, Revision(from as u64));
        assert_eq!(next_entry(&mut tail).await.command_id, commands[from]);
    }
}
