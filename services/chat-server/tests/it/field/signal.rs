//! Signal's own export, and envelopes of signal-cli.

use serde_json::{Value, json};

use crate::import::{Read, read_text};

const HEAD: &str = r#"{"version":"1","backupTimeMs":"1700000000000"}
{"recipient":{"id":"1","self":{}}}
{"recipient":{"id":"2","contact":{"aci":"AAAAAAAAAAAAAAAAAAAAAQ==","profileGivenName":"Anna"}}}
{"recipient":{"id":"3","contact":{"aci":"AAAAAAAAAAAAAAAAAAAAAg==","profileGivenName":"Bob"}}}
{"chat":{"id":"5","recipientId":"2"}}
"#;

fn said(members: &Value) -> Read {
    let mut item =
        json!({"chatId": "5", "authorId": "3", "dateSent": "1700000000000", "incoming": {}});
    item.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    read_text("main.jsonl", &format!("{HEAD}{}\n", json!({ "chatItem": item })))
}

/// C9 and C10: who was mentioned, what was changed, what a poll was about, where a text goes on.
#[test]
fn what_was_said_and_changed_is_kept() {
    let anna = "AAAAAAAAAAAAAAAAAAAAAQ==";
    let cases = [
        (
            "a mention behind an emoji, by position",
            json!({"standardMessage": {"text": {"body": "👋 \u{fffc} look", "bodyRanges": [{"start": 3, "length": 1, "mentionAci": anna}]}}}),
            "👋 @Anna look",
        ),
        (
            "a mention at the beginning, whose start is left out",
            json!({"standardMessage": {"text": {"body": "\u{fffc} look", "bodyRanges": [{"length": 1, "mentionAci": anna}]}}}),
            "@Anna look",
        ),
        (
            "the name of a group",
            json!({"updateMessage": {"groupChange": {"updates": [{"groupNameUpdate": {"updaterAci": "AAAAAAAAAAAAAAAAAAAAAg==", "newGroupName": "Crew"}}]}}}),
            "Bob:  group change  group name update: Crew",
        ),
        (
            "who was added",
            json!({"updateMessage": {"groupChange": {"updates": [{"groupMemberAddedUpdate": {"updaterAci": "AAAAAAAAAAAAAAAAAAAAAg==", "newMemberAci": anna}}]}}}),
            "Anna",
        ),
        (
            "the end of a poll",
            json!({"updateMessage": {"pollTerminate": {"targetSentTimestamp": "1700000000000", "question": "When?"}}}),
            "When?",
        ),
        (
            "a kind that is not known",
            json!({"somethingNewMessage": {"text": {"body": "words"}}}),
            "[something new message] words",
        ),
        (
            "a text that goes on in a file",
            json!({"standardMessage": {"text": {"body": "begins"}, "longText": {"contentType": "text/x-signal-plain"}}}),
            "begins […]",
        ),
    ];
    for (what, members, expected) in cases {
        let read = said(&members);
        let words = read.texts()[0].replace("  ", " ");
        assert!(words.contains(&expected.replace("  ", " ")), "{what}: {words:?}");
    }
    let call = json!({"updateMessage": {"individualCall": {"callId": "123", "type": "AUDIO_CALL", "direction": "INCOMING", "state": "ACCEPTED", "startedCallTimestamp": "1700000000000"}}});
    assert!(!said(&call).texts()[0].contains("1700"), "{:?}", said(&call).texts());
}
