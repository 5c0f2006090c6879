//! What a source feeds: new, again, edited, taken back, reacted to.

use chat_server::index::MessageQuery;
use chat_server::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, Message, Participant, Reaction,
};
use chat_server::source::{Batch, Change, Event, MAX_BATCH};

use super::samples::{Fixture, at, chat, ids, message, said};

fn three() -> Vec<Event> {
    vec![
        chat("1", "Antti"),
        said("1", message("a", 1, "Antti", "hei")),
        said("1", message("b", 2, "Alice", "xylofoni")),
        said("1", message("c", 3, "Antti", "mitä kuuluu")),
    ]
}

/// One of everything.
fn rich() -> Vec<Message> {
    let bodies = [
        Body::Text("words".to_owned()),
        Body::Location { latitude: 60.17, longitude: 24.94, name: Some("Kamppi".to_owned()) },
        Body::Contact { name: "Alice".to_owned(), phone: Some("+358 40 123".to_owned()) },
        Body::Poll {
            question: "When?".to_owned(),
            answers: vec![("now".to_owned(), Some(2)), ("later".to_owned(), None)],
        },
        Body::Service { action: "join_group".to_owned(), text: "Bob joined".to_owned() },
        Body::Unknown("a game".to_owned()),
        Body::Text(String::new()),
    ];
    let places = [
        AttachmentPlace::Export("photos/1.jpg".to_owned()),
        AttachmentPlace::Remote("file-1".to_owned()),
        AttachmentPlace::Missing(Some("too large".to_owned())),
        AttachmentPlace::Missing(None),
    ];
    let attachments: Vec<Attachment> = places
        .into_iter()
        .map(|place| Attachment {
            transcript: None,
            kind: AttachmentKind::Video,
            name: Some("1.jpg".to_owned()),
            media_type: Some("image/jpeg".to_owned()),
            size: Some(u64::from(u32::MAX) + 1),
            seconds: Some(7),
            place,
        })
        .collect();
    bodies
        .into_iter()
        .zip(0..)
        .map(|(body, n)| Message {
            body,
            sender: (n != 4).then(|| Participant {
                id: "user1".to_owned(),
                name: "Alice Müller".to_owned(),
                username: Some("alice".to_owned()),
                phone: Some("+358 40 123".to_owned()),
                is_me: true,
            }),
            reply_to: Some("x".to_owned()),
            forwarded_from: Some("Bob".to_owned()),
            edited: Some(at(100)),
            reactions: vec![Reaction {
                emoji: "👍".to_owned(),
                count: 3,
                by: vec!["Bob".to_owned()],
            }],
            attachments: attachments.clone(),
            ..message(&n.to_string(), n, "", "")
        })
        .collect()
}

#[tokio::test]
async fn what_goes_in_comes_out_and_is_there_after_opening_again() {
    let mut fixture = Fixture::new();
    let mut events = vec![chat("1", "Antti")];
    events.extend(rich().into_iter().map(|message| said("1", message)));
    fixture.keep("telegram", events).await;
    for _ in 0..2 {
        let mut found = fixture.all().await;
        found.reverse();
        let messages: Vec<Message> = found.iter().map(|found| found.message.clone()).collect();
        assert_eq!(messages, rich());
        assert!(found.iter().all(|found| found.source == "telegram"));
        assert!(found.iter().all(|found| found.chat == "1"));
        assert!(found.iter().all(|found| found.chat_name == "Antti"));
        let sequences: Vec<u64> = found.iter().map(|found| found.sequence).collect();
        assert_eq!(sequences, Vec::from_iter(1..=7));
        fixture.reopen();
    }
}

#[tokio::test]
async fn an_import_that_is_repeated_doubles_nothing() {
    let fixture = Fixture::new();
    fixture.keep("telegram", three()).await;
    let first = fixture.all().await;
    fixture.keep("telegram", three()).await;
    assert_eq!(fixture.all().await, first);
    let sources = fixture.index.sources().await.unwrap();
    assert_eq!((sources[0].chats, sources[0].messages), (1, 3));
    let chats = fixture.index.chats(None).await.unwrap();
    assert_eq!((chats[0].messages, chats[0].chat.participants, chats[0].writers), (3, None, 2));
    // Another source with the same ids is another.
    fixture.keep("signal", three()).await;
    assert_eq!(fixture.all().await.len(), 6);
}

#[tokio::test]
async fn an_edit_keeps_place_and_number() {
    let fixture = Fixture::new();
    fixture.keep("telegram", three()).await;
    let edit = Event::changed("1", "b", Change::Edited { text: "terve".to_owned(), at: at(50) });
    fixture.keep("telegram", vec![edit]).await;
    let all = fixture.all().await;
    assert_eq!(ids(&all), ["c", "b", "a"]);
    assert_eq!(all[1].sequence, 2);
    assert_eq!(all[1].message.body, Body::Text("terve".to_owned()));
    assert_eq!(all[1].message.edited, Some(at(50)));
    // The words that are found are the new ones.
    for (search, found) in [("terve", 1), ("xylofoni", 0)] {
        let query = MessageQuery { search: Some(search.to_owned()), ..MessageQuery::default() };
        assert_eq!(fixture.ids(&query).await.len(), found, "{search}");
    }
    // Neither an older export nor a late, older edit brings the old words back.
    let late = Event::changed("1", "b", Change::Edited { text: "older".to_owned(), at: at(49) });
    let mut events = three();
    events.push(late);
    fixture.keep("telegram", events).await;
    assert_eq!(fixture.all().await, all);
}

