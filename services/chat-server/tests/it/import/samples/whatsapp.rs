//! WhatsApp: dates, people, chats.

use chat_server::import::DayOrder;
use chat_server::model::{AttachmentPlace, ChatKind};
use jiff::tz::TimeZone;

use super::super::{Read, options, read, read_text, read_text_with};

#[test]
fn dates_with_words_and_full_stops() {
    for header in [
        "13. 12. 2023., 18:05 - ",
        "13.12.2023 г., 18:05 ч. - ",
        "13.12.2023, 18:05 Uhr - ",
        "2023-12-13 18 h 05 - ",
        "2023/12/13 晚上6:05 - ",
        "13/12/2023, 6:05\u{202f}μ.μ. - ",
        "\u{200f}13\u{200f}/12\u{200f}/2023, 6:05 م - ",
        "१३/१२/२०२३, ६:०५ अपराह्न - ",
    ] {
        let read = read_text("a.txt", &format!("{header}Anna: hello\n"));
        assert_eq!((read.texts(), read.senders()), (vec!["hello"], vec!["Anna"]), "{header:?}");
        assert_eq!(read.times(), ["2023-12-13T18:05:00Z"], "{header:?}");
    }
    let noon = read_text(
        "a.txt",
        "2023/12/13 中午11:30 - Anna: x\n2023/12/13 中午12:30 - Anna: y\n2023/12/13 凌晨12:10 - Anna: z\n",
    );
    assert_eq!(
        noon.times(),
        ["2023-12-13T11:30:00Z", "2023-12-13T12:30:00Z", "2023-12-13T00:10:00Z"]
    );
}

#[test]
fn years_of_two_digits_that_come_first() {
    let read = read_text(
        "a.txt",
        "23/12/10, 10:00 - Anna: x\n23/12/11, 10:00 - Anna: y\n23/12/12, 10:00 - Anna: z\n",
    );
    assert_eq!(&read.times()[0][..10], "2023-12-10");
    let mut told = options();
    told.day_order = Some(DayOrder::YearFirst);
    let read = read_text_with("a.txt", "03/04/05, 10:00 - Anna: x\n", &told);
    assert_eq!(&read.times()[0][..10], "2003-04-05");
}

#[test]
fn more_quotes_than_messages() {
    let text = "13/12/2023, 18:05 - Anna: look\n[1/1/2020, 10:00:00] Bob: one\n[1/1/2020, 10:00:01] Bob: two\n13.12.23, 18:05 - Bob: three\n13/12/2023, 6:05 pm - Bob: four\n";
    let read = read_text("a.txt", text);
    assert_eq!((read.messages.len(), read.senders()), (1, vec!["Anna"]));
    assert_eq!(read.texts()[0].lines().count(), 5);
}

#[test]
fn names_with_quotes_tildes_and_marks() {
    let text = "13/12/2023, 18:05 - Bob \"The Builder\" Smith: a\n13/12/2023, 18:05 - Anna changed the subject from \"x\" to \"y: z\"\n\
        13/12/2023, 18:05 - \u{202a}+41\u{a0}79\u{a0}123\u{a0}45\u{a0}67\u{202c}: b\n13/12/2023, 18:05 - ~: c\n13/12/2023, 18:05 - ~\u{202f}Zoë: d\n";
    let read = read_text("WhatsApp Chat with Team.txt", text);
    assert_eq!(
        read.senders(),
        ["Bob \"The Builder\" Smith", "", "+41\u{a0}79\u{a0}123\u{a0}45\u{a0}67", "~", "Zoë"]
    );
    assert!(read.messages[2].1.sender.as_ref().unwrap().phone.is_some());
}

#[test]
fn groups_and_the_owner() {
    let two = "13/12/2023, 18:05 - Cleo: a\n13/12/2023, 18:06 - Anna: b\n";
    let read = read_text("WhatsApp Chat with Cleo.txt", two);
    assert_eq!(read.chats[0].kind, ChatKind::Direct);
    let me: Vec<bool> =
        read.messages.iter().map(|(_, it)| it.sender.as_ref().unwrap().is_me).collect();
    assert_eq!(me, [false, true], "of two people the one who is not the chat");
    let group = format!("13/12/2023, 18:00 - Cleo hat die Gruppe „Team“ erstellt.\n{two}");
    let read = read_text("WhatsApp-Chat mit Team.txt", &group);
    assert_eq!((read.chats[0].kind, &*read.chats[0].name), (ChatKind::Group, "Team"));
    assert!(read.messages.iter().all(|(_, it)| it.sender.as_ref().is_none_or(|who| !who.is_me)));
}

#[test]
fn messages_out_of_order_keep_ids_of_their_own() {
    let read = read_text(
        "a.txt",
        "13/12/2023, 18:05 - Anna: x\n13/12/2023, 18:06 - Anna: y\n13/12/2023, 18:05 - Anna: x\n",
    );
    assert_ne!(read.messages[0].1.id, read.messages[2].1.id);
}

#[test]
fn the_hour_that_comes_twice() {
    let mut berlin = options();
    berlin.zone = TimeZone::get("Europe/Berlin").unwrap();
    let at = |clock: &str| format!("29/10/2023, {clock} - Anna: {clock}\n");
    let text = ["01:30", "02:30", "02:50", "02:10", "02:40", "03:05"].map(at).concat();
    assert_eq!(
        read_text_with("a.txt", &text, &berlin).times(),
        [
            "2023-10-28T23:30:00Z",
            "2023-10-29T00:30:00Z",
            "2023-10-29T00:50:00Z",
            "2023-10-29T01:10:00Z",
            "2023-10-29T01:40:00Z",
            "2023-10-29T02:05:00Z"
        ]
    );
    let gap = read_text_with("a.txt", "26/03/2023, 02:30 - Anna: x\n", &berlin);
    assert_eq!(gap.times(), ["2023-03-26T01:30:00Z"]);
}

#[test]
fn folders_of_zips_and_of_unpacked_chats() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat - Anna.zip");
    let chat = "[13/12/2023, 18:05:09] Anna: \u{200e}<attached: 1-a.jpg>\n";
    let zip = crate::mcp::harness::zip_of(&[
        ("_chat.txt", chat.as_bytes()),
        ("1-a.jpg", b"picture"),
        ("notes.txt", b"13/12/2023, 18:05 - No: chat\n"),
    ]);
    std::fs::write(&path, zip).unwrap();
    std::fs::write(dir.path().join("WhatsApp Chat with Bob.txt"), "13/12/2023, 18:05 - Bob: x\n")
        .unwrap();
    let all = read(dir.path(), &options()).unwrap();
    assert_eq!(all.chats.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["Anna", "Bob"]);
    let AttachmentPlace::Export(place) = &all.messages[0].1.attachments[0].place else {
        panic!("it is there");
    };
    assert_eq!(chat_server::import::attachment(dir.path(), place, 1_000).unwrap().len(), 7);
    let unpacked = tempfile::tempdir().unwrap();
    let folder = unpacked.path().join("WhatsApp Chat - Cleo");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("_chat.txt"), "[13/12/2023, 18:05:09] Cleo: x\n").unwrap();
    std::fs::write(folder.join("notes.txt"), "13/12/2023, 18:05 - No: chat\n").unwrap();
    let Read { chats, summary, .. } = read(&folder, &options()).unwrap();
    assert_eq!((chats.len(), &*chats[0].name, summary.skipped), (1, "Cleo", 0));
}
