//! Exports as sources.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use chat_server::import::{Format, MAX_MESSAGE_BYTES, Options};
use chat_server::live::export::Export;
use chat_server::source::{Batch, ChatSource as _, Connection, Event, Sink, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{LONG, Live, collect};

fn source(path: &Path, format: Format, watch: bool) -> Arc<Export> {
    let options = Options { zone: TimeZone::UTC, day_order: None, me: None };
    Arc::new(Export::new(
        "chats".to_owned(),
        "Chats".to_owned(),
        format,
        path.to_owned(),
        watch,
        options,
    ))
}

fn lines(from: usize, to: usize) -> String {
    (from..to)
        .map(|n| format!("13/12/2023, {:02}:{:02} - Anna: number {n}\n", n / 60, n % 60))
        .collect()
}

#[tokio::test]
async fn an_export_that_grows_or_is_replaced_is_a_stream_without_doubles() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat with Anna.txt");
    std::fs::write(&path, lines(0, 100)).unwrap();
    let live = Live::start(source(&path, Format::WhatsApp, true));
    assert!(live.source.streams());
    let mut follower = live.index.follow_from_start();
    let mut received = collect(&mut follower, 100).await;
    // It grows.
    std::fs::write(&path, lines(0, 150)).unwrap();
    received.extend(collect(&mut follower, 50).await);
    // It is replaced by a later one that begins later.
    let beside = dir.path().join("download");
    std::fs::write(&beside, lines(120, 200)).unwrap();
    std::fs::rename(&beside, &path).unwrap();
    received.extend(collect(&mut follower, 50).await);
    assert_eq!(received.len(), 200);
    assert!(received.values().all(|times| *times == 1));
    live.end().await;
}

#[tokio::test]
async fn an_export_that_was_read_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat with Anna.txt");
    std::fs::write(&path, lines(0, 10)).unwrap();
    let export = source(&path, Format::WhatsApp, false);
    assert!(!export.streams());
    let live = Live::start(Arc::clone(&export) as _);
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, 10).await;
    let sink = live.index.sink("chats");
    export.import(&*sink, true, &live.stop).await.unwrap();
    assert_eq!(export.progress().borrow().summary.as_ref().unwrap().messages, 10);
    let again = source(&path, Format::WhatsApp, false);
    again.import(&*sink, false, &live.stop).await.unwrap();
    assert_eq!(again.progress().borrow().summary, None, "it is the one that was read");
    live.end().await;
}

#[tokio::test]
async fn an_export_that_is_not_there_yet_is_found_when_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let live = Live::start(source(&path, Format::Telegram, true));
    assert!(
        matches!(live.source.head().connection(), Connection::Disconnected(advice) if advice.contains("export the chat again"))
    );
    let mut follower = live.index.follow_from_start();
    let whole = r#"{"name":"Anna","type":"personal_chat","id":1,"messages":[
        {"id":1,"type":"message","date_unixtime":"1","from":"Anna","from_id":"user1","text":"one"},
        {"id":2,"type":"message","date_unixtime":"2","from":"Anna","from_id":"user1","text":"two"}]}"#;
    // Half of it first, as a browser writes it.
    std::fs::write(&path, &whole[..whole.len() - 90]).unwrap();
    live.connected().await;
    std::fs::write(&path, whole).unwrap();
    let received = collect(&mut follower, 2).await;
    assert_eq!(received.into_values().collect::<Vec<_>>(), [1, 1]);
    live.connected().await;
    live.end().await;
}

/// Keeps nothing, and looks at how large what it gets is.
#[derive(Default)]
struct Scale(Mutex<Vec<(usize, usize)>>);

impl Sink for Scale {
    fn keep(&self, batch: Batch) -> BoxFuture<'_, Result<(), SourceError>> {
        let bytes = batch.events.iter().map(Event::bytes).sum();
        self.0.lock().unwrap().push((batch.events.len(), bytes));
        async { Ok(()) }.boxed()
    }

    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>> {
        async { Ok(None) }.boxed()
    }
}

/// Whatever the bytes are in, a thousand messages do not come at once if they are large.
#[tokio::test]
async fn batches_are_small_whatever_messages_are_made_of() {
    let large = "x".repeat(100_000);
    for member in [
        json!({"poll": {"question": large, "answers": []}}),
        json!({"poll": {"question": "?", "answers": [{"text": large}]}}),
        json!({"from": large}),
        json!({"forwarded_from": large}),
        json!({"file": large, "file_name": large, "mime_type": large}),
        json!({"contact_information": {"first_name": large}}),
        json!({"reactions": [{"type": "emoji", "emoji": large, "count": 1}]}),
    ] {
        let messages: Vec<Value> = (0..50)
            .map(|id| {
                let mut message = json!({"id": id, "type": "message", "date_unixtime": "1", "from": "A", "from_id": "user1", "text": ""});
                let members = member.as_object().unwrap().clone();
                message.as_object_mut().unwrap().extend(members);
                message
            })
            .collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("result.json");
        let chat = json!({"name": "A", "type": "personal_chat", "id": 1, "messages": messages});
        std::fs::write(&path, in_order(&chat)).unwrap();
        let (scale, stop) = (Scale::default(), CancellationToken::new());
        let export = source(&path, Format::Telegram, false);
        export.import(&scale, false, &stop).await.unwrap();
        let batches = scale.0.into_inner().unwrap();
        assert!(
            batches.iter().all(|(_, bytes)| *bytes <= 4 * 1024 * 1024),
            "{member:.40}: {batches:?}"
        );
        let events: usize = batches.iter().map(|(events, _)| events).sum();
        assert_eq!(events, 51);
    }
}

