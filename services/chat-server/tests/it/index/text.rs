//! Parts of texts: neither case nor diacritics count, and an index gives what looking at every text would.

use chat_server::index::{MessageQuery, SearchQuery, says};
use chat_server::source::MAX_BATCH;
use proptest::prelude::*;

use super::samples::{Fixture, chat, message, said};

fn part(search: &str) -> MessageQuery {
    MessageQuery { search: Some(search.to_owned()), ..MessageQuery::default() }
}

#[tokio::test]
async fn case_and_diacritics_do_not_count() {
    let table = [
        ("Kokous MÖKILLÄ", "mokilla", true),
        ("kokous mokilla", "Mökillä", true),
        ("Straße", "STRASSE", true),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς", true),
        ("Ёлка", "елка", true),
        ("e\u{301}te\u{301}", "été", true),
        ("ﬁle 5", "FILE 5", true),
        ("שָׁלוֹם", "שלום", true),
        ("مُحَمَّد", "محمد", true),
        ("がく", "かく", false),
        ("가", "각", false),
        ("각", "가", false),
        ("कि", "क", false),
        ("क", "कि", false),
        ("meeting", "meetings", false),
        ("meetings", "meeting", true),
        ("meetings", "\"meeting\"", false),
        ("Łódź", "lodz", true),
        ("smørrebrød", "smorrebrod", true),
        ("我们明天开会", "明天", true),
        ("我们明天开会", "会", true),
        ("我们明天开会", "天明", false),
        ("明日は会議です", "会議", true),
        ("내일 학교에서 만나요", "학교", true),
        ("พรุ่งนี้ประชุมกัน", "ประชุม", true),
        ("cake 🎂 today", "🎂", true),
        ("cake today", "🎂", false),
        ("İstanbul", "istanbul", true),
        ("👍🏽 ok", "👍", true),
        ("a\0b", "a b", true),
    ];
    for (text, search, expected) in table {
        let fixture = Fixture::new();
        let said = said("1", message("a", 1, "Bob", text));
        fixture.keep("telegram", vec![chat("1", "Antti"), said]).await;
        let found = fixture.ids(&part(search)).await.len() == 1;
        assert_eq!(found, expected, "{search} in {text}");
    }
}

/// What is rare is far back, so that it is not found among the newest; the ways to it must not differ.
#[tokio::test]
async fn what_is_far_back_is_found_too() {
    let fixture = Fixture::new();
    let count = 20_000;
    let text = |n: usize| match n {
        7 => "Kevätkokous: a b, c! \"AND\" qqwweerr".to_owned(),
        // One among the newest too: the second way must not find it again.
        8..12 | 19_990 => "kevat kokous".to_owned(),
        _ => format!("something else {n}"),
    };
    let mut events = vec![chat("1", "Antti"), chat("2", "Other")];
    for n in 0..count {
        let sender = if n == 9 { "Rare One" } else { "Bob" };
        let id = if n == 10 { "2" } else { "1" };
        events.push(said(id, message(&n.to_string(), n as i64, sender, &text(n))));
        if events.len() == MAX_BATCH || n + 1 == count {
            fixture.keep("telegram", std::mem::take(&mut events)).await;
        }
    }
    let table = [
        ("kevät", vec!["19990", "11", "10", "9", "8", "7"]),
        ("KEVATKOK", vec!["7"]),
        ("kevätkokouskevät", vec![]),
        ("\"and\"", vec!["7"]),
        ("a b, c! \"", vec!["7"]),
        ("qqw", vec!["7"]),
        ("kevatkokous: a b, c! \"and\" qqwweer", vec!["7"]),
    ];
    for (search, expected) in table {
        assert_eq!(fixture.ids(&part(search)).await, expected, "{search}");
    }
    let words = [
        ("kevat", vec!["19990", "11", "10", "9", "8", "7"]),
        ("\"kevat\"", vec!["19990", "11", "10", "9", "8"]),
        ("kev*", vec!["19990", "11", "10", "9", "8", "7"]),
        ("\"a b c\"", vec!["7"]),
        ("\"b a\"", vec![]),
    ];
    for (text, expected) in words {
        let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
        let hits = fixture.index.search(&query).await.unwrap().hits;
        let ids: Vec<&str> = hits.iter().map(|hit| hit.message.message.id.as_str()).collect();
        assert_eq!(ids, expected, "{text}");
    }
    let rare = MessageQuery { sender: Some("rare".to_owned()), ..MessageQuery::default() };
    assert_eq!(fixture.ids(&rare).await, ["9"]);
    let everything = MessageQuery {
        chats: Some(vec![super::samples::key("telegram", "2")]),
        search: Some("kevat".to_owned()),
        ..MessageQuery::default()
    };
    assert_eq!(fixture.ids(&everything).await, ["10"]);
    let since = MessageQuery { since: Some(super::samples::at(9)), ..part("kevat") };
    assert_eq!(fixture.ids(&since).await, ["19990", "11", "10", "9"]);
    // From page to page, through both ways.
    let mut query = MessageQuery { limit: 2, ..part("kevat") };
    let mut found = Vec::new();
    loop {
        let page = fixture.page(&query).await;
        found.extend(super::samples::ids(&page.messages));
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, ["19990", "11", "10", "9", "8", "7"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_part_is_found_where_it_is(
        texts in prop::collection::vec("[a-dA-D äÖéßςΣЙйüñ½™ﬁ\u{301}\u{308}😀]{0,12}", 1..20),
        searches in prop::collection::vec("[a-dA-D äÖéßςΣЙйüñ½ﬁ😀]{1,4}", 1..8),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let fixture = Fixture::new();
            let mut events = vec![chat("1", "Antti")];
            for (text, n) in texts.iter().zip(0..) {
                events.push(said("1", message(&n.to_string(), n, "Bob", text)));
            }
            fixture.keep("telegram", events).await;
            // What has no word is refused.
            for search in searches.iter().filter(|search| says("", search).is_ok()) {
                let expected: Vec<String> = texts
                    .iter()
                    .enumerate()
                    .rev()
                    .filter(|(_, text)| says(text, search).unwrap_or(false))
                    .map(|(n, _)| n.to_string())
                    .collect();
                assert_eq!(fixture.ids(&part(search)).await, expected, "{search:?} in {texts:?}");
            }
        });
    }
}

