//! Matches a URI against the steps of a template, in time proportional to the number of steps times the length of the
//! URI.
//!
//! First a table is filled from the end to the beginning: which rest of the URI matches which rest of the steps. Then
//! one pass from the beginning takes as much as possible at every step while the rest still matches, so it never
//! backtracks.

use super::encoding::decode;
use super::steps::{Parameters, Step, Value};

/// The rest of the URI matches the rest of the steps.
const FITS: u8 = 1;
/// It matches with the optional part of the first of these steps present.
const PRESENT: u8 = 2;
/// After one of the parameters of a [`Step::Parameters`], or one of the characters of a [`Step::Value`], the rest of
/// the URI matches the rest of the steps.
const INSIDE: u8 = 4;

/// The values of the variables, by their numbers, if the URI matches; absent ones are `None`.
pub(super) fn read(steps: &[Step], variables: usize, uri: &str) -> Option<Vec<Option<String>>> {
    // Most URIs do not match most templates, and already differ at the beginning or the end.
    let starts = match steps.first() {
        Some(Step::Literal(text)) => uri.starts_with(text.as_str()),
        _ => true,
    };
    let ends = match steps.last() {
        Some(Step::Literal(text)) => uri.ends_with(text.as_str()),
        _ => true,
    };
    if !starts || !ends {
        return None;
    }
    let table = Table::of(steps, uri);
    table.has(0, 0, FITS).then_some(())?;
    let mut found = MatchedValues(vec![None; variables]);
    let mut at = 0;
    let mut number = 0;
    while let Some(step) = steps.get(number) {
        number += 1;
        match step {
            Step::Literal(text) => at += text.len(),
            Step::Mark { .. } if table.has(number - 1, at, PRESENT) => at += 1,
            Step::Mark { skip, .. } => number = *skip,
            Step::Value(value) => {
                let end = table.end_of_value(number, value, at)?;
                found.bind(value.variable, decode(known_range::text(uri, at..end))?)?;
                at = end;
            }
            Step::Parameters(parameters) => {
                at = found.parameters(parameters, &table, number - 1, at)?;
            }
        }
    }
    Some(found.0)
}

/// For each step, and one past the last, and each offset in the URI: the flags above.
struct Table<'u> {
    uri: &'u str,
    flags: Vec<u8>,
}

impl<'u> Table<'u> {
    fn of(steps: &[Step], uri: &'u str) -> Self {
        let mut table = Self { uri, flags: vec![0; (steps.len() + 1) * (uri.len() + 1)] };
        table.add(steps.len(), uri.len(), FITS);
        for (number, step) in steps.iter().enumerate().rev() {
            match step {
                Step::Literal(text) => table.literal(number, text),
                Step::Mark { mark, skip } => table.mark(number, *mark, *skip),
                Step::Value(value) => table.value(number, value),
                Step::Parameters(parameters) => table.parameters(number, parameters),
            }
        }
        table
    }

    fn has(&self, step: usize, at: usize, flag: u8) -> bool {
        let flags = self.flags.get(self.place(step, at));
        flags.is_some_and(|flags| flags & flag != 0)
    }

    fn add(&mut self, step: usize, at: usize, flag: u8) {
        let place = self.place(step, at);
        if let Some(flags) = self.flags.get_mut(place) {
            *flags |= flag;
        }
    }

    fn place(&self, step: usize, at: usize) -> usize {
        step * (self.uri.len() + 1) + at
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.uri.as_bytes().get(at).copied()
    }

    fn literal(&mut self, number: usize, text: &str) {
        for at in 0..=self.uri.len() {
            let rest = known_range::items(self.uri.as_bytes(), at..);
            if self.has(number + 1, at + text.len(), FITS) && rest.starts_with(text.as_bytes()) {
                self.add(number, at, FITS);
            }
        }
    }

    fn mark(&mut self, number: usize, mark: u8, skip: usize) {
        for at in 0..=self.uri.len() {
            if self.byte(at) == Some(mark) && self.has(number + 1, at + 1, FITS) {
                self.add(number, at, FITS | PRESENT);
            } else if self.has(skip, at, FITS) {
                self.add(number, at, FITS);
            }
        }
    }

