//! Matches a URI against the steps of a template, in time proportional to the number of steps times the length of the
//! URI.
//!
//! First a table is filled from the end to the beginning: which rest of the URI matches which rest of the steps. Then
//! one pass from the beginning takes as much as possible at every step while the rest still matches, so it never
//! backtracks.

use super::UriValue;
use super::encoding::decode;
use super::steps::{Parameters, Step, Value};

/// The rest of the URI matches the rest of the steps.
const FITS: u8 = 1;
/// It matches with the optional part of the first of these steps present.
const PRESENT: u8 = 2;
/// After one of the parameters of a [`Step::Parameters`], the rest of the URI matches the rest of the steps.
const INSIDE: u8 = 4;

/// The values of the variables, by their numbers, if the URI matches; absent ones are `None`.
pub(super) fn read(steps: &[Step], variables: usize, uri: &str) -> Option<Vec<Option<UriValue>>> {
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
                found.value(value, uri.get(at..end)?)?;
                at = end;
            }
            Step::Parameters(parameters) => {
                at = found.parameters(parameters, &table, number - 1, at)?;
            }
        }
    }
    Some(found.0.into_iter().map(|one| Some(one?.0)).collect())
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
            let rest = self.uri.as_bytes().get(at..).unwrap_or_default();
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
        let most = value.most.unwrap_or(usize::MAX);
        // For each offset, the least number of characters of the value that lead from there to a rest that matches.
        let mut distances = vec![None; self.uri.len() + 1];
        for at in (0..=self.uri.len()).rev() {
            let beyond = value.allowed.end_of_one(self.uri.as_bytes(), at);
            let beyond = beyond.and_then(|next| distances.get(next).copied().flatten());
            let beyond: Option<usize> = beyond.map(|distance: usize| distance + 1);
            let here = self.has(number + 1, at, FITS);
            if (here && value.may_be_empty) || beyond.is_some_and(|distance| distance <= most) {
                self.add(number, at, FITS);
            }
            if let Some(distance) = distances.get_mut(at) {
                *distance = if here { Some(0) } else { beyond };
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
        let most = value.most.unwrap_or(usize::MAX);
        let (mut fitting, mut present) = (None, None);
        let mut end = at;
        let mut characters = 0;
        loop {
            if characters > 0 || value.may_be_empty {
                fitting = self.has(next, end, FITS).then_some(end).or(fitting);
                present = self.has(next, end, PRESENT).then_some(end).or(present);
            }
            if characters == most {
                break;
            }
            match value.allowed.end_of_one(self.uri.as_bytes(), end) {
                Some(beyond) => end = beyond,
                None => break,
            }
            characters += 1;
        }
        present.or(fitting)
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
    /// The parameter whose name begins at `at`; `None` if it is unknown or its value is too long.
    fn one<'u>(&self, uri: &'u str, at: usize) -> Option<One<'u>> {
        let rest = uri.get(at..)?;
        let bytes = uri.as_bytes();
        let (number, parameter, value) =
            self.known.iter().enumerate().find_map(|(number, parameter)| {
                let behind = rest.strip_prefix(parameter.name.as_str())?;
                let behind_at = at + parameter.name.len();
                match behind.strip_prefix('=') {
                    Some(_) => Some((number, parameter, behind_at + 1)),
                    // A longer name would continue.
                    None => self
                        .allowed
                        .end_of_one(bytes, behind_at)
                        .is_none()
                        .then_some((number, parameter, behind_at)),
                }
            })?;
        let mut end = value;
        let mut characters = 0;
        while let Some(beyond) = self.allowed.end_of_one(bytes, end) {
            end = beyond;
            characters += 1;
        }
        if parameter.most.is_some_and(|most| characters > most) {
            return None;
        }
        Some(One { number, value: uri.get(value..end)?, end })
    }
}

/// The values so far, with the most characters that each may have if it is a prefix.
struct MatchedValues(Vec<Option<(UriValue, Option<usize>)>>);

impl MatchedValues {
    fn value(&mut self, value: &Value, text: &str) -> Option<()> {
        let found = match value.separator {
            Some(separator) => {
                let items = text.split(separator).map(decode);
                UriValue::List(items.collect::<Option<_>>()?)
            }
            None => UriValue::Text(decode(text)?),
        };
        self.bind(value.variable, found, value.most)
    }

    /// Reads the parameters at `at` and returns where they end. The table is valid up to their step.
    fn parameters(
        &mut self,
        parameters: &Parameters,
        table: &Table<'_>,
        step: usize,
        mut at: usize,
    ) -> Option<usize> {
        let mut given = vec![Vec::new(); parameters.known.len()];
        let mut goes_on = table.has(step, at, PRESENT);
        while goes_on {
            let one = parameters.one(table.uri, at + 1)?;
            given.get_mut(one.number)?.push(decode(one.value)?);
            at = one.end;
            goes_on = table.byte(at) == Some(parameters.separator)
                && parameters
                    .one(table.uri, at + 1)
                    .is_some_and(|one| table.has(step, one.end, INSIDE));
        }
        for (parameter, mut values) in parameters.known.iter().zip(given) {
            let value = match values.len() {
                0 => continue,
                _ if parameter.is_list => UriValue::List(values),
                1 => UriValue::Text(values.pop()?),
                _ => return None,
            };
            self.bind(parameter.variable, value, parameter.most)?;
        }
        Some(at)
    }

    /// Gives a variable its value; `None` if it has a different one, unless one is a prefix of the other.
    fn bind(&mut self, variable: usize, value: UriValue, most: Option<usize>) -> Option<()> {
        let slot = self.0.get_mut(variable)?;
        let Some((known, known_most)) = slot else {
            *slot = Some((value, most));
            return Some(());
        };
        if *known == value {
            // The value that is not a prefix is the longer one.
            *known_most = known_most.zip(most).map(|(one, other)| one.max(other));
            return Some(());
        }
        if is_prefix(&value, most, known) {
            return Some(());
        }
        is_prefix(known, *known_most, &value).then(|| *slot = Some((value, most)))
    }
}

/// Whether `value` is the prefix of `whole` with `most` characters.
fn is_prefix(value: &UriValue, most: Option<usize>, whole: &UriValue) -> bool {
    match (value, most, whole) {
        (UriValue::Text(value), Some(most), UriValue::Text(whole)) => {
            whole.starts_with(value.as_str()) && value.chars().count() == most
        }
        _ => false,
    }
}
