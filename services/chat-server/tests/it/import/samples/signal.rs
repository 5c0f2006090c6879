//! sigexport.

use chat_server::model::{AttachmentKind, AttachmentPlace};

use super::super::{Read, options, read};
use super::text;

fn chat(file: &str, text: &str) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("Anna");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
    read(dir.path(), &options()).unwrap()
}

#[test]
fn reactions_are_pairs_or_objects_and_names_have_commas() {
    let lines = r#"{"date":"2023-12-13T18:05:09.500","sender":"Me","body":"a  ","reactions":[["Doe, Jane","👍"],[null,"👍"]]}
{"date":"2023-12-13T18:05:10","sender":"No-Sender","body":"b  ","reactions":[{"name":"Bob","emoji":"😂"}]}"#;
    let read = chat("data.json", lines);
    let given = |at: usize| &read.messages[at].1.reactions[0];
    assert_eq!((given(0).count, given(0).by.as_slice()), (2, &["Doe, Jane".to_owned()][..]));
    assert_eq!(given(1).by, ["Bob"]);
    assert_eq!(read.times()[0], "2023-12-13T18:05:09.5Z");
    assert_eq!(read.senders()[1], "", "nobody");
    let read = chat(
        "chat.md",
        "[2023-12-13 18:05:09] Me: a  \n(- Doe, Jane: 👍, Bob: 😂 -)![a b.jpg](./media/a%20b.jpg)  \n",
    );
    let message = &read.messages[0].1;
    assert_eq!(
        (text(message), message.reactions[0].by.as_slice()),
        ("a", &["Doe, Jane".to_owned()][..])
    );
    assert_eq!(
        message.attachments[0].place,
        AttachmentPlace::Export("Anna/media/a b.jpg".to_owned())
    );
}

#[test]
fn both_files_give_the_same_ids() {
    let json = chat(
        "data.json",
        r#"{"date":"2023-12-13T18:05:09.123456","sender":"Anna","body":"hello  "}"#,
    );
    let markdown = chat("chat.md", "[2023-12-13 18:05:09] Anna: hello  \n");
    assert_eq!(json.messages[0].1.id, markdown.messages[0].1.id);
}

#[test]
fn files_and_stickers_that_are_there_or_gone() {
    let lines = r#"{"date":"2023-12-13T18:05:09","sender":"Anna","body":"","attachments":[{"name":"","path":"","missing_kind":"media"}]}
{"date":"2023-12-13T18:05:10","sender":"Anna","body":"","sticker":{"id":"3","packId":"ab","packKey":"k","emoji":"🎉","extension":"webp"}}
{"date":"2023-12-13T18:05:11","sender":"Anna","body":"Missed voice call  ","call":true,"missed":true}"#;
    let read = chat("data.json", lines);
    let file = |at: usize| &read.messages[at].1.attachments[0];
    assert_eq!(file(0).place, AttachmentPlace::Missing(Some("media".to_owned())));
    assert_eq!((file(1).kind, file(1).name.as_deref()), (AttachmentKind::Sticker, Some("🎉")));
    assert_eq!(file(1).place, AttachmentPlace::Export("exported_stickers/ab/3.webp".to_owned()));
    assert_eq!(read.texts()[2], "Anna: Missed voice call");
    let read = chat(
        "chat.md",
        "[2023-12-13 18:05:09] Anna: (media not exported)  \n[2023-12-13 18:05:10] Anna:   [🎉](../exported_stickers/ab/3.webp)  \n[2023-12-13 18:05:11] Anna:   \n(( 🎉 ))\n[2023-12-13 18:05:12] Anna: see [this](.x) [a](b)  \n",
    );
    let file = |at: usize| &read.messages[at].1.attachments[0];
    assert_eq!(file(0).place, AttachmentPlace::Missing(Some("media".to_owned())));
    assert_eq!(file(1).place, AttachmentPlace::Export("exported_stickers/ab/3.webp".to_owned()));
    assert_eq!((file(2).kind, file(2).name.as_deref()), (AttachmentKind::Sticker, Some("🎉")));
    assert_eq!(read.texts()[3], "see [this](.x) [a](b)");
}

#[test]
fn what_begins_with_an_angle_bracket_is_a_quote_only_on_a_line_of_its_own() {
    let read = chat(
        "chat.md",
        "[2023-12-13 18:05:09] Anna: > mine\n> too\n[2023-12-13 18:05:10] Me: \n\n> > mine\n> > too\n\nyes\n> and this\n",
    );
    assert_eq!(read.texts(), ["> mine\n> too", "yes\n> and this"]);
    assert_eq!(read.messages[1].1.reply_to.as_ref(), Some(&read.messages[0].1.id));
}

#[test]
fn times_with_an_offset_are_moments() {
    let read =
        chat("data.json", r#"{"date":"2023-12-13T18:05:09+02:00","sender":"Anna","body":"x"}"#);
    assert_eq!(read.times(), ["2023-12-13T16:05:09Z"]);
}