#[tokio::test]
async fn what_is_taken_back_stays_without_its_words() {
    let fixture = Fixture::new();
    fixture.keep("telegram", three()).await;
    let delete = |id: &str| Event::changed("1", id, Change::Deleted);
    fixture.keep("telegram", vec![delete("b"), delete("b"), delete("nobody")]).await;
    // An older export does not bring it back.
    fixture.keep("telegram", three()).await;
    let all = fixture.all().await;
    assert_eq!(ids(&all), ["c", "b", "a"]);
    assert!(all[1].message.deleted);
    assert_eq!(all[1].message.body, Body::Text(String::new()));
    assert_eq!(all[1].sequence, 2);
    let query = MessageQuery { search: Some("xylofoni".to_owned()), ..MessageQuery::default() };
    assert_eq!(fixture.ids(&query).await.len(), 0);
    assert!(!is_on_disk(&fixture, "xylofoni"));
}

/// Whether any of the files has these bytes, once everything is written out.
fn is_on_disk(fixture: &Fixture, word: &str) -> bool {
    fixture.index.close();
    let files = std::fs::read_dir(fixture.dir.path()).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).any(|bytes| {
        let mut windows = bytes.windows(word.len());
        windows.any(|window| window == word.as_bytes())
    })
}

#[tokio::test]
async fn what_was_not_taken_back_is_on_the_disk() {
    let fixture = Fixture::new();
    fixture.keep("telegram", three()).await;
    assert!(is_on_disk(&fixture, "xylofoni"));
}

#[tokio::test]
async fn reactions_come_and_go() {
    let fixture = Fixture::new();
    fixture.keep("telegram", three()).await;
    let react = |name: &str, removed| reacted("👍", name, removed);
    let steps = [
        (react("Bob", false), 1),
        (react("Bob", false), 1),
        (react("Eve", false), 2),
        (react("Bob", true), 1),
        (react("Nobody", true), 1),
        (react("Eve", true), 0),
    ];
    for (event, count) in steps {
        fixture.keep("telegram", vec![event]).await;
        let reactions = &fixture.all().await[1].message.reactions;
        let found: u32 = reactions.iter().map(|reaction| reaction.count).sum();
        assert_eq!(found, count);
    }
}

fn reacted(emoji: &str, name: &str, removed: bool) -> Event {
    let reaction = Reaction { emoji: emoji.to_owned(), count: 1, by: vec![name.to_owned()] };
    Event::changed("1", "b", Change::Reacted { reaction, removed })
}

#[tokio::test]
async fn whatever_somebody_gave_is_taken_back_at_once() {
    let fixture = Fixture::new();
    fixture.keep("signal", three()).await;
    let events = vec![
        reacted("👍", "Bob", false),
        reacted("👍", "Eve", false),
        reacted("🎉", "Bob", false),
        reacted("", "Bob", true),
        reacted("", "Nobody", true),
    ];
    fixture.keep("signal", events).await;
    let expected = [Reaction { emoji: "👍".to_owned(), count: 1, by: vec!["Eve".to_owned()] }];
    assert_eq!(fixture.all().await[1].message.reactions, expected);
}

/// As a bot receives an edit, which says nothing of reactions.
#[tokio::test]
async fn a_message_that_is_revised_keeps_its_reactions_and_nothing_else() {
    let fixture = Fixture::new();
    fixture.keep("bot", three()).await;
    fixture.keep("bot", vec![reacted("👍", "Bob", false)]).await;
    let before = fixture.all().await[1].message.reactions.clone();
    assert_eq!(before.len(), 1);
    let revised = |id: &str| Event::Revised {
        chat: "1".to_owned(),
        message: Box::new(Message { edited: Some(at(9)), ..message(id, 2, "Alice", "marimba") }),
    };
    fixture.keep("bot", vec![revised("b"), revised("new")]).await;
    let all = fixture.all().await;
    let found = |id: &str| &all.iter().find(|it| it.message.id == id).unwrap().message;
    assert_eq!(found("b").body, Body::Text("marimba".to_owned()));
    assert_eq!(found("b").reactions, before);
    assert_eq!(found("new").reactions, []);
    // A message of an export brings those that there are.
    let again = said("1", message("b", 2, "Alice", "marimba"));
    let again = match again {
        Event::Message { chat, mut message } => {
            message.edited = Some(at(9));
            Event::Message { chat, message }
        }
        other => other,
    };
    fixture.keep("bot", vec![again]).await;
    let all = fixture.all().await;
    assert!(all.iter().all(|it| it.message.reactions.is_empty()));
}

#[tokio::test]
async fn a_batch_is_kept_whole_or_not_at_all() {
    let fixture = Fixture::new();
    let sink = fixture.index.sink("telegram");
    assert_eq!(sink.mark().await, Ok(None));
    let batch =
        |mark: &str, events| Batch { events, mark: Some(mark.to_owned()), ..Batch::default() };
    sink.keep(batch("1", three())).await.unwrap();
    assert_eq!(sink.mark().await, Ok(Some("1".to_owned())));
    // A batch without a mark leaves it.
    fixture.keep("telegram", three()).await;
    assert_eq!(sink.mark().await, Ok(Some("1".to_owned())));
    let many = (0..=MAX_BATCH as i64).map(|n| said("1", message(&n.to_string(), n, "Bob", "x")));
    let refused = sink.keep(batch("2", many.collect())).await.unwrap_err();
    assert!(refused.0.contains("the most is 8000"), "{refused}");
    assert_eq!(sink.mark().await, Ok(Some("1".to_owned())));
    assert_eq!(fixture.all().await.len(), 3);
}
