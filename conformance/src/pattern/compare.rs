//! Comparing a value with a pattern, path by path.

use serde_json::{Value, json};

use super::named::Named;
use super::unordered::pair;
use super::words::in_words;
use super::{Kind, Pattern};
use crate::error::Problem;
use crate::shorten::shorten;
use crate::template::{Text, Vars, lookup};

/// One place where a value is not what was expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Where, as a JSON Pointer (RFC 6901) into the compared value; `json` steps into a string that holds JSON.
    pub path: String,
    /// The expected value as the transcript has it.
    pub expected: Value,
    /// What was there; `None` for an absent member.
    pub actual: Option<Value>,
    /// Why it does not match, where the two values alone do not show it.
    pub reason: Option<String>,
}

impl Pattern {
    /// Compares `actual` (`None`: absent) and returns every difference, in the order of the members' names.
    ///
    /// Without a mismatch, what the pattern captures is added to `vars`; otherwise `vars` stays as it was. A `$var`
    /// sees what was captured before this comparison and what it captured in members compared earlier.
    pub fn compare(&self, actual: Option<&Value>, vars: &mut Vars) -> Vec<Mismatch> {
        let mut kept = vars.clone();
        let mismatches = self.compare_and_keep(actual, &mut kept);
        if mismatches.is_empty() {
            *vars = kept;
        }
        mismatches
    }

    /// The same, but what could be captured is added to `vars` even if something else differs, so that a replay can
    /// continue.
    pub(crate) fn compare_and_keep(
        &self,
        actual: Option<&Value>,
        vars: &mut Vars,
    ) -> Vec<Mismatch> {
        let mut comparison = Comparison::new(vars, true);
        comparison.visit(self, actual);
        *vars = comparison.vars;
        comparison.mismatches
    }
}

struct Comparison {
    vars: Vars,
    path: String,
    matches: bool,
    /// Whether differences are collected.
    tells: bool,
    mismatches: Vec<Mismatch>,
}

impl Comparison {
    fn new(vars: &Vars, tells: bool) -> Self {
        Self {
            vars: vars.clone(),
            path: String::new(),
            matches: true,
            tells,
            mismatches: Vec::new(),
        }
    }

    fn visit(&mut self, pattern: &Pattern, actual: Option<&Value>) {
        match (&pattern.0, actual) {
            (Kind::Absent | Kind::Optional(_), None) => {}
            (Kind::Not(inner), None) if !matches!(inner.0, Kind::Absent) => {}
            (Kind::All(patterns), _) => {
                patterns.iter().for_each(|pattern| self.visit(pattern, actual))
            }
            (Kind::OneOf(patterns), _) => {
                if !patterns.iter().any(|pattern| self.would_match(pattern, actual)) {
                    self.differs(pattern, actual);
                }
            }
            (_, None) => self.differs(pattern, None),
            (_, Some(value)) => self.visit_present(pattern, value),
        }
    }

