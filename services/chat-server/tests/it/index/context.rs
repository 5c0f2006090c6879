//! What was said around a message.

use chat_server::index::{IndexError, MAX_AROUND};
use chat_server::model::{Attachment, AttachmentKind, AttachmentPlace};

use super::samples::{Fixture, chat, ids, key, message, said};

#[tokio::test]
async fn so_many_before_and_after_in_its_chat() {
    let fixture = Fixture::new();
    let mut events = vec![chat("1", "Antti"), chat("2", "Alice")];
    for n in 0..10 {
        // Three of one time, and another chat between.
        events.push(said("1", message(&n.to_string(), n / 3, "Bob", "hi")));
        events.push(said("2", message(&format!("x{n}"), n / 3, "Eve", "hi")));
    }
    fixture.keep("telegram", events).await;
    let around = async |id: &str, before, after| {
        let found = fixture.index.context(&key("telegram", "1"), id, before, after).await;
        let (message, around) = found.unwrap().unwrap();
        (ids(&around.before), message.message.id, ids(&around.after))
    };
    let text = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        around("4", 2, 3).await,
        (text(&["2", "3"]), "4".to_owned(), text(&["5", "6", "7"]))
    );
    assert_eq!(around("0", 2, 1).await, (text(&[]), "0".to_owned(), text(&["1"])));
    assert_eq!(around("9", 1, 5).await, (text(&["8"]), "9".to_owned(), text(&[])));
    assert_eq!(around("5", 0, 0).await, (text(&[]), "5".to_owned(), text(&[])));
    for (source, chat, id) in [("telegram", "2", "4"), ("signal", "1", "4"), ("telegram", "1", "")]
    {
        let found = fixture.index.context(&key(source, chat), id, 1, 1).await;
        assert_eq!(found, Ok(None));
    }
    let refused = fixture.index.context(&key("telegram", "1"), "4", 0, MAX_AROUND + 1).await;
    assert!(matches!(refused, Err(IndexError::Invalid(invalid)) if invalid.parameter == "after"));
}

#[tokio::test]
async fn a_message_by_id() {
    let fixture = Fixture::new();
    let mut picture = message("a:b/c", 1, "Bob", "look");
    picture.attachments = vec![Attachment {
        transcript: None,
        kind: AttachmentKind::Image,
        name: Some("1.jpg".to_owned()),
        media_type: None,
        size: None,
        seconds: None,
        place: AttachmentPlace::Export("photos/1.jpg".to_owned()),
    }];
    let expected = picture.clone();
    fixture.keep("telegram", vec![chat("x/1", "Antti"), said("x/1", picture)]).await;
    let chat = key("telegram", "x/1");
    let found = fixture.index.message(&chat, "a:b/c").await.unwrap().unwrap();
    assert_eq!(found.message, expected);
    assert_eq!(fixture.index.message(&chat, "a").await, Ok(None));
}
