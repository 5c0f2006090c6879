//! Exports of WhatsApp.

use chat_server::model::{Body, Message};

use crate::import::{Read, read_text, words};

/// A thread, the name of the file, its text, and each message: its sender and what it says.
type Case = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const WITH_ANN: &str = "WhatsApp Chat with Ann.txt";

const CASES: [Case; 33] = [
    ("gesiscss/WhatsR#32", WITH_ANN, "[01-29-2018, 23:33:00] Ann: hi\n", &[("Ann", "hi")]),
    (
        "mtln/chat-export#16",
        "WhatsApp Sohbeti - Ann.txt",
        "[13.12.2023 18:05:09] Ann: selam\n",
        &[("Ann", "selam")],
    ),
    ("rodrigogs/whats-reader#78", WITH_ANN, "[05.08.23, 5:52:02 PM] Ann: hi\n", &[("Ann", "hi")]),
    (
        "rodrigogs/whats-reader#78, Spanish",
        "Chat de WhatsApp con Ann.txt",
        "13/12/23, 6:05 p. m. - Ann: hola\n",
        &[("Ann", "hola")],
    ),
    (
        "gesiscss/WhatsR#33",
        "WhatsApp-Chat mit Ann.txt",
        "13.12.23, 18:05 - Ann hat die Gruppe „Boot“ erstellt\n13.12.23, 18:06 - Ann: hallo\n",
        &[("", "Ann hat die Gruppe „Boot“ erstellt"), ("Ann", "hallo")],
    ),
    (
        "mrmelon54#4",
        "WhatsApp-chat met Ann.txt",
        "13-12-2023 18:05 - Ann: hoi\n13-12-2023 18:06 - Ann: <Media weggelaten>\n",
        &[("Ann", "hoi"), ("Ann", "")],
    ),
    (
        "mazen160#3",
        WITH_ANN,
        "[13/12/2023, 18:05:09] Ann: x.pdf • 14 pages \u{200e}document omitted\n",
        &[("Ann", "")],
    ),
    ("mowolf#11", WITH_ANN, "13/12/2023 à 18:05 - Ann: salut\n", &[("Ann", "salut")]),
    ("ChatLab#129", WITH_ANN, "13/12/2023, 6:05\u{202f}pm - Ann: hi\n", &[("Ann", "hi")]),
    ("ChatLab#131", WITH_ANN, "2023/12/13 下午6:05 - Ann: 你好\n", &[("Ann", "你好")]),
    (
        "mtln/chat-export#13",
        "WhatsApp-Chat with School 2025_2026.txt",
        "13/12/2023, 18:05 - Ann: hi\n",
        &[("Ann", "hi")],
    ),
    // Joined by hand: a second telephone wrote the rest.
    (
        "two shapes in one file",
        WITH_ANN,
        "13/12/2023, 18:05 - Ann: one\n13/12/2023, 18:06 - Bob: two\n\
         [14/12/2023, 18:05:09] Ann: three\n[14/12/2023, 18:06:09] Bob: four\n[14/12/2023, 18:07:09] Ann: five\n",
        &[("Ann", "one"), ("Bob", "two"), ("Ann", "three"), ("Bob", "four"), ("Ann", "five")],
    ),
    (
        "a quoted chat stays a text",
        WITH_ANN,
        "13/12/2023, 18:05 - Ann: look:\n[14/12/2022, 18:05:09] Ann: a\n[14/12/2022, 18:05:10] Bob: b\n\
         [14/12/2022, 18:05:11] Ann: c\n13/12/2023, 18:06 - Bob: ok\n",
        &[
            (
                "Ann",
                "look:\n[14/12/2022, 18:05:09] Ann: a\n[14/12/2022, 18:05:10] Bob: b\n[14/12/2022, 18:05:11] Ann: c",
            ),
            ("Bob", "ok"),
        ],
    ),
    (
        "lucasrodes/whatstk#147",
        "WhatsApp Chat with Com One.txt",
        "04/03/2024, 22:29 - +44 7700 900111 added you to a group in the community: Com One\n04/03/2024, 22:30 - Ann: hi\n",
        &[("", "+44 7700 900111 added you to a group in the community: Com One"), ("Ann", "hi")],
    ),
    (
        "lucasrodes/whatstk#147, German",
        "WhatsApp-Chat mit Boot.txt",
        "04.03.24, 22:29 - Ann hat den Gruppennamen geändert: Boot\n04.03.24, 22:30 - Ann: hi\n",
        &[("", "Ann hat den Gruppennamen geändert: Boot"), ("Ann", "hi")],
    ),
    (
        "lucasrodes/whatstk#147, a language without words",
        "Boot.txt",
        "04.03.24, 22:29 - Ann ondrede la nomon al: Boot\n04.03.24, 22:30 - Ann: saluton\n",
        &[("", "Ann ondrede la nomon al: Boot"), ("Ann", "saluton")],
    ),
    (
        "w22, a subject in quotes",
        "WhatsApp Chat with Crew.txt",
        "04/03/2024, 22:29 - Ann changed the subject from \"a: b\" to \"c: d\"\n04/03/2024, 22:30 - Ann: hi\n",
        &[("", "Ann changed the subject from \"a: b\" to \"c: d\""), ("Ann", "hi")],
    ),
    (
        "w23, a description",
        "WhatsApp Chat with Crew.txt",
        "04/03/2024, 22:29 - Ann changed the group description to: sails only\n04/03/2024, 22:30 - Ann: hi\n",
        &[("", "Ann changed the group description to: sails only"), ("Ann", "hi")],
    ),
    (
        "w32, a French poll",
        "Discussion WhatsApp avec Ann.txt",
        "13/12/2023, 18:05 - Ann: SONDAGE :\nQuand ?\nOPTION : Lundi (2 votes)\nOPTION : Mardi (0 vote)\n",
        &[("Ann", "Quand ?")],
    ),
    (
        "w8, an edit mark in Danish, without a sign before it",
        "Snak.txt",
        "13.12.2023 18.05 - Ann: hej igen <Denne besked blev redigeret>\n",
        &[("Ann", "hej igen")],
    ),
    (
        "w9, in Finnish",
        "WhatsApp-keskustelu: Ann.txt",
        "13.12.2023 klo 18.05 - Ann: moi <Tätä viestiä muokattiin>\n",
        &[("Ann", "moi")],
    ),
    (
        "w9, in Japanese",
        "Ann.txt",
        "2023/12/13 18:05 - Ann: どうも <このメッセージは編集済みです>\n",
        &[("Ann", "どうも")],
    ),
    (
        "where the words are known others stay",
        WITH_ANN,
        "13/12/2023, 18:05 - Ann: I read <Great Expectations>\n",
        &[("Ann", "I read <Great Expectations>")],
    ),
    (
        "alignerg/lappers-posts#133",
        "WhatsApp Chat - Crew.txt",
        "[13/12/2023, 18:05:09] Crew: \u{200e}Messages and calls are end-to-end encrypted.\n[13/12/2023, 18:06:09] Ann: hi\n",
        &[("Crew", "Messages and calls are end-to-end encrypted."), ("Ann", "hi")],
    ),
    ("w21", WITH_ANN, "13/12/23, 7:35 pm - Ann: late\n", &[("Ann", "late")]),
    (
        "w24, Spanish lines with a colon",
        "Chat de WhatsApp con Ann.txt",
        "13/12/23, 18:05 - Ann: ubicación: https://maps.google.com/?q=1.5,2.5\n",
        &[("Ann", "[place]")],
    ),
    (
        "Pustur/whatsapp-chat-parser#261",
        WITH_ANN,
        "[13/12/2023, 18:05:09] Ann: our boat \u{200e}<attached: 00000042-PHOTO-2023-12-13-18-05-09.jpg>\n",
        &[("Ann", "our boat")],
    ),
    (
        "KnugiHK/WhatsApp-Chat-Exporter#196",
        WITH_ANN,
        "[13/12/2023, 18:05:09] Ann: Invoice March.pdf \u{200e}<attached: 00000012-Invoice March.pdf>\n",
        &[("Ann", "")],
    ),
    ("w28, Arabic digits", WITH_ANN, "١٣/١٢/٢٠٢٣، ١٨:٠٥ - Ann: سلام\n", &[("Ann", "سلام")]),
    ("w29", WITH_ANN, "13/12/2023, 18:05 - Meta AI: I can help\n", &[("Meta AI", "I can help")]),
    ("w30", WITH_ANN, "[13/12/2023, 18:05:09] ~ Ann B: hi\n", &[("Ann B", "hi")]),
    (
        "w31, isolates",
        WITH_ANN,
        "[13/12/2023, 18:05:09] Ann: @\u{2068}Bob\u{2069} look\n",
        &[("Ann", "@Bob look")],
    ),
    (
        "imessage-exporter#214",
        "Ann.txt",
        "[12/13/23, 6:05:09 PM] Ann: blue\n[12/13/23, 6:05:19 PM] Me: green\n",
        &[("Ann", "blue"), ("Me", "green")],
    ),
];

