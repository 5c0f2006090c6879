//! WhatsApp: the headers of the world, and what WhatsApp writes by itself.

use chat_server::import::{DayOrder, Options};
use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind};

use super::{Read, options, read, read_text, read_text_with};
use crate::assert_has;
use crate::mcp::harness::zip_of;

/// A chat with Anna whose file has this text.
fn of_anna(text: &str) -> Read {
    of_anna_with(text, &options())
}

fn of_anna_with(text: &str, options: &Options) -> Read {
    read_text_with("WhatsApp Chat with Anna.txt", text, options)
}

/// Every way of writing 13 December 2023, 18:05 (and perhaps 9 seconds), and what follows it.
#[test]
fn headers_of_all_telephones_are_read() {
    for header in [
        "[13/12/2023, 18:05:09] ",
        "[13.12.23, 18:05:09] ",
        "[13/12/23 6:05:09 PM] ",
        "[12/13/23, 6:05:09\u{202f}PM] ",
        "[2023-12-13, 6:05:09 p. m.] ",
        "[13.12.2023 klo 18.05.09] ",
        "\u{200e}[13/12/2023, 18:05:09] ",
        "[\u{200f}13\u{200f}/12\u{200f}/2023, 18:05:09] ",
        "[2023/12/13 下午6:05:09] ",
        "[2023. 12. 13. 오후 6:05:09] ",
        "[١٣/١٢/٢٠٢٣, ٦:٠٥:٠٩ م] ",
        "13/12/2023, 18:05 - ",
        "13/12/23, 6:05 pm - ",
        "12/13/23, 6:05 PM - ",
        "12/13/23, 6:05\u{202f}PM - ",
        "13.12.23, 18:05 - ",
        "13.12.2023 klo 18.05 - ",
        "13. 12. 2023. 18:05 - ",
        "2023. 12. 13. du. 6:05 - ",
        "13-12-2023 18:05 - ",
        "13/12/2023, 6:05\u{a0}p.\u{a0}m. - ",
        "13/12/2023 à 18:05 - ",
        "13/12/2023 18:05:09: ",
    ] {
        let read = of_anna(&format!("{header}Anna: hello\n"));
        assert_eq!(read.texts(), ["hello"], "{header:?}");
        assert_eq!(read.senders(), ["Anna"], "{header:?}");
        let [time] = read.times().try_into().unwrap();
        assert!(time.starts_with("2023-12-13T18:05:0"), "{header:?}: {time}");
    }
}

#[test]
fn midnight_and_noon_of_twelve_hours() {
    let read = of_anna("13/12/23, 12:00 am - Anna: midnight\n13/12/23, 12:30 pm - Anna: noon\n");
    assert_eq!(read.times(), ["2023-12-13T00:00:00Z", "2023-12-13T12:30:00Z"]);
}

/// Each rule of the order of days, and the setting that goes before all of them.
#[test]
fn the_order_of_days_is_found_in_the_whole_file() {
    let first_day = |lines: &[&str]| {
        let text: String = lines.iter().map(|date| format!("{date}, 10:00 - Anna: x\n")).collect();
        of_anna(&text).times()[0][..10].to_owned()
    };
    let (year, more) = ("what falls within a year is a day", "what changes more is a day");
    for (dates, day, why) in [
        (&["3/4/23", "13/4/23"][..], "2023-04-03", "13 is a day"),
        (&["3/4/23", "3/13/23"], "2023-03-04", "13 is a day"),
        (&["2023/3/4", "2023/3/5"], "2023-03-04", "a year is first"),
        (&["3/4/23", "1/5/23"], "2023-04-03", year),
        (&["3/4/23", "5/1/23"], "2023-03-04", year),
        (&["3/4/23", "4/4/23"], "2023-04-03", more),
        (&["3/4/23", "3/5/23"], "2023-03-04", more),
        (&["3/4/23"], "2023-04-03", "the day comes first"),
    ] {
        assert_eq!(first_day(dates), day, "{why}");
    }
    let mut set = options();
    set.day_order = Some(DayOrder::MonthFirst);
    let read = of_anna_with("3/4/23, 10:00 - Anna: x\n", &set);
    assert_eq!(read.times(), ["2023-03-04T10:00:00Z"]);
}

#[test]
fn a_message_goes_on_until_the_next_header_of_the_files_own_shape() {
    let read = of_anna(
        "\u{feff}13/12/2023, 18:05 - Anna: one\r\n\r\n[13/12/2023, 18:04:00] Bert: quoted\r\ntwo\r\n\
         13/12/2023, 18:06 - Bert: three\r\n13/12/2023, 18:07 - Anna: \r\n",
    );
    assert_eq!(read.texts(), ["one\n\n[13/12/2023, 18:04:00] Bert: quoted\ntwo", "three", ""]);
    assert_eq!(read.senders(), ["Anna", "Bert", "Anna"]);
    assert_eq!(read.chats[0].kind, ChatKind::Direct);
    assert_eq!(read.summary.skipped, 0);
}