/// As Telegram writes it: what a chat says of itself before its messages.
fn in_order(chat: &Value) -> String {
    format!(
        r#"{{"name":{},"type":{},"id":{},"messages":{}}}"#,
        chat["name"], chat["type"], chat["id"], chat["messages"]
    )
}

/// What is nearly too large, behind others, and what becomes too large as text: bytes that are none take three each.
#[tokio::test]
async fn a_message_that_is_too_large_costs_no_other_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat with Anna.txt");
    let line = |text: &[u8]| [b"13/12/2023, 18:05 - Anna: ", text, b"\n"].concat();
    let mut text = lines(0, 9).into_bytes();
    for _ in 0..9 {
        text.extend(line(&[b'x'; 100_000]));
    }
    text.extend(line(&vec![b'y'; MAX_MESSAGE_BYTES - 1_000]));
    text.extend(line(&vec![0xff; MAX_MESSAGE_BYTES / 2]));
    text.extend(line(b"last"));
    std::fs::write(&path, text).unwrap();
    let export = source(&path, Format::WhatsApp, false);
    let live = Live::start(Arc::clone(&export) as _);
    tokio::time::timeout(LONG, export.settled()).await.unwrap();
    live.connected().await;
    let progress = export.progress().borrow().clone();
    let summary = progress.summary.expect("it was read to its end");
    assert_eq!((summary.messages, summary.skipped), (20, 1));
    assert!(summary.warnings[0].contains("larger than"), "{summary:?}");
    assert_eq!(live.index.sources().await.unwrap()[0].messages, 20);
    live.end().await;
}

/// Takes nothing so many times, then everything.
struct Shy(AtomicUsize);

impl Sink for Shy {
    fn keep(&self, _: Batch) -> BoxFuture<'_, Result<(), SourceError>> {
        let refuses = self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        let kept = match refuses {
            Ok(_) => Err(SourceError("the disk is full".to_owned())),
            Err(_) => Ok(()),
        };
        async { kept }.boxed()
    }

    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>> {
        async { Ok(None) }.boxed()
    }
}

/// It would wait for the export to change, which has nothing to do with it.
#[tokio::test]
async fn what_the_index_did_not_take_is_tried_again_though_the_export_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat with Anna.txt");
    std::fs::write(&path, lines(0, 10)).unwrap();
    let (sink, stop) = (Arc::new(Shy(AtomicUsize::new(1))), CancellationToken::new());
    let export = source(&path, Format::WhatsApp, true);
    let run = Arc::clone(&export).run(Arc::clone(&sink) as _, stop.clone());
    let ended = tokio::time::timeout(LONG, run).await.expect("it ends");
    assert_eq!(ended.unwrap_err().0, "the disk is full");
    // Run again, it is read.
    let run = tokio::spawn(Arc::clone(&export).run(sink, stop.clone()));
    let mut progress = export.progress();
    let read = progress.wait_for(|progress| progress.summary.is_some());
    tokio::time::timeout(LONG, read).await.unwrap().unwrap();
    stop.cancel();
    run.await.unwrap().unwrap();
}

/// Who runs it tries again from time to time: a large export is not read through each time.
#[tokio::test]
async fn what_is_damaged_is_not_read_again_before_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let message =
        r#"{"id":1,"type":"message","date_unixtime":"1","from":"A","from_id":"user1","text":"hi"}"#;
    let half = r#"{"name":"A","type":"personal_chat","id":1,"messages":["#;
    std::fs::write(&path, half).unwrap();
    let export = source(&path, Format::Telegram, false);
    let (scale, stop) = (Scale::default(), CancellationToken::new());
    let first = export.import(&scale, false, &stop).await.unwrap_err();
    assert!(first.0.contains("damaged"), "{first}");
    let kept = |scale: &Scale| scale.0.lock().unwrap().len();
    assert_eq!(kept(&scale), 0);
    let second = export.import(&scale, false, &stop).await.unwrap_err();
    assert_eq!((second, kept(&scale)), (first, 0));
    // Unless somebody asks for it, or it is another one.
    export.import(&scale, true, &stop).await.unwrap_err();
    assert_eq!(kept(&scale), 0);
    std::fs::write(&path, format!("{half}{message}]}}")).unwrap();
    export.import(&scale, false, &stop).await.unwrap();
    assert_eq!(kept(&scale), 2);
}
