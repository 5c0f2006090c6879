//! A sample, made by hand, for each trap of the formats that no other test has.

use chat_server::import::DayOrder;
use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind, Message};
use jiff::tz::TimeZone;
use serde_json::json;

use super::{Read, options, read, read_text, read_text_with};

/// A text of WhatsApp's, sent by Anna from Android or from iOS.
fn from_anna(ios: bool, text: &str) -> Message {
    let head = match ios {
        true => "[13/12/2023, 18:05:09] Anna: ",
        false => "13/12/2023, 18:05 - Anna: ",
    };
    let mut read = read_text("WhatsApp Chat with Anna.txt", &format!("{head}{text}\n"));
    assert_eq!(read.messages.len(), 1, "{text}");
    read.messages.remove(0).1
}

fn text(message: &Message) -> &str {
    match &message.body {
        Body::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

mod telegram {
    use super::*;

    fn one(members: &serde_json::Value) -> Message {
        let mut message = json!({"id": 1, "type": "message", "date": "2020-06-01T10:00:00", "from": "Anna", "from_id": "user1", "text": ""});
        for (name, value) in members.as_object().unwrap() {
            message[name] = value.clone();
        }
        let file =
            format!(r#"{{"name":"A","type":"personal_chat","id":1,"messages":[{message}]}}"#);
        let mut read = read_text("result.json", &file);
        assert_eq!(read.messages.len(), 1, "{members}");
        read.messages.remove(0).1
    }

    #[test]
    fn ids_of_old_files_are_numbers() {
        for (id, told) in [
            (json!(352_786_456), "user352786456"),
            (json!(4_647_753_752_u64), "user352786456"),
            (json!(8_590_934_592_u64), "chat1000000"),
            (json!("channel7"), "channel7"),
        ] {
            assert_eq!(one(&json!({"from_id": id})).sender.unwrap().id, told);
        }
        let nobody = one(&json!({"from_id": null}));
        assert_eq!(
            nobody.sender.unwrap().id,
            "Anna",
            "the name is all there is"
        );
        assert_eq!(one(&json!({"from_id": null, "from": null})).sender, None);
    }

    #[test]
    fn old_files_have_a_time_of_1970_for_what_was_not_edited() {
        assert_eq!(one(&json!({"edited": "1970-01-01T05:00:00"})).edited, None);
        assert!(
            one(&json!({"edited": "2020-06-01T10:01:00"}))
                .edited
                .is_some()
        );
    }

    #[test]
    fn a_time_that_cannot_be_read_gives_way_to_the_local_one() {
        let message = one(&json!({"date_unixtime": "soon"}));
        assert_eq!(message.timestamp.to_string(), "2020-06-01T10:00:00Z");
    }

    #[test]
    fn text_that_is_only_in_the_entities() {
        let entities = json!([{"type": "plain", "text": "a "}, {"type": "spoiler", "text": "b"}]);
        assert_eq!(
            text(&one(&json!({"text": null, "text_entities": entities}))),
            "a b"
        );
    }

    #[test]
    fn media_that_is_not_there() {
        let gone = one(&json!({"self_destruct_period_seconds": 30}));
        assert_eq!(
            gone.body,
            Body::Unknown("[Self-destructing media]".to_owned())
        );
        let place = one(&json!({"location_information": null, "live_location_period_seconds": 60}));
        assert_eq!(place.body, Body::Unknown("[Location]".to_owned()));
        let invoice = one(&json!({"invoice_information": "{\"title\":\"x\"}"}));
        assert_eq!(
            invoice.body,
            Body::Unknown("[Invoice] {\"title\":\"x\"}".to_owned())
        );
    }

    #[test]
    fn cards_come_with_their_files() {
        let card = one(
            &json!({"contact_information": {"first_name": "Cleo", "last_name": "X", "phone_number": ""}, "contact_vcard": "contacts/contact_1.vcf"}),
        );
        assert_eq!(
            card.body,
            Body::Contact {
                name: "Cleo X".to_owned(),
                phone: None
            }
        );
        assert_eq!(
            card.attachments[0].place,
            AttachmentPlace::Export("contacts/contact_1.vcf".to_owned())
        );
    }

    #[test]
    fn what_the_network_says_in_its_own_words() {
        let said = |members: &serde_json::Value| {
            let mut all = json!({"type": "service", "actor": "Anna", "actor_id": "user1"});
            for (name, value) in members.as_object().unwrap() {
                all[name] = value.clone();
            }
            match one(&all).body {
                Body::Service { action, text } => (action, text),
                other => panic!("{other:?}"),
            }
        };
        for (members, action, words) in [
            (
                json!({"action": "phone_call", "discard_reason": "missed"}),
                "phone_call",
                "Anna: phone call missed",
            ),
            (
                json!({"action": "topic_created", "title": "a: b"}),
                "topic_created",
                "Anna: topic created a: b",
            ),
            (
                json!({"action": "set_messages_ttl", "period": 60}),
                "set_messages_ttl",
                "Anna: set messages ttl seconds: 60",
            ),
            (
                json!({"action": "pin_message", "message_id": 5}),
                "pin_message",
                "Anna: pin message message 5",
            ),
            (
                json!({"information_text": "Anna waved"}),
                "custom",
                "Anna: Anna waved",
            ),
        ] {
            assert_eq!(said(&members), (action.to_owned(), words.to_owned()));
        }
    }

    #[test]
    fn a_mark_at_the_beginning_of_the_file() {
        let file = "\u{feff}{\"name\":\"A\",\"type\":\"personal_chat\",\"id\":1,\"messages\":[]}";
        assert_eq!(read_text("result.json", file).chats.len(), 1);
    }

    #[test]
    fn the_same_id_in_two_chats_and_a_negative_one() {
        let message = |id| json!({"id": id, "type": "message", "date": "2020-06-01T10:00:00", "from": null, "from_id": "user1", "text": "x"});
        let list = json!([{"name": "A", "type": "private_group", "id": 5, "messages": [message(1), message(-999_999_999)]},
            {"name": "B", "type": "private_supergroup", "id": 5, "messages": [message(1)]}]);
        let read = read_text("result.json", &json!({"chats": {"list": list}}).to_string());
        let ids: Vec<_> = read
            .messages
            .iter()
            .map(|(chat, it)| (&**chat, &*it.id))
            .collect();
        assert_eq!(ids, [("-5", "1"), ("-5", "-999999999"), ("-1005", "1")]);
        // The members of these objects are sorted, so the file is read twice; what is counted is counted once.
        assert_eq!((read.summary.chats, read.summary.messages), (2, 3));
    }
}

mod whatsapp {
    use super::*;

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
            assert_eq!(
                (read.texts(), read.senders()),
                (vec!["hello"], vec!["Anna"]),
                "{header:?}"
            );
            assert_eq!(read.times(), ["2023-12-13T18:05:00Z"], "{header:?}");
        }
        let noon = read_text(
            "a.txt",
            "2023/12/13 中午11:30 - Anna: x\n2023/12/13 中午12:30 - Anna: y\n2023/12/13 凌晨12:10 - Anna: z\n",
        );
        assert_eq!(
            noon.times(),
            [
                "2023-12-13T11:30:00Z",
                "2023-12-13T12:30:00Z",
                "2023-12-13T00:10:00Z"
            ]
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
            (
                true,
                "\u{200e}<المُرفق: 00000002-VIDEO-2019.mp4>",
                "",
                Some("00000002-VIDEO-2019.mp4"),
            ),
            (true, "look \u{200e}image omitted", "look", None),
            (
                false,
                "IMG-20231213-WA0001.jpg (file attached)\nlook",
                "look",
                Some("IMG-20231213-WA0001.jpg"),
            ),
            (false, "<Medien ausgeschlossen>\nplan.mod", "plan.mod", None),
            (
                false,
                "\u{200e}plan.docx (файл прикреплён)",
                "",
                Some("plan.docx"),
            ),
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
        for (ios, line) in [
            (false, "Cleo X.vcf (file attached)"),
            (true, "\u{200e}<attached: 00000003-Cleo X.vcf>"),
        ] {
            let message = from_anna(ios, line);
            assert_eq!(
                message.body,
                Body::Contact {
                    name: "Cleo X".to_owned(),
                    phone: None
                }
            );
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
            "TODO:\nbuy\nMILK: 2",
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
            assert_eq!(
                (text(&message), message.edited),
                ("fixed", Some(message.timestamp)),
                "{words}"
            );
        }
        for words in [
            "null",
            "Waiting for this message. This may take a while.",
            "\u{200e}View once photo",
            "\u{200e}Live location shared",
        ] {
            assert!(
                matches!(from_anna(false, words).body, Body::Unknown(_)),
                "{words}"
            );
        }
        for (words, what) in [
            ("\u{200e}Voice call, \u{200e}5 min", "call"),
            (
                "\u{200e}Missed video call, \u{200e}Tap to call back",
                "missed_call",
            ),
        ] {
            let message = from_anna(true, words);
            assert!(
                matches!(&message.body, Body::Service { action, .. } if action == what),
                "{words}"
            );
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
        let answers = vec![
            ("sí (de veras)".to_owned(), Some(2)),
            ("no".to_owned(), Some(0)),
        ];
        assert_eq!(
            poll.body,
            Body::Poll {
                question: "¿Cuándo: hoy?".to_owned(),
                answers
            }
        );
        let place = |line| from_anna(false, line).body;
        let at = |name: Option<&str>| Body::Location {
            latitude: -1.5,
            longitude: 2.0,
            name: name.map(str::to_owned),
        };
        assert_eq!(
            place("Standort: https://maps.google.com/?q=-1.5,2"),
            at(None)
        );
        assert_eq!(
            place("Pier\nlocation: https://maps.google.com/?q=-1.5,2"),
            at(Some("Pier"))
        );
        assert_eq!(
            place("Home: https://maps.google.com/?q=-1.5,2"),
            at(Some("Home")),
            "nothing is lost"
        );
        assert!(matches!(
            place("location: https://maps.google.com/?q=91,2"),
            Body::Text(_)
        ));
    }

    #[test]
    fn names_with_quotes_tildes_and_marks() {
        let text = "13/12/2023, 18:05 - Bob \"The Builder\" Smith: a\n13/12/2023, 18:05 - Anna changed the subject from \"x\" to \"y: z\"\n\
            13/12/2023, 18:05 - \u{202a}+41\u{a0}79\u{a0}123\u{a0}45\u{a0}67\u{202c}: b\n13/12/2023, 18:05 - ~: c\n13/12/2023, 18:05 - ~\u{202f}Zoë: d\n";
        let read = read_text("WhatsApp Chat with Team.txt", text);
        assert_eq!(
            read.senders(),
            [
                "Bob \"The Builder\" Smith",
                "",
                "+41\u{a0}79\u{a0}123\u{a0}45\u{a0}67",
                "~",
                "Zoë"
            ]
        );
        assert!(read.messages[2].1.sender.as_ref().unwrap().phone.is_some());
    }

    #[test]
    fn groups_and_the_owner() {
        let two = "13/12/2023, 18:05 - Cleo: a\n13/12/2023, 18:06 - Anna: b\n";
        let read = read_text("WhatsApp Chat with Cleo.txt", two);
        assert_eq!(read.chats[0].kind, ChatKind::Direct);
        let me: Vec<bool> = read
            .messages
            .iter()
            .map(|(_, it)| it.sender.as_ref().unwrap().is_me)
            .collect();
        assert_eq!(
            me,
            [false, true],
            "of two people the one who is not the chat"
        );
        let group = format!("13/12/2023, 18:00 - Cleo hat die Gruppe „Team“ erstellt.\n{two}");
        let read = read_text("WhatsApp-Chat mit Team.txt", &group);
        assert_eq!(
            (read.chats[0].kind, &*read.chats[0].name),
            (ChatKind::Group, "Team")
        );
        assert!(
            read.messages
                .iter()
                .all(|(_, it)| it.sender.as_ref().is_none_or(|who| !who.is_me))
        );
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
        let text = ["01:30", "02:30", "02:50", "02:10", "02:40", "03:05"]
            .map(at)
            .concat();
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
        use std::io::Write as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("WhatsApp Chat - Anna.zip");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, bytes) in [
            (
                "_chat.txt",
                &b"[13/12/2023, 18:05:09] Anna: \xe2\x80\x8e<attached: 1-a.jpg>\n"[..],
            ),
            ("1-a.jpg", b"picture"),
            ("notes.txt", b"13/12/2023, 18:05 - No: chat\n"),
        ] {
            zip.start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        std::fs::write(
            dir.path().join("WhatsApp Chat with Bob.txt"),
            "13/12/2023, 18:05 - Bob: x\n",
        )
        .unwrap();
        let all = read(dir.path(), &options()).unwrap();
        assert_eq!(
            all.chats.iter().map(|it| &*it.name).collect::<Vec<_>>(),
            ["Anna", "Bob"]
        );
        let AttachmentPlace::Export(place) = &all.messages[0].1.attachments[0].place else {
            panic!("it is there");
        };
        assert_eq!(
            chat_server::import::attachment(dir.path(), place)
                .unwrap()
                .size,
            7
        );
        let unpacked = tempfile::tempdir().unwrap();
        let folder = unpacked.path().join("WhatsApp Chat - Cleo");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("_chat.txt"), "[13/12/2023, 18:05:09] Cleo: x\n").unwrap();
        std::fs::write(folder.join("notes.txt"), "13/12/2023, 18:05 - No: chat\n").unwrap();
        let Read { chats, summary, .. } = read(&folder, &options()).unwrap();
        assert_eq!(
            (chats.len(), &*chats[0].name, summary.skipped),
            (1, "Cleo", 0)
        );
    }
}

mod signal {
    use super::*;

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
        assert_eq!(
            (given(0).count, given(0).by.as_slice()),
            (2, &["Doe, Jane".to_owned()][..])
        );
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
        assert_eq!(
            file(0).place,
            AttachmentPlace::Missing(Some("media".to_owned()))
        );
        assert_eq!(
            (file(1).kind, file(1).name.as_deref()),
            (AttachmentKind::Sticker, Some("🎉"))
        );
        assert_eq!(
            file(1).place,
            AttachmentPlace::Export("exported_stickers/ab/3.webp".to_owned())
        );
        assert_eq!(read.texts()[2], "Anna: Missed voice call");
        let read = chat(
            "chat.md",
            "[2023-12-13 18:05:09] Anna: (media not exported)  \n[2023-12-13 18:05:10] Anna:   [🎉](../exported_stickers/ab/3.webp)  \n[2023-12-13 18:05:11] Anna:   \n(( 🎉 ))\n[2023-12-13 18:05:12] Anna: see [this](.x) [a](b)  \n",
        );
        let file = |at: usize| &read.messages[at].1.attachments[0];
        assert_eq!(
            file(0).place,
            AttachmentPlace::Missing(Some("media".to_owned()))
        );
        assert_eq!(
            file(1).place,
            AttachmentPlace::Export("exported_stickers/ab/3.webp".to_owned())
        );
        assert_eq!(
            (file(2).kind, file(2).name.as_deref()),
            (AttachmentKind::Sticker, Some("🎉"))
        );
        assert_eq!(read.texts()[3], "see [this](.x) [a](b)");
    }

    #[test]
    fn what_begins_with_an_angle_bracket_is_a_quote_only_on_a_line_of_its_own() {
        let read = chat(
            "chat.md",
            "[2023-12-13 18:05:09] Anna: > mine\n> too\n[2023-12-13 18:05:10] Me: \n\n> > mine\n> > too\n\nyes\n> and this\n",
        );
        assert_eq!(read.texts(), ["> mine\n> too", "yes\n> and this"]);
        assert_eq!(
            read.messages[1].1.reply_to.as_ref(),
            Some(&read.messages[0].1.id)
        );
    }

    #[test]
    fn times_with_an_offset_are_moments() {
        let read = chat(
            "data.json",
            r#"{"date":"2023-12-13T18:05:09+02:00","sender":"Anna","body":"x"}"#,
        );
        assert_eq!(read.times(), ["2023-12-13T16:05:09Z"]);
    }
}
