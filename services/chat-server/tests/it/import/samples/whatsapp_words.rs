//! WhatsApp: what it writes by itself, and what people write that is like it.

use chat_server::model::{AttachmentKind, AttachmentPlace, Body};

use super::super::read_text;
use super::{from_anna, text};

#[test]
fn captions_stand_before_the_file_or_below_it() {
    for (ios, line, caption, name) in [
        (
            true,
            "look \u{200e}<attached: 00000012-PHOTO-2023.jpg>",
            "look",
            Some("00000012-PHOTO-2023.jpg"),
        ),
        (
            true,
            "two\nlines \u{200e}<attached: 00000012-PHOTO-2023.jpg>",
            "two\nlines",
            Some("00000012-PHOTO-2023.jpg"),
        ),
        (
            true,
            "offer.pdf • \u{200e}3 pages \u{200e}<attached: 00000014-offer.pdf>",
            "",
            Some("00000014-offer.pdf"),
        ),
        (true, "\u{200e}<المُرفق: 00000002-VIDEO-2019.mp4>", "", Some("00000002-VIDEO-2019.mp4")),
        (true, "look \u{200e}image omitted", "look", None),
        (
            false,
            "IMG-20231213-WA0001.jpg (file attached)\nlook",
            "look",
            Some("IMG-20231213-WA0001.jpg"),
        ),
        (false, "<Medien ausgeschlossen>\nplan.mod", "plan.mod", None),
        (false, "\u{200e}plan.docx (файл прикреплён)", "", Some("plan.docx")),
    ] {
        let message = from_anna(ios, line);
        assert_eq!(text(&message), caption, "{line}");
        let place = match name {
            Some(name) => AttachmentPlace::Export(name.to_owned()),
            None => AttachmentPlace::Missing(None),
        };
        assert_eq!(message.attachments[0].place, place, "{line}");
    }
}

#[test]
fn kinds_of_files_by_their_names() {
    for (name, kind) in [
        ("STK-20231213-WA0001.webp", AttachmentKind::Sticker),
        ("00000012-STICKER-2023.webp", AttachmentKind::Sticker),
        ("PTT-20231213-WA0001.opus", AttachmentKind::Audio),
        ("00000042-VIDEO-2023.mp4", AttachmentKind::Video),
        ("plan.pdf", AttachmentKind::File),
    ] {
        let message = from_anna(false, &format!("{name} (file attached)"));
        assert_eq!(message.attachments[0].kind, kind, "{name}");
    }
}

#[test]
fn cards_have_the_name_of_their_file() {
    for (ios, line) in
        [(false, "Cleo X.vcf (file attached)"), (true, "\u{200e}<attached: 00000003-Cleo X.vcf>")]
    {
        let message = from_anna(ios, line);
        assert_eq!(message.body, Body::Contact { name: "Cleo X".to_owned(), phone: None });
        assert_eq!(message.attachments.len(), 1);
    }
    let left_out = from_anna(true, "\u{200e}Contact card omitted");
    assert_eq!(left_out.attachments[0].kind, AttachmentKind::File);
}

#[test]
fn words_of_people_that_are_like_those_of_whatsapp() {
    for words in [
        "image omitted",
        "audio omis",
        "Video call",
        "<hello>",
        "see plan.pdf (not that one)",
        "OPTION: x (2 votes)",
        "LIST:\nbuy\nMILK: 2",
        "my home https://maps.google.com/?q=1,2",
        "here: https://maps.google.com/?q=1,2 is it",
        "  two blanks",
        "\u{200f}right to left\u{200f}",
    ] {
        let message = from_anna(false, words);
        assert_eq!((text(&message), message.attachments.len()), (words, 0));
    }
}

#[test]
fn deleted_edited_unseen_and_calls() {
    for words in [
        "You deleted this message",
        "\u{200e}This message was deleted.",
        "Eliminaste este mensaje.",
        "This message was deleted by admin Bob",
    ] {
        assert!(from_anna(false, words).deleted, "{words}");
    }
    for words in [
        "fixed <This message was edited>",
        "fixed \u{200e}<Diese Nachricht wurde bearbeitet.>",
        "fixed <Se editó este mensaje.>",
    ] {
        let message = from_anna(false, words);
        assert_eq!((text(&message), message.edited), ("fixed", Some(message.timestamp)), "{words}");
    }
    for words in [
        "null",
        "Waiting for this message. This may take a while.",
        "\u{200e}View once photo",
        "\u{200e}Live location shared",
    ] {
        assert!(matches!(from_anna(false, words).body, Body::Unknown(_)), "{words}");
    }
    for (words, what) in [
        ("\u{200e}Voice call, \u{200e}5 min", "call"),
        ("\u{200e}Missed video call, \u{200e}Tap to call back", "missed_call"),
    ] {
        let message = from_anna(true, words);
        assert!(matches!(&message.body, Body::Service { action, .. } if action == what), "{words}");
    }
    let read = read_text("a.txt", "13/12/2023, 18:05 - Missed voice call\n");
    assert!(
        matches!(&read.messages[0].1.body, Body::Service { action, .. } if action == "missed_call")
    );
}

#[test]
fn polls_and_places_of_other_languages() {
    let poll = from_anna(
        true,
        "\u{200e}ENCUESTA:\n¿Cuándo: hoy?\n\u{200e}OPCIÓN: sí (de veras) (\u{200e}2 votos)\n\u{200e}OPCIÓN: no (\u{200e}0 votos)\n",
    );
    let answers = vec![("sí (de veras)".to_owned(), Some(2)), ("no".to_owned(), Some(0))];
    assert_eq!(poll.body, Body::Poll { question: "¿Cuándo: hoy?".to_owned(), answers });
    let place = |line| from_anna(false, line).body;
    let at = |name: Option<&str>| Body::Location {
        latitude: -1.5,
        longitude: 2.0,
        name: name.map(str::to_owned),
    };
    assert_eq!(place("Standort: https://maps.google.com/?q=-1.5,2"), at(None));
    assert_eq!(place("Pier\nlocation: https://maps.google.com/?q=-1.5,2"), at(Some("Pier")));
    assert_eq!(
        place("Home: https://maps.google.com/?q=-1.5,2"),
        at(Some("Home")),
        "nothing is lost"
    );
    assert!(matches!(place("location: https://maps.google.com/?q=91,2"), Body::Text(_)));
}
