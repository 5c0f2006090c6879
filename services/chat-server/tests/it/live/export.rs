//! Exports as sources.

use std::path::Path;
use std::sync::Arc;

use chat_server::import::{Format, Options};
use chat_server::live::export::Export;
use chat_server::source::{ChatSource as _, Connection};
use jiff::tz::TimeZone;

use super::{Live, hear};

fn source(path: &Path, format: Format, watch: bool) -> Arc<Export> {
    let options = Options {
        zone: TimeZone::UTC,
        day_order: None,
        me: None,
    };
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
        .map(|n| {
            format!(
                "13/12/2023, {:02}:{:02} - Anna: number {n}\n",
                n / 60,
                n % 60
            )
        })
        .collect()
}

#[tokio::test]
async fn an_export_that_grows_or_is_replaced_is_a_stream_without_doubles() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat with Anna.txt");
    std::fs::write(&path, lines(0, 100)).unwrap();
    let live = Live::start(source(&path, Format::WhatsApp, true));
    assert!(live.source.streams());
    let mut follower = live.index.follow_after("chats", 0);
    let mut heard = hear(&mut follower, 100).await;
    // It grows.
    std::fs::write(&path, lines(0, 150)).unwrap();
    heard.extend(hear(&mut follower, 50).await);
    // It is replaced by a later one that begins later.
    let beside = dir.path().join("download");
    std::fs::write(&beside, lines(120, 200)).unwrap();
    std::fs::rename(&beside, &path).unwrap();
    heard.extend(hear(&mut follower, 50).await);
    assert_eq!(heard.len(), 200);
    assert!(heard.values().all(|times| *times == 1));
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
    let mut follower = live.index.follow_after("chats", 0);
    hear(&mut follower, 10).await;
    let sink = live.index.sink("chats");
    export.import(&*sink, true, &live.stop).await.unwrap();
    assert_eq!(
        export
            .progress()
            .borrow()
            .summary
            .as_ref()
            .unwrap()
            .messages,
        10
    );
    let again = source(&path, Format::WhatsApp, false);
    again.import(&*sink, false, &live.stop).await.unwrap();
    assert_eq!(
        again.progress().borrow().summary,
        None,
        "it is the one that was read"
    );
    live.end().await;
}

#[tokio::test]
async fn an_export_that_is_not_there_yet_is_found_when_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let live = Live::start(source(&path, Format::Telegram, true));
    assert!(
        matches!(live.source.connection(), Connection::Disconnected(advice) if advice.contains("export the chat again"))
    );
    let mut follower = live.index.follow_after("chats", 0);
    let whole = r#"{"name":"Anna","type":"personal_chat","id":1,"messages":[
        {"id":1,"type":"message","date_unixtime":"1","from":"Anna","from_id":"user1","text":"one"},
        {"id":2,"type":"message","date_unixtime":"2","from":"Anna","from_id":"user1","text":"two"}]}"#;
    // Half of it first, as a browser writes it.
    std::fs::write(&path, &whole[..whole.len() - 90]).unwrap();
    live.until(|connection| matches!(connection, Connection::Disconnected(advice) if advice.contains("damaged"))).await;
    std::fs::write(&path, whole).unwrap();
    let heard = hear(&mut follower, 2).await;
    assert_eq!(heard.into_values().collect::<Vec<_>>(), [1, 1]);
    live.connected().await;
    live.end().await;
}
