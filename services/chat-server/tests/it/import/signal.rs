//! The folder of sigexport, in both of its forms.

use std::fs;

use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind};
use serde_json::json;

use super::{Read, options, read};

fn chat(file: &str, text: &str) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("Anna");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(file), text).unwrap();
    read(dir.path(), &options()).unwrap()
}

#[test]
fn objects_line_by_line() {
    let read = chat(
        "data.json",
        r#"{"date":"2023-12-13 18:05:09","sender":"Anna","body":"hello","quote":"","sticker":"","reactions":[{"name":"Me","emoji":"👍"},{"name":"Bert","emoji":"👍"}],"attachments":[{"name":"a.jpg","path":"./media/a.jpg","missing_kind":null}]}
{"date":"2023-12-13 18:06:00","sender":"Me","body":"hi","quote":"\n>\n> hello\n>\n"}
{"date":"2023-12-13 18:07:00","sender":"Anna","body":"","call":true,"missed":true}
not an object
{"date":"2023-12-13 18:08:00","sender":"Anna","body":"","deleted":true,"attachments":[{"name":"b.ogg","path":null,"missing_kind":"expired"}]}
"#,
    );
    assert_eq!(read.texts(), ["hello", "hi", "Anna: missed call", ""]);
    assert_eq!(read.chats[0].kind, ChatKind::Direct);
    let message = |at: usize| &read.messages[at].1;
    assert_eq!((message(0).reactions[0].count, message(0).reactions[0].by.len()), (2, 2));
    assert_eq!(
        message(0).attachments[0].place,
        AttachmentPlace::Export("Anna/media/a.jpg".to_owned())
    );
    assert_eq!(message(1).reply_to.as_ref(), Some(&message(0).id));
    assert!(
        message(1).sender.as_ref().unwrap().is_me && !message(0).sender.as_ref().unwrap().is_me
    );
    assert!(matches!(&message(2).body, Body::Service { action, .. } if action == "missed_call"));
    assert!(message(3).deleted);
    assert_eq!(message(3).attachments[0].kind, AttachmentKind::Audio);
    assert_eq!(
        message(3).attachments[0].place,
        AttachmentPlace::Missing(Some("expired".to_owned()))
    );
    assert_eq!(read.summary.skipped, 1);
}

#[test]
fn markdown_of_older_versions() {
    let read = chat(
        "chat.md",
        "[2023-12-13, 18:05] Anna: hello  \nand more  \n[2023-12-13 18:06:01] Me:   \n> \n> hello\n> and more\n> \nyes ![a.jpg](./media/a.jpg)  \n\
         (- Anna: 👍, Bert: 😂 -)  \n[2023-12-13 18:07:00] Bert: (This message was deleted)  \n",
    );
    assert_eq!(read.texts(), ["hello\nand more", "yes", ""]);
    assert_eq!(
        read.times(),
        ["2023-12-13T18:05:00Z", "2023-12-13T18:06:01Z", "2023-12-13T18:07:00Z"]
    );
    let message = |at: usize| &read.messages[at].1;
    assert_eq!(message(1).reply_to.as_ref(), Some(&message(0).id));
    assert_eq!(
        message(1).attachments[0].place,
        AttachmentPlace::Export("Anna/media/a.jpg".to_owned())
    );
    assert_eq!(message(1).reactions.iter().map(|it| &*it.emoji).collect::<Vec<_>>(), ["👍", "😂"]);
    assert!(message(2).deleted);
    assert_eq!(read.chats[0].kind, ChatKind::Group);
}

/// What a message says now is what it is, and not another message beside it.
#[test]
fn messages_that_were_edited_or_taken_back_are_the_same_ones() {
    let line = |second: u32, body: &str, deleted: bool| {
        let date = format!("2023-12-13 18:05:{second:02}");
        format!("{}\n", json!({"date": date, "sender": "Anna", "body": body, "deleted": deleted}))
    };
    let ids = |read: &Read| -> Vec<String> {
        let messages = read.messages.iter();
        messages.map(|(_, message)| message.id.clone()).collect()
    };
    let before = [
        line(1, "a", false),
        line(1, "b", false),
        line(2, "secret", false),
        line(3, "typo", false),
    ];
    let after =
        [line(1, "a", false), line(1, "b", false), line(2, "", true), line(3, "right", false)];
    let (before, after) = (chat("data.json", &before.concat()), chat("data.json", &after.concat()));
    assert_eq!(ids(&before), ids(&after));
    assert_ne!(ids(&before)[0], ids(&before)[1]);
    assert!(after.messages[2].1.deleted);
    let markdown = chat(
        "chat.md",
        "[2023-12-13 18:05:01] Anna: a\n[2023-12-13 18:05:01] Anna: b\n\
         [2023-12-13 18:05:02] Anna: (This message was deleted)\n[2023-12-13 18:05:03] Anna: right\n",
    );
    assert_eq!(ids(&markdown), ids(&after));
}
