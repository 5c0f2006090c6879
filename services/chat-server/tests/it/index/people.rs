//! Who is who.

use chat_server::index::Person;
use chat_server::model::{Alias, Participant};

use super::samples::{Fixture, chat, message, said};

/// Source, id, name, username, phone, me, messages.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, bool, usize);

const ROWS: [Row; 8] = [
    ("telegram", "u1", "Antti Virtanen", "antti", "+358 40 123 4567", false, 5),
    ("signal", "s1", "Antti V.", "", "00358401234567", false, 4),
    ("whatsapp", "Antti työ", "Antti työ", "", "", false, 1),
    ("whatsapp", "~ +358 40 1234567", "+358 40 1234567", "", "", false, 1),
    ("telegram", "u2", "Me Myself", "", "", true, 3),
    ("whatsapp", "I", "I", "", "", true, 2),
    ("telegram", "u3", "Alice", "ALICE", "123", false, 2),
    ("signal", "s3", "Älice", "alice", "12-3", false, 1),
];

async fn fixture() -> Fixture {
    let fixture = Fixture::new();
    for (source, id, name, username, phone, is_me, count) in ROWS {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut events = vec![chat("1", "Chat")];
        for n in 0..count {
            let mut message = message(&format!("{id}{n}"), n as i64, "", "hi");
            message.sender = Some(Participant {
                id: id.to_owned(),
                name: name.to_owned(),
                username: some(username),
                phone: some(phone),
                is_me,
            });
            events.push(said("1", message));
        }
        fixture.keep(source, events).await;
    }
    fixture
}

fn names(people: &[Person]) -> Vec<(&str, u64, usize)> {
    people
        .iter()
        .map(|person| (person.name.as_str(), person.messages, person.identities.len()))
        .collect()
}

#[tokio::test]
async fn joined_by_number_by_username_and_as_oneself() {
    let fixture = fixture().await;
    let people = fixture.index.people(&[]).await.unwrap();
    assert_eq!(
        names(&people),
        [("Antti Virtanen", 10, 3), ("Me Myself", 5, 2), ("Alice", 3, 2), ("Antti työ", 1, 1)]
    );
    assert_eq!(people.iter().filter(|person| person.is_me).count(), 1);
    // Three digits identify no person: it was the username.
    let sources: Vec<_> =
        people[0].identities.iter().map(|identity| identity.source.as_str()).collect();
    assert_eq!(sources, ["telegram", "signal", "whatsapp"]);
}

#[tokio::test]
async fn aliases_join_and_name() {
    let fixture = fixture().await;
    let alias = |name: &str, members: &[&str]| Alias {
        name: name.to_owned(),
        aliases: members.iter().map(|member| (*member).to_owned()).collect(),
    };
    let aliases = [
        alias("Antti", &["antti työ", "+358401234567"]),
        alias("Unknown", &["u9"]),
        alias("Sis", &["@alice"]),
    ];
    let people = fixture.index.people(&aliases).await.unwrap();
    assert_eq!(names(&people), [("Antti", 11, 4), ("Me Myself", 5, 2), ("Sis", 3, 2)]);
}

/// Who has to look at all of them does so at once: each look costs as much.
#[tokio::test]
async fn all_people_of_a_large_group_are_given_at_once() {
    let fixture = Fixture::new();
    fixture.keep("telegram", vec![chat("1", "Team")]).await;
    for part in [0..900, 900..1_500] {
        let said =
            part.map(|n| said("1", message(&n.to_string(), n, &format!("Person {n}"), "hi")));
        fixture.keep("telegram", said.collect()).await;
    }
    let all = fixture.index.people(&[]).await.unwrap();
    assert_eq!(all.len(), 1_500);
}
