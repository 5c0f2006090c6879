//! Envelopes of signal-cli.

use std::sync::Arc;

use chat_server::live::signal_cli::SignalCli;
use chat_server::model::Body;
use chat_server::source::Connection;
use serde_json::{Value, json};

use crate::fake::signal_daemon::Endpoint;
use crate::import::words;
use crate::live::{Live, collect};

/// What a group's members send, one after the other, in both forms of an envelope.
async fn received(envelopes: &[Value], count: usize) -> Vec<chat_server::model::Message> {
    let mut all = Vec::new();
    for subscribed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
        let source = SignalCli::new("s".to_owned(), "S".to_owned(), endpoint.address(), None);
        let live = Live::start(Arc::new(source));
        let mut follower = live.index.follow().await.unwrap();
        let mut daemon = endpoint.accept().await;
        let lines: String = envelopes
            .iter()
            .map(|envelope| {
                let one = json!({ "envelope": envelope });
                let params =
                    if subscribed { json!({ "subscription": 0, "result": one }) } else { one };
                format!("{}\n", json!({"jsonrpc": "2.0", "method": "receive", "params": params}))
            })
            .collect();
        daemon.write(lines.as_bytes()).await;
        collect(&mut follower, count).await;
        let stored = live.stored().await;
        all.push(stored.into_iter().rev().map(|it| it.message).collect::<Vec<_>>());
        live.end().await;
    }
    let [plain, subscribed] = <[_; 2]>::try_from(all).unwrap();
    assert_eq!(plain, subscribed);
    plain
}

fn from(who: &str, at: i64, mut data: Value) -> Value {
    data["timestamp"] = json!(at);
    data["groupInfo"] = json!({"groupId": "Zm9v", "groupName": "Team"});
    json!({"sourceUuid": who, "sourceName": who, "timestamp": at, "dataMessage": data})
}

/// C10: votes count, the end of a poll and a pin leave a trace.
#[tokio::test]
async fn votes_ends_and_pins_of_signal() {
    let about = |at: i64| json!({"targetAuthorUuid": "Anna", "targetSentTimestamp": at});
    let vote = |who: &str, at: i64, options: &[u64]| {
        let mut vote = about(1);
        vote["optionIndexes"] = json!(options);
        from(who, at, json!({ "pollVote": vote }))
    };
    let envelopes = [
        from("Anna", 1, json!({"pollCreate": {"question": "When?", "options": ["Mon", "Tue"]}})),
        vote("Bert", 2, &[0]),
        vote("Carl", 3, &[0, 1]),
        vote("Bert", 4, &[1]),
        from("Bert", 5, json!({ "pinMessage": about(1) })),
        from("Anna", 6, json!({ "pollTerminate": {"targetSentTimestamp": 1} })),
    ];
    let messages = received(&envelopes, 3).await;
    let Body::Poll { answers, .. } = &messages[0].body else { panic!("{messages:?}") };
    assert_eq!(answers, &[("Mon".to_owned(), Some(1)), ("Tue".to_owned(), Some(2))]);
    let traces: Vec<(&str, Option<&str>)> =
        messages[1..].iter().map(|it| (words(&it.body), it.reply_to.as_deref())).collect();
    let poll = Some("1-Anna");
    assert_eq!(traces, [("Bert: pinned a message", poll), ("Anna: ended the poll", poll)]);
}

#[tokio::test]
async fn envelopes_that_others_have_reported() {
    let sent = json!({"destinationUuid": "me", "destinationNumber": "+358401234567", "timestamp": 4, "message": "Foo"});
    let envelopes = [
        // AsamK/signal-cli#1980: a mention without whom it is of.
        from("Anna", 1, json!({"message": "/slap \u{fffc}"})),
        // One with its place, behind an emoji of two units.
        from(
            "Anna",
            2,
            json!({"message": "👋 \u{fffc}!", "mentions": [{"name": "Bert", "start": 3, "length": 1}]}),
        ),
        // In another order than in the text, and one that claims to reach beyond its end.
        from(
            "Anna",
            5,
            json!({"message": "\u{fffc}, ask \u{fffc} now", "mentions": [
                {"name": "Bert", "start": 7, "length": u64::MAX}, {"name": "Carl", "start": 0, "length": 1}]}),
        ),
        // AsamK/signal-cli#1959: an answer that does not say to what.
        from("Anna", 3, json!({"message": "yes", "quote": {}})),
        // bbernhard/signal-cli-rest-api#680: a note to oneself.
        json!({"sourceUuid": "me", "sourceNumber": "+358401234567", "sourceName": "Me", "timestamp": 4,
            "syncMessage": {"sentMessage": sent}}),
    ];
    let messages = received(&envelopes, 5).await;
    let said: Vec<&str> = messages.iter().map(|it| words(&it.body)).collect();
    assert_eq!(said, ["/slap \u{fffc}", "👋 @Bert!", "yes", "Foo", "@Carl, ask @Bert"]);
    assert!(messages[3].sender.as_ref().unwrap().is_me);
    assert_eq!(messages[2].reply_to, None);
}

