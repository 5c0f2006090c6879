//! Finding a chat by what somebody calls it.

use chat_server::index::{FoundChat, find_among};

use super::samples::{Fixture, chat, message, said};

const NAMES: [(&str, &str); 8] = [
    ("1", "Antti"),
    ("2", "Antti Virtanen"),
    ("3", "Work: plans / 2025"),
    ("4", "Mökkiläiset"),
    ("-100", "Family"),
    ("6", "family friends"),
    ("7", "100"),
    ("100", "Hundred"),
];

async fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let chats = NAMES.map(|(id, name)| chat(id, name)).to_vec();
    fixture.keep("telegram", chats).await;
    // Of the chats with "family" in the name the second is the active one.
    let said = said("6", message("a", 1, "Bob", "hi"));
    fixture.keep("telegram", vec![said]).await;
    fixture
}

fn names(found: &FoundChat) -> (char, Vec<&str>) {
    match found {
        FoundChat::Found(chat) => ('f', vec![&chat.chat.name]),
        FoundChat::Ambiguous { candidates, .. } => {
            ('a', candidates.iter().map(|chat| chat.chat.name.as_str()).collect())
        }
        FoundChat::NotFound { nearest } => {
            ('n', nearest.iter().map(|chat| chat.chat.name.as_str()).collect())
        }
    }
}

async fn find(fixture: &Fixture, source: Option<&str>, text: &str) -> FoundChat {
    find_among(fixture.index.chats(source).await.unwrap(), text)
}

#[tokio::test]
async fn by_id_then_name_then_part() {
    let fixture = fixture().await;
    let table = [
        ("2", ('f', vec!["Antti Virtanen"])),
        ("100", ('f', vec!["Hundred"])),
        ("Antti", ('f', vec!["Antti"])),
        ("antti", ('f', vec!["Antti"])),
        ("ANTTI V", ('f', vec!["Antti Virtanen"])),
        ("virt", ('f', vec!["Antti Virtanen"])),
        ("Work: plans / 2025", ('f', vec!["Work: plans / 2025"])),
        ("plans / 20", ('f', vec!["Work: plans / 2025"])),
        ("mokki", ('f', vec!["Mökkiläiset"])),
        ("MÖKKILÄISET", ('f', vec!["Mökkiläiset"])),
        ("fam", ('a', vec!["family friends", "Family"])),
        ("Antty", ('n', vec!["Antti", "Antti Virtanen"])),
        ("Virtannen", ('n', vec!["Antti Virtanen"])),
        ("qqqq", ('n', vec![])),
        ("", ('n', vec![])),
    ];
    for (text, expected) in table {
        let found = find(&fixture, Some("telegram"), text).await;
        assert_eq!(names(&found), expected, "{text}");
    }
    let elsewhere = find(&fixture, Some("signal"), "Antti").await;
    assert_eq!(names(&elsewhere), ('n', vec![]));
}

#[tokio::test]
async fn a_name_that_two_chats_have_is_ambiguous() {
    let fixture = fixture().await;
    fixture.keep("signal", vec![chat("x", "Antti")]).await;
    let found = find(&fixture, None, "Antti").await;
    assert_eq!(names(&found), ('a', vec!["Antti", "Antti"]));
    let found = find(&fixture, Some("signal"), "Antti").await;
    assert_eq!(names(&found), ('f', vec!["Antti"]));
}
