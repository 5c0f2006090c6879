//! The crate `chatpack` reads the same files: where it reads a message at all, both agree on who, when and what.
//!
//! Where it reads otherwise, and why we do not:
//!
//! - Telegram: only text is read (no files without a caption, places, polls, service messages); whole accounts, `\xNN`
//!   and ids that are numbers are refused; without `date_unixtime` there is no time; targets of links are left out.
//! - WhatsApp: blank lines are left out; a name ends at its first colon; `[13/12/2023, …]` is always read month first,
//!   and a date that cannot be so has no time; a mark before the bracket makes a line part of the message before; what
//!   quotes a form more often than the file's own changes the form; marks before names and texts stay; what WhatsApp
//!   says of files, places, polls, edits is text; texts with English words such as "added" or "left" are left out as
//!   notices; zips, and forms with words, other digits or other separators, are not read.

use chat_server::model::Body;
use chatpack::parser::Parser as _;
use chatpack::parsers::{TelegramParser, WhatsAppParser};
use jiff::civil::DateTime;
use proptest::prelude::*;

use super::telegram::{Form, chat_json, written};
use super::{PEOPLE, QUOTE, Talk, What, config, talk};
use crate::import::read_text;

const NAMES: [&str; 1] = ["Cleo"];

/// Who, when in seconds, and what.
type Line = (String, Option<i64>, String);

fn opinion(messages: Vec<chatpack::Message>) -> Vec<Line> {
    messages
        .into_iter()
        .map(|it| (it.sender, it.timestamp.map(|at| at.timestamp()), it.content))
        .collect()
}

fn ours(read: crate::import::Read) -> Vec<Line> {
    let text = |body: Body| match body {
        Body::Text(text) => Some(text),
        _ => None,
    };
    read.messages
        .into_iter()
        .filter_map(|(_, it)| {
            Some((it.sender?.name, Some(it.timestamp.as_second()), text(it.body)?))
        })
        .collect()
}

fn without_blank_lines(lines: Vec<Line>) -> Vec<Line> {
    let full = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    lines.into_iter().map(|(who, at, text)| (who, at, full(&text))).collect()
}

/// The forms that it knows: a date, and whether seconds follow.
const FORMS: [(&str, bool); 6] = [
    ("[%-m/%-d/%y, %-I:%M:%S %p] ", true),
    ("[%-m/%-d/%Y, %-I:%M %p] ", false),
    ("[%d.%m.%y, %H:%M:%S] ", true),
    ("[%d.%m.%Y, %H:%M] ", false),
    ("%d.%m.%Y, %H:%M - ", false),
    ("%d/%m/%Y, %H:%M - ", false),
];

fn chat_text(talk: &Talk, form: &str) -> (String, Vec<Line>) {
    let zone = jiff::tz::TimeZone::UTC;
    let mut text = String::new();
    let mut lines = Vec::new();
    for said in &talk.said {
        let What::Text(words) = &said.what else {
            continue;
        };
        let words = words.replace(QUOTE, "quoted");
        let words = match words.trim() {
            "" => "x",
            words => words,
        };
        // Its names end at a colon.
        let who = PEOPLE[said.who % 5];
        let at: DateTime = zone.to_datetime(said.at);
        text.push_str(&format!("{}{who}: {words}\n", at.strftime(form)));
        lines.push((who.to_owned(), Some(said.at.as_second()), words.to_owned()));
    }
    (text, lines)
}

proptest! {
    // It builds its patterns again for every file, which takes long.
    #![proptest_config(proptest::test_runner::Config { cases: 48, ..config() })]

    #[test]
    fn chatpack_reads_the_same_of_telegram(talk in talk(&NAMES), pieces: bool) {
        let form = Form { pieces, unixtime: true, ..Form::default() };
        let values: Vec<_> = talk.said.iter().enumerate()
            .filter(|(_, said)| !matches!(said.what, What::Deleted))
            .map(|(number, said)| written(&talk, number, said, form).0)
            .collect();
        let json = chat_json(&talk, 1, &values, form);
        let theirs = opinion(TelegramParser::new().parse_str(&json).unwrap());
        let ours: Vec<Line> = ours(read_text("result.json", &json)).into_iter()
            .filter(|(_, _, text)| !text.trim().is_empty())
            .collect();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn chatpack_reads_the_same_of_whatsapp(talk in talk(&NAMES), form in 0..FORMS.len()) {
        let (form, seconds) = FORMS[form];
        let (text, made) = chat_text(&talk, form);
        prop_assume!(!made.is_empty());
        let theirs = without_blank_lines(opinion(WhatsAppParser::new().parse_str(&text).unwrap()));
        let mut with = crate::import::options();
        with.day_order = form.contains("%-m").then_some(chat_server::import::DayOrder::MonthFirst);
        let read = crate::import::read_text_with("WhatsApp Chat with Cleo.txt", &text, &with);
        let ours = without_blank_lines(ours(read));
        prop_assert_eq!(&ours, &theirs, "{}", text);
        let grain = if seconds { 1 } else { 60 };
        let made: Vec<Line> = made.into_iter().map(|(who, at, text)| (who, at.map(|at| at - at % grain), text)).collect();
        prop_assert_eq!(ours, without_blank_lines(made));
    }
}

/// The differences that are listed above are there: if one of them goes, so may its line.
#[test]
fn where_chatpack_reads_otherwise() {
    let theirs = |text: &str| opinion(WhatsAppParser::new().parse_str(text).unwrap());
    let ours = |text: &str| ours(read_text("WhatsApp Chat with Cleo.txt", text));
    let day_first = "[13/12/2023, 18:05:09] Anna: hello\n";
    assert_eq!(theirs(day_first)[0].1, None);
    assert_eq!(ours(day_first)[0].1, Some(1_702_490_709));
    let marked = "[13.12.23, 18:05:09] Anna: one\n\u{200e}[13.12.23, 18:05:10] Anna: two\n";
    assert_eq!((theirs(marked).len(), ours(marked).len()), (1, 2));
    let colon = "13.12.2023, 18:05 - a/b:c: hello\n";
    assert_eq!((&*theirs(colon)[0].0, &*ours(colon)[0].0), ("a/b", "a/b:c"));
    let left = "13.12.2023, 18:05 - Anna: I left the keys\n13.12.2023, 18:06 - Anna: x\n";
    assert_eq!((theirs(left).len(), ours(left).len()), (1, 2));
    let json = r#"{"name":"A","type":"personal_chat","id":1,"messages":[{"id":1,"type":"message","date_unixtime":"1","from":"A","from_id":"user1","text":"\x01"}]}"#;
    assert!(TelegramParser::new().parse_str(json).is_err());
}