/// AsamK/signal-cli#1313, #1923, #1953, #2002, #2104: envelopes without words leave nothing; styles, answers to
/// stories, edits and reactions keep their words, and a sender without a name has a number.
#[tokio::test]
async fn envelopes_with_and_without_words() {
    let bare = |members: Value| {
        let mut envelope = json!({"sourceUuid": "Anna", "sourceName": "Anna", "timestamp": 9});
        envelope.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        envelope
    };
    let envelopes = [
        bare(json!({"receiptMessage": {"when": 9, "isDelivery": true, "timestamps": [1]}})),
        bare(json!({"typingMessage": {"action": "STARTED", "timestamp": 9}})),
        bare(json!({"syncMessage": {"readMessages": [{"sender": "Anna", "timestamp": 1}]}})),
        bare(json!({"syncMessage": {"type": "CONTACTS_SYNC"}})),
        bare(json!({"syncMessage": {}})),
        bare(
            json!({"storyMessage": {"allowsReplies": true, "textAttachment": {"text": "a story"}}}),
        ),
        bare(json!({"callMessage": {"hangupMessage": {"id": 1, "type": "NORMAL"}}})),
        bare(json!({})),
        from("Anna", 8, json!({"message": null, "expiresInSeconds": 0})),
        from(
            "Anna",
            10,
            json!({"message": "bold words", "textStyles": [{"style": "BOLD", "start": 0, "length": 4}]}),
        ),
        from(
            "Anna",
            11,
            json!({"message": "nice story", "storyContext": {"authorUuid": "me", "sentTimestamp": 3}}),
        ),
        from("Anna", 12, json!({"message": "wrong"})),
        bare(json!({"timestamp": 13, "editMessage": {"targetSentTimestamp": 12, "dataMessage":
            {"timestamp": 13, "message": "right", "groupInfo": {"groupId": "Zm9v", "groupName": "Team"}}}})),
        from(
            "Bert",
            14,
            json!({"reaction": {"emoji": "👍", "targetAuthorUuid": "Anna", "targetSentTimestamp": 12, "isRemove": false}}),
        ),
        json!({"sourceNumber": "+358401234567", "timestamp": 15, "dataMessage":
            {"timestamp": 15, "message": "who am I", "groupInfo": {"groupId": "Zm9v", "groupName": "Team"}}}),
    ];
    let messages = received(&envelopes, 4).await;
    let said: Vec<&str> = messages.iter().map(|it| words(&it.body)).collect();
    assert_eq!(said, ["bold words", "nice story", "right", "who am I"]);
    assert!(messages[2].edited.is_some());
    assert_eq!(messages[2].reactions[0].by, ["Bert"]);
    assert_eq!(messages[3].sender.as_ref().unwrap().name, "+358401234567");
}

/// bbernhard/signal-cli-rest-api#797, AsamK/signal-cli#1585, #1532, #636: what signal-cli cannot decrypt leaves a
/// trace, which the same message replaces when it is sent again; what came twice was read.
#[tokio::test]
async fn what_cannot_be_decrypted_leaves_a_trace() {
    let fault = |at: i64, kind: &str| {
        let envelope = json!({"sourceUuid": "Anna", "sourceName": "Anna", "timestamp": at});
        json!({"envelope": envelope, "exception": {"message": "?", "type": kind}})
    };
    let direct = |at: i64, words: &str| {
        json!({"envelope": {"sourceUuid": "Anna", "sourceName": "Anna", "timestamp": at,
            "dataMessage": {"timestamp": at, "message": words}}})
    };
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let source = SignalCli::new("s".to_owned(), "S".to_owned(), endpoint.address(), None);
    let live = Live::start(Arc::new(source));
    let mut follower = live.index.follow().await.unwrap();
    let mut daemon = endpoint.accept().await;
    let lost = "ProtocolInvalidMessageException";
    for params in [
        fault(1, lost),
        fault(2, lost),
        direct(2, "sent again"),
        direct(3, "once"),
        fault(3, "ProtocolDuplicateMessageException"),
        direct(4, "last"),
    ] {
        let line = json!({"jsonrpc": "2.0", "method": "receive", "params": params});
        daemon.write(format!("{line}\n").as_bytes()).await;
    }
    while !collect(&mut follower, 1).await.contains_key("4-Anna") {}
    let stored = live.stored().await;
    let said: Vec<&str> = stored.iter().rev().map(|it| words(&it.message.body)).collect();
    assert_eq!(said, ["Anna: signal-cli could not read a message", "sent again", "once", "last"]);
    live.end().await;
}

/// AsamK/signal-cli#1448, #1884, #2078, FerroxLabs/wayland#427: a daemon that does not serve the account refuses what
/// is asked and never sends anything. One that was started for a single account may refuse, and sends.
#[tokio::test]
async fn a_daemon_that_does_not_serve_the_account_is_not_connected() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let account = Some("+9".to_owned());
    let source = SignalCli::new("s".to_owned(), "S".to_owned(), endpoint.address(), account);
    let live = Live::start(Arc::new(source));
    let mut daemon = endpoint.meet().await;
    for request in daemon.requests().await {
        let error = json!({"code": -32602, "message": "Specified account does not exist"});
        let line = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        daemon.write(format!("{line}\n").as_bytes()).await;
    }
    let refuses = |connection: &Connection| matches!(connection, Connection::Disconnected(why) if why.contains("(Specified account does not exist): set account"));
    live.until(refuses).await;
    daemon.send(from("Anna", 1, json!({"message": "after all"}))).await;
    live.connected().await;
    live.end().await;
}
