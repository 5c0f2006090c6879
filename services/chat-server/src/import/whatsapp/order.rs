//! Which number of a date is the day: found out from all dates of a file.

/// How a date is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DayOrder {
    /// 31/12/2023.
    DayFirst,
    /// 12/31/2023.
    MonthFirst,
    /// 2023/12/31.
    YearFirst,
}

/// What the dates of a file say about their order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Votes {
    year_first: bool,
    first_above_12: bool,
    second_above_12: bool,
    /// How often a number is lower than in the message before, in the same year: a month never is.
    falls: [u64; 2],
    /// How often a number is another one than in the message before.
    changes: [u64; 2],
    /// How often only this number is another one than in the message before: that of the day, most often.
    moves: [u64; 3],
    last: Option<[u16; 3]>,
}

impl Votes {
    pub(super) fn add(&mut self, date: [u16; 3]) {
        let [first, second, third] = date;
        // No day and no month is that large.
        self.year_first |= first > 31;
        self.first_above_12 |= (13..=31).contains(&first);
        self.second_above_12 |= (13..=31).contains(&second);
        if let Some(last) = self.last.replace(date) {
            let [last_first, last_second, last_third] = last;
            let same = date.iter().zip(&last).filter(|(now, last)| now == last);
            if same.count() == 2 {
                for ((moves, now), last) in self.moves.iter_mut().zip(date).zip(last) {
                    *moves += u64::from(now != last);
                }
            }
            let parts = self.falls.iter_mut().zip(&mut self.changes);
            let now = [(first, last_first), (second, last_second)];
            for ((falls, changes), (now, last)) in parts.zip(now) {
                *falls += u64::from(last_third == third && now < last);
                *changes += u64::from(now != last);
            }
        }
    }

    /// Certain as far as a number above 12 or a fall tells; then the number that changes more often is the day, and
    /// without any sign the day comes first, as in most of the world.
    pub(super) fn order(&self) -> DayOrder {
        let [first_falls, second_falls] = self.falls;
        let [first_changes, second_changes] = self.changes;
        let [first_moves, second_moves, third_moves] = self.moves;
        // Years of two digits may be first too: then it is the last number that moves alone.
        if self.year_first || third_moves > 2 * (first_moves + second_moves) {
            DayOrder::YearFirst
        } else if self.first_above_12 {
            DayOrder::DayFirst
        } else if self.second_above_12 {
            DayOrder::MonthFirst
        } else if first_falls != second_falls {
            if first_falls > second_falls {
                DayOrder::DayFirst
            } else {
                DayOrder::MonthFirst
            }
        } else if second_changes > first_changes {
            DayOrder::MonthFirst
        } else {
            DayOrder::DayFirst
        }
    }
}

/// Year, month and day of the three numbers. A year of two digits is one of this century.
pub(super) fn date([first, second, third]: [u16; 3], order: DayOrder) -> Option<(i16, i8, i8)> {
    let (year, month, day) = match order {
        DayOrder::DayFirst => (third, second, first),
        DayOrder::MonthFirst => (third, first, second),
        DayOrder::YearFirst => (first, second, third),
    };
    let year = if year < 100 { year + 2_000 } else { year };
    Some((
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    ))
}