/// An iPhone ends messages with CRLF and breaks lines in them with LF.
#[test]
fn a_pasted_header_behind_a_break_within_a_message_is_text() {
    let of = |ends: [&str; 3]| {
        let [end, within, pasted] = ends;
        let mut text = String::new();
        for minute in 10..25 {
            let name = if minute % 2 == 0 { "Anna" } else { "Bert" };
            text += &format!("[13.12.2023, 18:{minute}:09] {name}: one{within}two{end}");
        }
        text += &format!(
            "[13.12.2023, 18:30:00] Anna: look:{pasted}[31.01.2020, 10:00:00] Eve: hi{end}"
        );
        of_anna(&(text + &format!("[14.12.2023, 18:30:00] Bert: ah{end}")))
    };
    let read = of(["\r\n", "\n", "\n"]);
    assert_eq!(read.texts()[14..], ["one\ntwo", "look:\n[31.01.2020, 10:00:00] Eve: hi", "ah"]);
    assert_eq!(read.chats[0].kind, ChatKind::Direct, "Eve is not in the chat");
    assert_has(&read.summary.warnings[0], &["line 32 looks like a message of its own"]);
    // Elsewhere the ends of lines tell nothing: an editor may have mixed them.
    for ends in [["\n"; 3], ["\r\n"; 3], ["\r\n", "\r\n", "\n"], ["\n", "\n", "\r\n"]] {
        let read = of(ends);
        assert_eq!(read.texts()[15..], ["look:", "hi", "ah"], "{ends:?}");
        assert!(read.summary.warnings.is_empty());
    }
}

#[test]
fn what_whatsapp_says_is_nobodys_message() {
    let read = read_text(
        "WhatsApp Chat with Team.txt",
        "13/12/2023, 18:05 - Messages and calls are end-to-end encrypted.\n\
         13/12/2023, 18:05 - Anna created group \"Team: one\"\n\
         13/12/2023, 18:06 - ~\u{a0}Cleo: hi\n13/12/2023, 18:06 - +41 79 123 45 67: ho\n13/12/2023, 18:06 - Anna: he\n",
    );
    assert_eq!(read.senders(), ["", "", "Cleo", "+41 79 123 45 67", "Anna"]);
    assert!(
        matches!(&read.messages[1].1.body, Body::Service { text, .. } if text == "Anna created group \"Team: one\"")
    );
    let unknown = read.messages[3].1.sender.as_ref().unwrap();
    assert_eq!(unknown.phone.as_deref(), Some("+41 79 123 45 67"));
    assert_eq!(read.chats[0].kind, ChatKind::Group);
}

#[test]
fn files_are_attachments_whether_they_were_exported_or_not() {
    let line = |text: &str| {
        let mut read = of_anna(&format!("13/12/2023, 18:05 - Anna: {text}\n"));
        let (_, message) = read.messages.remove(0);
        let attachment = message.attachments.first().cloned();
        (attachment, super::words(&message.body).to_owned())
    };
    for (text, name, kind) in [
        (
            "IMG-20231213-WA0001.jpg (file attached)",
            "IMG-20231213-WA0001.jpg",
            AttachmentKind::Image,
        ),
        (
            "IMG-20231213-WA0001.jpg (something unknown)",
            "IMG-20231213-WA0001.jpg",
            AttachmentKind::Image,
        ),
        ("\u{200e}Our plan.pdf (Datei angehängt)", "Our plan.pdf", AttachmentKind::File),
        (
            "\u{200e}<attached: 00000042-AUDIO-2023-12-13.opus>",
            "00000042-AUDIO-2023-12-13.opus",
            AttachmentKind::Audio,
        ),
        ("<Anhang: film.mp4>", "film.mp4", AttachmentKind::Video),
        ("photo.jpg <attached>", "photo.jpg", AttachmentKind::Image),
    ] {
        let (attachment, caption) = line(&format!("{text}\nand a caption"));
        let attachment = attachment.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(attachment.place, AttachmentPlace::Export(name.to_owned()), "{text}");
        assert_eq!((attachment.kind, caption.as_str()), (kind, "and a caption"), "{text}");
    }
    for (text, kind) in [
        ("<Media omitted>", AttachmentKind::File),
        ("<Medien ausgeschlossen>", AttachmentKind::File),
        ("\u{200e}image omitted", AttachmentKind::Image),
        ("\u{200e}sticker omitted", AttachmentKind::Sticker),
        ("offer.pdf • \u{200e}3 pages \u{200e}document omitted", AttachmentKind::File),
    ] {
        let (attachment, caption) = line(text);
        let attachment = attachment.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (attachment.place, attachment.kind),
            (AttachmentPlace::Missing(None), kind),
            "{text}"
        );
        assert_eq!(caption, "", "{text}");
    }
    assert_eq!(
        line("see (file attached)"),
        (None, "see (file attached)".to_owned()),
        "no name of a file"
    );
    assert_eq!(line("../../etc/passwd (file attached)").0, None, "a path is not a name of a file");
}