    fn visit_present(&mut self, pattern: &Pattern, value: &Value) {
        let as_expected = match (&pattern.0, value) {
            (Kind::Any, _) => true,
            (Kind::Scalar(expected), _) => same(expected, value),
            (Kind::Text(text), _) => return self.visit_text(pattern, text, value),
            (Kind::Var(name), _) => match lookup(name, &self.vars).cloned() {
                Ok(expected) if same(&expected, value) => true,
                Ok(expected) => {
                    let reason = format!("`{name}` was {}", shorten(&expected.to_string(), 200));
                    return self.differs_because(pattern, value, reason);
                }
                Err(problem) => return self.broken(pattern, value, &problem),
            },
            (Kind::Capture(name), _) => {
                self.vars.set(name, value.clone());
                true
            }
            (Kind::Type(name), _) => has_type(value, name),
            (Kind::Optional(inner), _) => return self.visit(inner, Some(value)),
            (Kind::Not(inner), _) => !self.would_match(inner, Some(value)),
            (Kind::Array(expected), Value::Array(items)) => {
                if let Some(named) = Named::of(expected, items) {
                    return self.visit_named(named);
                }
                if expected.len() != items.len() {
                    let reason =
                        format!("{} elements expected, {} found", expected.len(), items.len());
                    return self.differs_because(pattern, value, reason);
                }
                for (index, (expected, item)) in expected.iter().zip(items).enumerate() {
                    self.within(&index.to_string(), |inner| inner.visit(expected, Some(item)));
                }
                true
            }
            (Kind::Object(expected) | Kind::ContainsMembers(expected), Value::Object(members)) => {
                let is_whole = matches!(pattern.0, Kind::Object(_));
                let is_other = |name: &String| is_whole && !expected.contains_key(name);
                for (name, member) in members.iter().filter(|(name, _)| is_other(name)) {
                    self.within(name, |inner| inner.unexpected(member));
                }
                for (name, expected) in expected {
                    self.within(name, |inner| inner.visit(expected, members.get(name)));
                }
                true
            }
            (Kind::Each(inner), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.within(&index.to_string(), |comparison| {
                        comparison.visit(inner, Some(item))
                    });
                }
                true
            }
            (Kind::Each(inner), Value::Object(members)) => {
                for (name, member) in members {
                    self.within(name, |comparison| comparison.visit(inner, Some(member)));
                }
                true
            }
            (Kind::Unordered(expected) | Kind::ContainsElements(expected), Value::Array(items)) => {
                return self.visit_pairs(pattern, expected, value, items);
            }
            (Kind::Match(regex), Value::String(string)) => {
                match regex.is_match(string, &self.vars) {
                    Ok(matches) => matches,
                    Err(problem) => return self.broken(pattern, value, &problem),
                }
            }
            (Kind::ContainsText(text), Value::String(string)) => match text.fill(&self.vars) {
                Ok(part) => string.contains(&part),
                Err(problem) => return self.broken(pattern, value, &problem),
            },
            (Kind::Json(inner), Value::String(string)) => {
                match serde_json::from_str::<Value>(string) {
                    Ok(held) => {
                        self.within("json", |comparison| comparison.visit(inner, Some(&held)));
                        true
                    }
                    Err(error) => {
                        let reason = format!("the string is not JSON: {error}");
                        return self.differs_because(pattern, value, reason);
                    }
                }
            }
            (Kind::Length(expected), _) => {
                let length = match value {
                    Value::String(text) => text.chars().count(),
                    Value::Array(items) => items.len(),
                    Value::Object(members) => members.len(),
                    _ => return self.differs(pattern, Some(value)),
                };
                if u64::try_from(length) != Ok(*expected) {
                    return self.differs_because(pattern, value, format!("its length is {length}"));
                }
                true
            }
            _ => false,
        };
        if !as_expected {
            self.differs(pattern, Some(value));
        }
    }

    fn visit_text(&mut self, pattern: &Pattern, text: &Text, value: &Value) {
        match text.fill(&self.vars) {
            Ok(expected) if value.as_str() == Some(&expected) => {}
            Ok(expected) if text.names().next().is_some() => {
                self.differs_because(pattern, value, format!("expected {expected:?}"));
            }
            Ok(_) => self.differs(pattern, Some(value)),
            Err(problem) => self.broken(pattern, value, &problem),
        }
    }

    /// Every expected element must have a separate element; if that is all, none may be left over.
    fn visit_pairs(
        &mut self,
        pattern: &Pattern,
        expected: &[Pattern],
        value: &Value,
        items: &[Value],
    ) {
        let paired = pair(expected.len(), items.len(), |left, right| {
            match (expected.get(left), items.get(right)) {
                (Some(expected), Some(item)) => self.would_match(expected, Some(item)),
                _ => false,
            }
        });
        let Some(partners) = paired else {
            let reason = "too many elements to compare without their order".to_owned();
            return self.differs_because(pattern, value, reason);
        };
        for (expected, partner) in expected.iter().zip(&partners) {
            match partner.and_then(|index| items.get(index).map(|item| (index, item))) {
                Some((index, item)) => {
                    self.within(&index.to_string(), |inner| inner.visit(expected, Some(item)))
                }
                None => {
                    let missing = format!("no element is {}", in_words(&expected.source()));
                    self.differs_because(pattern, value, missing);
                }
            }
        }
        if matches!(pattern.0, Kind::Unordered(_)) {
            for (index, item) in items.iter().enumerate() {
                if !partners.contains(&Some(index)) {
                    self.within(&index.to_string(), |inner| inner.unexpected(item));
                }
            }
        }
    }

    /// Elements that have names: each is compared with that of its name, so that one that came or went is one
    /// difference.
    fn visit_named(&mut self, named: Named<'_>) {
        for (index, expected, item) in named.both {
            self.within(&index.to_string(), |inner| inner.visit(expected, Some(item)));
        }
        for (index, item) in named.come {
            self.within(&index.to_string(), |inner| inner.unexpected(item));
        }
        for name in named.gone {
            let missing = format!("the element named {name:?} is missing");
            self.push(|| name.into(), None, Some(missing));
        }
        if let Some((old, new)) = named.orders {
            let reason = "these elements are all there, in another order".to_owned();
            self.push(|| old.into(), Some(&new.into()), Some(reason));
        }
    }

    fn would_match(&self, pattern: &Pattern, actual: Option<&Value>) -> bool {
        let mut trial = Self::new(&self.vars, false);
        trial.visit(pattern, actual);
        trial.matches
    }

    fn within(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let outer = self.path.len();
        self.path.push('/');
        self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        visit(self);
        self.path.truncate(outer);
    }

    fn differs(&mut self, pattern: &Pattern, actual: Option<&Value>) {
        self.push(|| pattern.source(), actual, None);
    }

    fn differs_because(&mut self, pattern: &Pattern, actual: &Value, reason: String) {
        self.push(|| pattern.source(), Some(actual), Some(reason));
    }

    fn broken(&mut self, pattern: &Pattern, actual: &Value, problem: &Problem) {
        self.push(|| pattern.source(), Some(actual), Some(problem.to_string()));
    }

    fn unexpected(&mut self, actual: &Value) {
        self.push(|| json!({"$absent": true}), Some(actual), None);
    }

    fn push(
        &mut self,
        expected: impl FnOnce() -> Value,
        actual: Option<&Value>,
        reason: Option<String>,
    ) {
        self.matches = false;
        if self.tells {
            self.mismatches.push(Mismatch {
                path: self.path.clone(),
                expected: expected(),
                actual: actual.cloned(),
                reason,
            });
        }
    }
}

/// Equality of JSON values in which 1 and 1.0 are the same number.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    alike(left, right, &|_, _| false)
}

/// The same, in which also texts are equal of which `accepts` says so.
pub(crate) fn alike(left: &Value, right: &Value, accepts: &dyn Fn(&str, &str) -> bool) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::String(left), Value::String(right)) => left == right || accepts(left, right),
        (Value::Array(left), Value::Array(right)) => {
            let mut both = left.iter().zip(right);
            left.len() == right.len() && both.all(|(left, right)| alike(left, right, accepts))
        }
        (Value::Object(left), Value::Object(right)) => {
            let mut both = left.iter().map(|(name, left)| (left, right.get(name)));
            left.len() == right.len()
                && both.all(|(left, right)| right.is_some_and(|it| alike(left, it, accepts)))
        }
        _ => left == right,
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number"
                || name == "integer" && number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}
