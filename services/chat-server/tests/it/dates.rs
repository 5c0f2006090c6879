//! Short chats of two countries in which no day is above 12, through the real binary: each is read right, or what is
//! not sure is reported where the chat is listed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chat_server::import::DayOrder;
use jiff::civil::Date;
use jiff::{Span, ToSpan as _};
use serde_json::Value;

use crate::mcp::harness::TestSetup;

/// How many chats of each country.
const CHATS: u64 = 200;

/// How telephones of a country write: a header before each message.
type Style = fn(Date, u64) -> String;

const AMERICAN: [Style; 4] = [
    |day, n| format!("{}, 3:{:02} PM - ", american(day), n % 60),
    |day, n| format!("{}, 3:{:02}\u{202f}PM - ", american(day), n % 60),
    |day, n| format!("{}, 15:{:02} - ", american(day), n % 60),
    |day, n| format!("[{}, 3:{:02}:07 PM] ", american(day), n % 60),
];

const BRITISH: [Style; 5] = [
    |day, n| format!("{}, 15:{:02} - ", day.strftime("%d/%m/%Y"), n % 60),
    |day, n| format!("{}, 3:{:02} pm - ", day.strftime("%d/%m/%Y"), n % 60),
    |day, n| format!("{}, 3:{:02} pm - ", day.strftime("%-d/%-m/%y"), n % 60),
    |day, n| format!("{}, 15:{:02} - ", day.strftime("%-d/%-m/%y"), n % 60),
    |day, n| format!("[{}, 15:{:02}:07] ", day.strftime("%d/%m/%Y"), n % 60),
];

fn american(day: Date) -> String {
    day.strftime("%-m/%-d/%y").to_string()
}

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        // Knuth's MMIX.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// The days of a short chat, none above 12.
fn days(chance: &mut Chance) -> Vec<Date> {
    let gap = [1, 3, 9, 40, 150][usize::try_from(chance.below(5)).unwrap()];
    let span = |days: u64| -> Span { i64::try_from(days).unwrap().days() };
    let mut day = Date::constant(2019, 1, 1) + span(chance.below(1_000));
    let mut days = Vec::new();
    for _ in 0..=chance.below(8) {
        day += span(chance.below(gap + 1));
        while day.day() > 12 {
            day += 1.day();
        }
        days.push(day);
    }
    days
}

async fn json(setup: &TestSetup, arguments: &[&str]) -> Value {
    let (command, rest) = arguments.split_first().unwrap();
    let (code, stdout, stderr) = setup.run(command, rest).await;
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Chats of one country, or of both, in one folder: how many were read wrongly, each with a doubt.
async fn wrong_of(styles: &[(DayOrder, &[Style])]) -> u64 {
    let setup = TestSetup::new(
        "[[source]]\nid = \"s\"\nkind = \"whatsapp-export\"\npath = \"export\"\nzone = \"UTC\"\n",
    );
    let mut chance = Chance(16);
    let mut truth = BTreeMap::new();
    for (order, styles) in styles {
        for n in 0..CHATS {
            let style = styles[usize::try_from(n).unwrap() % styles.len()];
            let days = days(&mut chance);
            let name = format!("{} {n:03}", order.name());
            let mut text = String::new();
            for (n, day) in (0..).zip(&days) {
                writeln!(text, "{}Ann: {n}", style(*day, n)).unwrap();
            }
            setup.write(&format!("export/WhatsApp Chat with {name}.txt"), &text);
            truth.insert(name, (*order, days));
        }
    }
    let (code, stdout, stderr) = setup.run("import", &[]).await;
    assert_eq!(code, 0, "{stdout}{stderr}");
    let told = json(&setup, &["chats", "--format", "json"]).await;
    let chats = told["chats"].as_array().unwrap();
    assert_eq!(chats.len(), truth.len());
    let mut read: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let mut asked = vec!["messages", "--format", "json", "--limit", "1000"];
        if !cursor.is_empty() {
            asked.extend(["--cursor", &cursor]);
        }
        let page = json(&setup, &asked).await;
        for message in page["messages"].as_array().unwrap() {
            let mut all = page["chats"].as_array().unwrap().iter();
            let chat = all.find(|chat| chat["id"] == message["chat_id"]).unwrap();
            let chat = chat["name"].as_str().unwrap().to_owned();
            let day = message["timestamp"].as_str().unwrap()[..10].to_owned();
            read.entry(chat).or_default().push(day);
        }
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    // The messages of such a chat say so, too.
    let (_, _, note) = setup.run("messages", &["--limit", "1000"]).await;
    assert!(note.contains("can be read in two ways in "), "{note}");
    let mut wrong = 0;
    for chat in chats {
        let name = chat["name"].as_str().unwrap();
        let (order, days) = &truth[name];
        let mut expected: Vec<String> = days.iter().map(Date::to_string).collect();
        let mut found = read.remove(name).unwrap();
        expected.sort();
        found.sort();
        if found != expected {
            wrong += 1;
            let doubt = &chat["date_doubt"];
            assert_eq!(doubt["or_perhaps"], order.name(), "silently: {chat} {days:?}");
        }
    }
    wrong
}

#[tokio::test]
async fn no_short_chat_is_silently_read_in_the_wrong_order() {
    let american = (DayOrder::MonthFirst, &AMERICAN[..]);
    let british = (DayOrder::DayFirst, &BRITISH[..]);
    let alone = wrong_of(&[american]).await + wrong_of(&[british]).await;
    let together = wrong_of(&[american, british]).await;
    eprintln!("wrong, with a doubt: {alone} of 400 by country, {together} of 400 together");
    assert!(alone < 80 && together < 80, "{alone}, {together} of 400");
}

/// A file may be older by its date than what is in it: some programs keep no dates.
#[tokio::test]
async fn the_date_of_a_file_is_a_hint_and_no_proof() {
    for (written, day) in
        [("1980-01-01", "2024-02-01"), ("2024-01-15", "2024-01-02"), ("2024-09-01", "2024-02-01")]
    {
        let setup = TestSetup::new(
            "[[source]]\nid = \"s\"\nkind = \"whatsapp-export\"\npath = \"export\"\nzone = \"UTC\"\n",
        );
        setup.write("export/WhatsApp Chat with Ann.txt", "1/2/24, 18:05 - Ann: x\n");
        let file = std::fs::File::options()
            .write(true)
            .open(setup.path("export/WhatsApp Chat with Ann.txt"))
            .unwrap();
        let zone = jiff::tz::TimeZone::UTC;
        let time = written.parse::<Date>().unwrap().to_zoned(zone).unwrap();
        file.set_modified(time.timestamp().into()).unwrap();
        let (code, _, stderr) = setup.run("import", &[]).await;
        assert_eq!(code, 0, "{written}: {stderr}");
        let told = json(&setup, &["chats", "--format", "json"]).await;
        let chat = &told["chats"][0];
        assert!(chat["last_activity"].as_str().unwrap().starts_with(day), "{written}: {chat}");
        assert!(chat["date_doubt"].is_object(), "{written}: {chat}");
    }
}
