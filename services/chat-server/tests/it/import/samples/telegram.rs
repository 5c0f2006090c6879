//! Telegram Desktop.

use chat_server::model::{AttachmentPlace, Body, Message};
use serde_json::json;

use super::super::read_text;
use super::text;

fn one(members: &serde_json::Value) -> Message {
    let mut message = json!({"id": 1, "type": "message", "date": "2020-06-01T10:00:00", "from": "Anna", "from_id": "user1", "text": ""});
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    let file = format!(r#"{{"name":"A","type":"personal_chat","id":1,"messages":[{message}]}}"#);
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
    assert_eq!(nobody.sender.unwrap().id, "Anna", "the name is all there is");
    assert_eq!(one(&json!({"from_id": null, "from": null})).sender, None);
}

#[test]
fn old_files_have_a_time_of_1970_for_what_was_not_edited() {
    assert_eq!(one(&json!({"edited": "1970-01-01T05:00:00"})).edited, None);
    assert!(one(&json!({"edited": "2020-06-01T10:01:00"})).edited.is_some());
}

#[test]
fn a_time_that_cannot_be_read_gives_way_to_the_local_one() {
    let message = one(&json!({"date_unixtime": "soon"}));
    assert_eq!(message.timestamp.to_string(), "2020-06-01T10:00:00Z");
}

#[test]
fn text_that_is_only_in_the_entities() {
    let entities = json!([{"type": "plain", "text": "a "}, {"type": "spoiler", "text": "b"}]);
    assert_eq!(text(&one(&json!({"text": null, "text_entities": entities}))), "a b");
}

#[test]
fn media_that_is_not_there() {
    let gone = one(&json!({"self_destruct_period_seconds": 30}));
    assert_eq!(gone.body, Body::Unknown("[Self-destructing media]".to_owned()));
    let place = one(&json!({"location_information": null, "live_location_period_seconds": 60}));
    assert_eq!(place.body, Body::Unknown("[Location]".to_owned()));
    let invoice = one(&json!({"invoice_information": "{\"title\":\"x\"}"}));
    assert_eq!(invoice.body, Body::Unknown("[Invoice] {\"title\":\"x\"}".to_owned()));
}

#[test]
fn cards_come_with_their_files() {
    let card = one(
        &json!({"contact_information": {"first_name": "Cleo", "last_name": "X", "phone_number": ""}, "contact_vcard": "contacts/contact_1.vcf"}),
    );
    assert_eq!(card.body, Body::Contact { name: "Cleo X".to_owned(), phone: None });
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
        (json!({"information_text": "Anna waved"}), "custom", "Anna: Anna waved"),
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
    let ids: Vec<_> = read.messages.iter().map(|(chat, it)| (&**chat, &*it.id)).collect();
    assert_eq!(ids, [("-5", "1"), ("-5", "-999999999"), ("-1005", "1")]);
    // The members of these objects are sorted, so the file is read twice; what is counted is counted once.
    assert_eq!((read.summary.chats, read.summary.messages), (2, 3));
}