fn sender(message: &Message) -> &str {
    message.sender.as_ref().map_or("", |sender| &sender.name)
}

/// The case of this thread, read.
fn case(thread: &str) -> Read {
    let (_, file, text, _) = CASES.into_iter().find(|(known, ..)| *known == thread).unwrap();
    read_text(file, text)
}

#[test]
fn each_export_is_read_as_it_was_meant() {
    for (thread, file, text, expected) in CASES {
        let read = read_text(file, text);
        let found: Vec<(&str, &str)> =
            read.messages.iter().map(|(_, it)| (sender(it), words(&it.body))).collect();
        assert_eq!(found, expected, "{thread}");
        assert_eq!(read.summary.skipped, 0, "{thread}");
    }
    // The name of the chat, which a tool has written with other signs between the words.
    let named = case("mtln/chat-export#13");
    assert_eq!(named.chats[0].name, "School 2025_2026", "mtln/chat-export#13");
    let title = case("KnugiHK/WhatsApp-Chat-Exporter#196");
    assert_eq!(title.messages[0].1.attachments[0].name.as_deref(), Some("Invoice March.pdf"));
    let poll = case("w32, a French poll");
    let Body::Poll { answers, .. } = &poll.messages[0].1.body else { panic!("{poll:?}") };
    assert_eq!(answers, &[("Lundi".to_owned(), Some(2)), ("Mardi".to_owned(), Some(0))]);
    for thread in [
        "w8, an edit mark in Danish, without a sign before it",
        "w9, in Finnish",
        "w9, in Japanese",
    ] {
        assert!(case(thread).messages[0].1.edited.is_some(), "{thread}");
    }
}

