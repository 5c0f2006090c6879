//! Which number of a date is the day: found out from all dates of a file, and how sure that is.

use jiff::civil::Date;
use jiff::{ToSpan as _, Zoned};

/// How a date is written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum DayOrder {
    /// 31/12/2023.
    DayFirst,
    /// 12/31/2023.
    MonthFirst,
    /// 2023/12/31.
    YearFirst,
}

impl DayOrder {
    /// Its name in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DayFirst => "day-first",
            Self::MonthFirst => "month-first",
            Self::YearFirst => "year-first",
        }
    }
}

/// How sure an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Confidence {
    /// No evidence: the order of most countries.
    Guess,
    /// A common format of telephones, or another chat of the same export, suggests it.
    Likely,
    /// The other order cannot be.
    Certain,
}

/// The decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decision {
    pub(super) order: DayOrder,
    pub(super) confidence: Confidence,
    /// The evidence for it, in words.
    pub(super) why: &'static str,
    /// The other order that fits.
    pub(super) alternative: Option<DayOrder>,
    /// The number that is added to years: years of the Buddhist calendar are 543 ahead.
    pub(super) years: i16,
}

/// A date as written in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenDate {
    /// Its three numbers.
    pub(super) numbers: [u16; 3],
    /// How many digits each has.
    pub(super) digits: [usize; 3],
    /// The separator between them.
    pub(super) separator: char,
    /// Whether the part of the day is given, and in capitals.
    pub(super) halves: Option<bool>,
}

const ORDERS: [DayOrder; 3] = [DayOrder::DayFirst, DayOrder::MonthFirst, DayOrder::YearFirst];

/// WhatsApp began in 2009.
const FIRST_YEAR: i16 = 2009;

/// How far the Buddhist calendar is ahead.
const BUDDHIST: i16 = 543;

/// How much worse the other order must fit to be impossible: a few lines of a file may be out of order.
const MUCH: u64 = 4;

/// How much closer together messages must lie in one order than in the other.
const DENSER: i64 = 4;

/// The evidence in the dates of a file about their order.
#[derive(Debug, Clone)]
pub(super) struct Votes {
    /// Dates after this day lie in the future.
    today: Date,
    /// Dates after this day are later than the file's own date.
    written: Option<Date>,
    count: u64,
    /// For years as written, and for those of the Buddhist calendar.
    tallies: [[Tally; 3]; 2],
    /// Days and months below ten with a zero before them, and without.
    padded: u64,
    unpadded: u64,
    /// Parts of the day in capitals, and in small letters.
    capitals: u64,
    small: u64,
    separator: Option<char>,
}

/// The evidence for and against one order.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// Days that do not exist, or are before WhatsApp existed.
    impossible: u64,
    /// Days after today.
    future: u64,
    /// Days after the file's own date.
    late: u64,
    /// Days well before the day of the message before.
    falls: u64,
    /// Messages whose file is named by that day.
    named: u64,
    /// Days between messages that follow one another, in all.
    gaps: i64,
    last: Option<Date>,
}

impl Tally {
    const fn wrong(&self) -> u64 {
        self.impossible + self.future + self.falls
    }
}

impl Default for Votes {
    fn default() -> Self {
        Self {
            // A telephone may be some hours ahead.
            today: Zoned::now().date().saturating_add(1.day()),
            written: None,
            count: 0,
            tallies: Default::default(),
            padded: 0,
            unpadded: 0,
            capitals: 0,
            small: 0,
            separator: None,
        }
    }
}

impl Votes {
    /// The file's own date. Nothing in the file should be later, but not every program that moves files keeps their
    /// dates.
    pub(super) fn until(&mut self, day: Date) {
        self.written = Some(day.saturating_add(1.day()));
    }

    /// Adds a date, and the day in the name of the message's file.
    pub(super) fn add(&mut self, written: &WrittenDate, named: Option<Date>) {
        self.count += 1;
        self.separator = Some(written.separator);
        for (number, digits) in written.numbers.iter().zip(written.digits).take(2) {
            if *number < 10 {
                self.padded += u64::from(digits == 2);
                self.unpadded += u64::from(digits == 1);
            }
        }
        self.capitals += u64::from(written.halves == Some(true));
        self.small += u64::from(written.halves == Some(false));
        for (tallies, years) in self.tallies.iter_mut().zip([0, -BUDDHIST]) {
            for (tally, order) in tallies.iter_mut().zip(ORDERS) {
                let Some(date) =
                    date(written.numbers, order, years).filter(|date| date.year() >= FIRST_YEAR)
                else {
                    tally.impossible += 1;
                    continue;
                };
                tally.future += u64::from(date > self.today);
                tally.late += u64::from(self.written.is_some_and(|written| date > written));
                tally.named += u64::from(named == Some(date));
                let last = tally.last.replace(date);
                tally.gaps += last.map_or(0, |last| i64::from((date - last).get_days().abs()));
                tally.falls +=
                    u64::from(last.is_some_and(|last| date < last.saturating_sub(2.days())));
            }
        }
    }