    fn value(&mut self, number: usize, value: &Value) {
        for at in (0..=self.uri.len()).rev() {
            let beyond = value.allowed.end_of_one(self.uri.as_bytes(), at);
            let beyond = beyond.is_some_and(|next| self.has(number, next, INSIDE));
            let here = self.has(number + 1, at, FITS);
            if beyond || here && value.may_be_empty {
                self.add(number, at, FITS);
            }
            if beyond || here {
                self.add(number, at, INSIDE);
            }
        }
    }

    fn parameters(&mut self, number: usize, parameters: &Parameters) {
        for at in (0..=self.uri.len()).rev() {
            let byte = self.byte(at);
            let (is_first, is_next) =
                (byte == Some(parameters.first), byte == Some(parameters.separator));
            let fits = (is_first || is_next)
                && parameters
                    .one(self.uri, at + 1)
                    .is_some_and(|one| self.has(number, one.end, INSIDE));
            if fits && is_first {
                self.add(number, at, FITS | PRESENT);
            }
            if fits && is_next {
                self.add(number, at, INSIDE);
            }
            if self.has(number + 1, at, FITS) {
                self.add(number, at, FITS | INSIDE);
            }
        }
    }

    /// The end of a value at `at` before the step `next`: the last position at which the optional part of that step is
    /// present, otherwise the last position that matches.
    fn end_of_value(&self, next: usize, value: &Value, at: usize) -> Option<usize> {
        let (mut fitting, mut present) = (None, None);
        let mut end = Some(at).filter(|_| value.may_be_empty);
        let mut beyond = at;
        loop {
            if let Some(end) = end {
                fitting = self.has(next, end, FITS).then_some(end).or(fitting);
                present = self.has(next, end, PRESENT).then_some(end).or(present);
            }
            let Some(one) = value.allowed.end_of_one(self.uri.as_bytes(), beyond) else {
                return present.or(fitting);
            };
            beyond = one;
            end = Some(one);
        }
    }
}

/// A named parameter in a URI.
struct One<'u> {
    /// Its number in the expression.
    number: usize,
    value: &'u str,
    end: usize,
}

impl Parameters {
    /// The parameter whose name begins at `at`, if it is known.
    fn one<'u>(&self, uri: &'u str, at: usize) -> Option<One<'u>> {
        let rest = uri.get(at..)?;
        let bytes = uri.as_bytes();
        let (number, value) = self.known.iter().enumerate().find_map(|(number, parameter)| {
            let behind = rest.strip_prefix(parameter.name.as_str())?;
            let behind_at = at + parameter.name.len();
            // Without a value; a longer name would continue.
            let ends = || self.allowed.end_of_one(bytes, behind_at).is_none();
            match behind.strip_prefix('=') {
                Some(_) => Some((number, behind_at + 1)),
                None => ends().then_some((number, behind_at)),
            }
        })?;
        let mut end = value;
        while let Some(beyond) = self.allowed.end_of_one(bytes, end) {
            end = beyond;
        }
        Some(One { number, value: known_range::text(uri, value..end), end })
    }
}

/// The values so far.
struct MatchedValues(Vec<Option<String>>);

impl MatchedValues {
    /// Reads the parameters at `at` and returns where they end. The table is valid up to their step.
    fn parameters(
        &mut self,
        parameters: &Parameters,
        table: &Table<'_>,
        step: usize,
        mut at: usize,
    ) -> Option<usize> {
        let mut given = vec![None; parameters.known.len()];
        let mut is_more = table.has(step, at, PRESENT);
        while is_more {
            let one = parameters.one(table.uri, at + 1)?;
            // None may come twice.
            let slot = given.get_mut(one.number).filter(|slot| slot.is_none())?;
            *slot = Some(decode(one.value)?);
            at = one.end;
            is_more = table.byte(at) == Some(parameters.separator)
                && parameters
                    .one(table.uri, at + 1)
                    .is_some_and(|one| table.has(step, one.end, INSIDE));
        }
        for (parameter, value) in parameters.known.iter().zip(given) {
            if let Some(value) = value {
                self.bind(parameter.variable, value)?;
            }
        }
        Some(at)
    }

    /// Gives a variable its value; `None` if it has a different one.
    fn bind(&mut self, variable: usize, value: String) -> Option<()> {
        let slot = self.0.get_mut(variable)?;
        match slot {
            Some(known) => (*known == value).then_some(()),
            None => {
                *slot = Some(value);
                Some(())
            }
        }
    }
}