fn ids(read: &Read) -> Vec<&str> {
    let mut ids: Vec<&str> = read.messages.iter().map(|(_, it)| &*it.id).collect();
    ids.sort_unstable();
    ids
}

/// C18: a German Android telephone and an English iPhone give one chat the same messages.
#[test]
fn another_telephone_and_another_language_double_nothing() {
    let german = "13.12.23, 18:05 - Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.\n\
        13.12.23, 18:06 - Ann: hallo\n13.12.23, 18:07 - Ann: Diese Nachricht wurde gelöscht.\n\
        13.12.23, 18:08 - Ann: Standort: https://maps.google.com/?q=60.17,24.94\n\
        13.12.23, 18:09 - Ann: <Medien ausgeschlossen>\n";
    let english = "[13/12/2023, 18:05:01] Ann: \u{200e}Messages and calls are end-to-end encrypted.\n\
        [13/12/2023, 18:06:02] Ann: hallo\n[13/12/2023, 18:07:03] Ann: \u{200e}This message was deleted.\n\
        [13/12/2023, 18:08:04] Ann: \u{200e}Location: https://maps.google.com/?q=60.170000,24.940000\n\
        [13/12/2023, 18:09:05] Ann: \u{200e}image omitted\n";
    let one = read_text("WhatsApp-Chat mit Ann.txt", german);
    let other = read_text("WhatsApp Chat - Ann.txt", english);
    assert_eq!((ids(&one).len(), ids(&one)), (5, ids(&other)));
    assert_eq!(one.summary.languages.iter().collect::<Vec<_>>(), ["de"]);
}

/// Pustur/whatsapp-chat-parser#258: an editor has lost the marks before the notices.
#[test]
fn a_group_does_not_write() {
    let text = "[14.08.2024, 21:00:10] Crew: Messages and calls are end-to-end encrypted.\n[14.08.2024, 21:00:11] Crew: Boris added you\n\
        [14.08.2024, 21:01:57] Crew: You're now an admin\n[14.08.2024, 21:02:00] Boris: hi\n[14.08.2024, 21:03:00] Ann: hello\n";
    let read = read_text("WhatsApp Chat - Crew.txt", text);
    let services = read.messages.iter().map(|(_, it)| matches!(it.body, Body::Service { .. }));
    assert_eq!(services.collect::<Vec<_>>(), [true, true, true, false, false]);
}

/// C6: the names that systems give to copies.
#[test]
fn copies_are_called_like_their_chat() {
    let text = "13/12/2023, 18:05 - Ann: hi\n";
    for name in [
        "Ann (1)",
        "Ann copy",
        "Ann copy 2",
        "Ann - Copy",
        "Ann - Copy (2)",
        "Ann(2)",
        "Ann - Kopie",
    ] {
        let read = read_text(&format!("WhatsApp Chat with {name}.txt"), text);
        assert_eq!(read.chats[0].name, "Ann", "{name}");
    }
    let read = read_text("copy of WhatsApp Chat with Ann.txt", text);
    assert_eq!(read.chats[0].name, "Ann");
    let read = read_text("WhatsApp Chat with Flat 2.txt", text);
    assert_eq!(read.chats[0].name, "Flat 2", "a chat may be called so");
}