/// Words that are rare are found by the index of words, which must not know fewer letters and marks than the rest: in
/// scripts with vowels that are marks, with letters beyond the first plane, and with letters that came late to Unicode.
#[tokio::test]
async fn words_of_any_script_are_found_far_back() {
    let words = [
        "हिन्दी",
        "မြန်မာ",
        "ភាសាខ្មែរ",
        "བོད་སྐད",
        "ภาษาไทย",
        "தமிழ்",
        "𞤀𞤣𞤤𞤢𞤥",
        "𐓏𐓘𐓻𐓘𐓻𐓟",
        "ߒߞߏ",
        "ᏣᎳᎩ",
        "ꭰꭹ",
        "𰻝",
        "𠮷野家",
        "ʻokina",
        "ⓐⓑ",
        "🄰🄱",
        "🅐🅑",
        "Ⅻ",
        "x²",
        "𝕬𝖇",
        "კომპიუტერი",
        "ᲙᲝᲛᲞ",
        "ー",
        "々",
        "ㆍ",
        "ᄀ",
        "l·l",
        "נ״ט",
        "a\u{20dd}",
        "\u{483}x",
    ];
    let fixture = Fixture::new();
    let far = words.map(|word| format!("far {word} back"));
    let near = (0..9_000).map(|n| format!("something else {n}"));
    let mut events = vec![chat("1", "Antti")];
    for (n, text) in far.into_iter().chain(near).enumerate() {
        events.push(said("1", message(&n.to_string(), n as i64, "Bob", &text)));
        if events.len() == MAX_BATCH {
            fixture.keep("telegram", std::mem::take(&mut events)).await;
        }
    }
    fixture.keep("telegram", events).await;
    for (n, word) in words.iter().enumerate() {
        let beginning: String = word.chars().take(1).chain("*".chars()).collect();
        for text in [*word, &beginning, &format!("\"far {word} back\"")] {
            let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
            // What is no word cannot be looked for.
            let Ok(hits) = fixture.index.search(&query).await else {
                continue;
            };
            let found = hits.hits.iter().map(|hit| &*hit.message.message.id);
            let found: Vec<&str> = found.collect();
            assert!(found.contains(&&*n.to_string()), "{text} of {word}: {found:?}");
        }
    }
}
