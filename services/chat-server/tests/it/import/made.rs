//! Chats that are made up, written as every kind of export, and read back: what is read is what was made, as far as the
//! format can carry it. Each writer says what that is.

mod second_opinion;
mod signal;
mod telegram;
mod whatsapp;
mod whatsapp_style;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// How many exports of each kind are made.
const CASES: u32 = 192;

/// The same ones every time.
pub(crate) fn config() -> Config {
    Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Zones with and without summer time; Lord Howe moves by half an hour.
const ZONES: [&str; 5] =
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"];

/// Around changes of the clocks of these zones, and at the end of a year.
const STARTS: [&str; 6] = [
    "2023-10-28T22:30:00Z",
    "2024-03-30T23:30:00Z",
    "2023-11-05T04:30:00Z",
    "2024-04-06T13:00:00Z",
    "2023-12-31T21:59:01Z",
    "2024-02-28T11:05:09Z",
];

/// Who writes; the first is the owner.
pub(crate) const PEOPLE: [&str; 6] =
    ["Anna", "Zoë 🎉 Müller", "דוד", "+41 79 123 45 67", "O'Hara \"Q\" S.", "a/b:c"];

/// What texts are made of.
const PIECES: [&str; 20] = [
    "hello",
    " ",
    "\n",
    "\n\n",
    "12/03/2024",
    "10:30",
    ": ",
    "[x]",
    "<y>",
    "(z)",
    "👩‍👩‍👧",
    "שלום",
    "\u{200f}",
    "https://a.example/?q=1,2",
    "*bold*",
    "\\x41",
    "\"",
    "> not quoted",
    "OPTION: one (2 votes)",
    QUOTE,
];

/// Stands for a line that looks like a message of another kind of export.
pub(crate) const QUOTE: &str = "\u{e000}";

/// One chat.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) name: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) said: Vec<TalkMessage>,
}

/// One message.
#[derive(Debug, Clone)]
pub(crate) struct TalkMessage {
    pub(crate) at: Timestamp,
    pub(crate) who: usize,
    pub(crate) what: What,
    pub(crate) edited: bool,
    /// Which of the messages before it answers.
    pub(crate) answers: Option<usize>,
    /// Emojis and who gave them.
    pub(crate) reactions: Vec<(&'static str, Vec<usize>)>,
    pub(crate) forwarded: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Text(String),
    File {
        /// An index into [`FILES`].
        file: usize,
        exported: bool,
        caption: String,
    },
    Place(f64, f64),
    Card,
    Poll(Vec<u32>),
    /// What the network says.
    Notice,
    Deleted,
}

/// Names of files, with traps in them.
pub(crate) const FILES: [&str; 5] = [
    "IMG-20231213-WA0001.jpg",
    "00000042-VIDEO-2023-12-13-18-05-09.mp4",
    "PTT-20231213-WA0002.opus",
    "offer (final) [v2].pdf",
    "käse brot.png",
];

impl Talk {
    pub(crate) fn zone(&self) -> TimeZone {
        TimeZone::get(self.zone).unwrap()
    }
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..PIECES.len(), 0..7)
        .prop_map(|pieces| pieces.into_iter().map(|at| PIECES[at]).collect())
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        6 => text().prop_map(What::Text),
        3 => (0..FILES.len(), any::<bool>(), text())
            .prop_map(|(file, exported, caption)| What::File { file, exported, caption }),
        1 => (-900_000..900_000, -1_800_000..1_800_000)
            .prop_map(|(north, east)| What::Place(f64::from(north) / 1e4, f64::from(east) / 1e4)),
        1 => Just(What::Card),
        1 => proptest::collection::vec(0..100_u32, 1..4).prop_map(What::Poll),
        1 => Just(What::Notice),
        1 => Just(What::Deleted),
    ]
}

type Raw = (i64, usize, What, bool, Option<prop::sample::Index>, Vec<(usize, usize)>, bool);

fn said() -> impl Strategy<Value = Raw> {
    (
        prop_oneof![4 => 0..90_i64, 2 => 0..2_500_i64, 1 => 0..900_000_i64],
        0..PEOPLE.len(),
        what(),
        prop::bool::weighted(0.2),
        prop::option::weighted(0.3, any::<prop::sample::Index>()),
        proptest::collection::vec((0..3_usize, 0..PEOPLE.len()), 0..3),
        prop::bool::weighted(0.2),
    )
}

/// A chat of one of these names.
pub(crate) fn talk(names: &'static [&'static str]) -> impl Strategy<Value = Talk> {
    (0..names.len(), 0..ZONES.len(), 0..STARTS.len(), proptest::collection::vec(said(), 1..12))
        .prop_map(move |(name, zone, start, raw)| {
            let mut at: Timestamp = STARTS[start].parse().unwrap();
            let mut said = Vec::new();
            for (number, (gap, who, what, edited, answers, given, forwarded)) in
                raw.into_iter().enumerate()
            {
                at += jiff::SignedDuration::from_secs(gap);
                let mut reactions: Vec<(&'static str, Vec<usize>)> = Vec::new();
                for (emoji, who) in given {
                    let emoji = ["👍", "❤️", "😂"][emoji];
                    match reactions.iter_mut().find(|(known, _)| *known == emoji) {
                        Some((_, by)) => by.push(who),
                        None => reactions.push((emoji, vec![who])),
                    }
                }
                said.push(TalkMessage {
                    at,
                    who,
                    what,
                    edited,
                    answers: answers.filter(|_| number > 0).map(|index| index.index(number)),
                    reactions,
                    forwarded,
                });
            }
            Talk { name: names[name], zone: ZONES[zone], said }
        })
}

/// Local times tell less than moments: they are right if they read the same on the clock, are the same moments where
/// the clock shows that, and are in order.
pub(crate) fn times_agree(
    zone: &TimeZone,
    made: &[Timestamp],
    read: &[Timestamp],
    grain: i64,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(made.len(), read.len());
    for (made, read) in made.iter().zip(read) {
        let second = made.as_second();
        let made = Timestamp::from_second(second - second.rem_euclid(grain)).unwrap();
        let local = zone.to_datetime(made);
        prop_assert_eq!(local, zone.to_datetime(*read), "in {:?}", zone.iana_name());
        if !zone.to_ambiguous_timestamp(local).is_ambiguous() {
            prop_assert_eq!(made, *read);
        }
    }
    let falls = read.windows(2).find(|pair| pair[1] < pair[0]);
    prop_assert!(falls.is_none(), "{:?} is out of order", falls);
    Ok(())
}

/// Whatever fails is made as small as it can be: the strategies shrink through all of the above.
#[test]
fn what_fails_shrinks_to_the_smallest_chat() {
    let mut runner = TestRunner::new(config());
    let outcome = runner.run(&talk(&["Anna"]), |talk| {
        let fails =
            |said: &TalkMessage| matches!(&said.what, What::Text(text) if text.contains('\n'));
        prop_assert!(!talk.said.iter().any(fails));
        Ok(())
    });
    let Err(TestError::Fail(_, smallest)) = outcome else {
        panic!("no chat of {CASES} has a text of two lines");
    };
    assert_eq!(smallest.said.len(), 1, "{smallest:?}");
    assert!(
        matches!(&smallest.said[0].what, What::Text(text) if text == "\n" || text == "\n\n"),
        "{smallest:?}"
    );
}