#[test]
fn marks_of_the_network_become_what_they_mean() {
    let text = "13/12/2023, 18:05 - Anna: fixed \u{200e}<This message was edited>\n\
        13/12/2023, 18:06 - Anna: This message was deleted\n\
        13/12/2023, 18:07 - Anna: location: https://maps.google.com/?q=47.3769,8.5417\n\
        13/12/2023, 18:08 - Anna: POLL:\nWhen?\nOPTION: Monday (2 votes)\nOPTION: Tuesday (1 vote)\n\n\
        13/12/2023, 18:09 - Anna: null\n13/12/2023, 18:10 - Anna: Missed voice call\n";
    let read = of_anna(text);
    let message = |at: usize| &read.messages[at].1;
    assert_eq!((read.texts()[0], message(0).edited), ("fixed", Some(message(0).timestamp)));
    assert!(message(1).deleted && read.texts()[1].is_empty());
    assert!(
        matches!(message(2).body, Body::Location { latitude, longitude, .. } if latitude == 47.3769 && longitude == 8.5417)
    );
    let answers = vec![("Monday".to_owned(), Some(2)), ("Tuesday".to_owned(), Some(1))];
    assert_eq!(message(3).body, Body::Poll { question: "When?".to_owned(), answers });
    assert_eq!(message(4).body, Body::Unknown("null".to_owned()));
    assert!(matches!(&message(5).body, Body::Service { action, .. } if action == "missed_call"));
}

#[test]
fn exports_that_overlap_have_the_same_ids_where_they_do() {
    let all = [
        "10:00 - Anna: a",
        "10:00 - Anna: a",
        "10:01 - Bert: IMG-1-WA1.jpg (file attached)",
        "10:02 - Anna: b",
    ];
    let export = |lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("13/12/2023, {line}\n")).collect();
        let read = of_anna(&text);
        read.messages.into_iter().map(|(_, message)| message.id).collect::<Vec<_>>()
    };
    let ids = export(&all);
    assert_eq!(
        ids.iter().collect::<std::collections::BTreeSet<_>>().len(),
        4,
        "equal messages are two"
    );
    assert_eq!(export(&all[..2]), ids[..2]);
    assert_eq!(
        export(&["10:01 - Bert: <Media omitted>", "10:02 - Anna: b"]),
        ids[2..],
        "with files or without"
    );
}

#[test]
fn a_zip_is_read_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat - Anna.zip");
    let chat = "[13/12/2023, 18:05:09] Anna: \u{200e}<attached: 1.jpg>\r\n";
    let zip = zip_of(&[("_chat.txt", chat.as_bytes()), ("1.jpg", b"picture")]);
    std::fs::write(&path, zip).unwrap();
    let read = read(&path, &options()).unwrap();
    assert_eq!(read.chats[0].name, "Anna");
    assert_eq!(chat_server::import::attachment(&path, "1.jpg", 1_000).unwrap(), b"picture");
    // Among others in a folder, too.
    let among = super::read(dir.path(), &options()).unwrap();
    let AttachmentPlace::Export(place) = &among.messages[0].1.attachments[0].place else {
        panic!("{among:?}");
    };
    let attached = chat_server::import::attachment(dir.path(), place, 1_000).unwrap();
    assert_eq!(attached.len(), 7);
    for hostile in ["../1.jpg", "/etc/passwd", "", "a/../1.jpg", "..\\1.jpg"] {
        assert!(chat_server::import::attachment(&path, hostile, 1_000).is_err(), "{hostile}");
    }
}

/// Nothing in a short export shows whether 3/4 is in March. Once it is known, in a longer export or by configuration,
/// the messages are the same ones.
#[test]
fn a_message_has_the_same_id_in_whatever_order_its_date_is_read() {
    let short = "03/04/2024, 18:05 - Anna: hello\n03/04/2024, 18:05 - Anna: hello\n";
    let long = format!("{short}03/14/2024, 18:05 - Anna: later\n");
    let name = "WhatsApp Chat with Anna.txt";
    let ids = |read: &Read| -> Vec<String> {
        let messages = read.messages.iter();
        messages.map(|(_, message)| message.id.clone()).collect()
    };
    let (found, better) = (read_text(name, short), read_text(name, &long));
    assert_eq!(found.times()[0], "2024-04-03T18:05:00Z");
    assert_eq!(better.times()[0], "2024-03-04T18:05:00Z");
    assert_eq!(ids(&found), ids(&better)[..2]);
    let told = Options { day_order: Some(DayOrder::MonthFirst), ..options() };
    let told = read_text_with(name, short, &told);
    assert_eq!(told.times(), better.times()[..2]);
    assert_eq!(ids(&found), ids(&told));
    assert_ne!(ids(&found)[0], ids(&found)[1]);
}

#[test]
fn dates_that_there_are_not_are_told() {
    let text = "03/04/2024, 18:05 - Anna: a\n03/14/2024, 18:05 - Anna: b\n";
    let wrong = Options { day_order: Some(DayOrder::DayFirst), ..options() };
    let read = of_anna_with(text, &wrong);
    assert_eq!(read.texts(), ["a\n03/14/2024, 18:05 - Anna: b"]);
    let [warning] = &read.summary.warnings[..] else {
        panic!("{:?}", read.summary);
    };
    assert_has(warning, &["line 2", "`day_order`"]);
    assert!(!warning.contains("Anna: b"));
}