    /// The decision, or an error if the dates fit no order in a known calendar.
    pub(super) fn decide(&self) -> Result<Decision, String> {
        let plain = self.decide_in(0);
        if plain.as_ref().is_some_and(|(_, readable)| *readable) || self.count == 0 {
            return plain.map(|(decision, _)| decision).ok_or_else(String::new);
        }
        match self.decide_in(1) {
            Some((decision, true)) => Ok(Decision {
                years: -BUDDHIST,
                ..decision
            }),
            _ => Err("its dates fit no order of day, month and year from 2009 until today: perhaps the telephone \
                      counts years in another calendar. Set it to the Gregorian calendar and export the chat again"
                .to_owned()),
        }
    }

    /// The decision, and whether most dates can be read so.
    fn decide_in(&self, calendar: usize) -> Option<(Decision, bool)> {
        let tallies = self.tallies.get(calendar)?;
        let mut ranked: Vec<(DayOrder, &Tally)> = ORDERS.into_iter().zip(tallies).collect();
        // Of equal orders the first is the one that most of the world writes.
        ranked
            .sort_by_key(|(_, tally)| (tally.wrong(), tally.late, std::cmp::Reverse(tally.named)));
        let [(best, first), (next, second), _] = *ranked.as_slice() else {
            return None;
        };
        let readable = (first.impossible + first.future) * 2 <= self.count;
        let is_out = second.wrong() > first.wrong() * MUCH;
        let (order, confidence, why) = if is_out && second.impossible > first.impossible * MUCH {
            (best, Confidence::Certain, "some numbers are not a month")
        } else if is_out && second.future > first.future * MUCH {
            (best, Confidence::Certain, "the other order lies in the future")
        } else if is_out {
            (best, Confidence::Certain, "the other order goes back in time")
        } else if first.named > 0 && second.named == 0 {
            (best, Confidence::Certain, "files are named by these days")
        } else if first.late == 0 && second.late > 0 {
            (best, Confidence::Likely, "the other order is later than the file's own date")
        } else {
            let dense = match (first.gaps, second.gaps) {
                (few, many) if many >= DENSER * few.max(1) => Some(best),
                (many, few) if many >= DENSER * few.max(1) => Some(next),
                _ => None,
            };
            match (self.habit([best, next]), dense) {
                (Some((order, _, _)), Some(dense)) if order != dense => {
                    let why = "habits tell, but messages would lie closer together otherwise";
                    (order, Confidence::Guess, why)
                }
                (Some(habit), _) => habit,
                (None, Some(dense)) => {
                    (dense, Confidence::Likely, "messages lie closer together so")
                }
                (None, None) => {
                    let why = "nothing shows the order: this one is the most common";
                    (best, Confidence::Guess, why)
                }
            }
        };
        let other = [best, next].into_iter().find(|other| *other != order);
        let alternative = other.filter(|_| confidence < Confidence::Certain);
        Some((Decision { order, confidence, why, alternative, years: 0 }, readable))
    }

    /// The decision between two orders by the common formats of telephones.
    fn habit(&self, pair: [DayOrder; 2]) -> Option<(DayOrder, Confidence, &'static str)> {
        let (order, confidence, why) = if self.separator == Some('.') {
            // No locale writes the month first with full stops.
            (DayOrder::DayFirst, Confidence::Certain, "full stops stand between the numbers")
        } else if self.separator == Some('-') {
            (DayOrder::DayFirst, Confidence::Likely, "dashes stand between the numbers")
        } else if self.padded > 0 && self.unpadded == 0 {
            (DayOrder::DayFirst, Confidence::Likely, "days are written with two digits")
        } else if self.small > 0 && self.capitals == 0 {
            (DayOrder::DayFirst, Confidence::Likely, "am and pm are in small letters")
        } else if self.unpadded > 0 && self.padded == 0 && self.capitals > 0 {
            let why = "AM and PM are in capitals, and days have no zero before them";
            (DayOrder::MonthFirst, Confidence::Likely, why)
        } else {
            return None;
        };
        pair.contains(&order).then_some((order, confidence, why))
    }
}

/// The day of the three numbers. A year of two digits is one of this century; those of the Buddhist calendar, 2552 and
/// later, are recognised.
pub(super) fn date([first, second, third]: [u16; 3], order: DayOrder, years: i16) -> Option<Date> {
    let (year, month, day) = match order {
        DayOrder::DayFirst => (third, second, first),
        DayOrder::MonthFirst => (third, first, second),
        DayOrder::YearFirst => (first, second, third),
    };
    let year = i16::try_from(year).ok()?;
    let year = match (year, years) {
        (0..=99, 0) => year + 2_000,
        // In that calendar it is the year 25.. .
        (0..=99, years) => year + 2_500 + years,
        (2_500..=2_700, _) => year - BUDDHIST,
        (_, 0) => year,
        _ => return None,
    };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}
