//! What a transcript expects of a value: literal JSON with explicit matchers in it.

mod compare;
mod example;
mod named;
mod unordered;
mod words;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value, json};

pub use self::compare::Mismatch;
pub(crate) use self::compare::{alike, same};
pub(crate) use self::named::name;
pub(crate) use self::words::{Wanted, in_words};
use crate::error::{Problem, each_element, each_member};
use crate::template::{Text, Vars, sole_member};

/// An expected JSON value. The matchers are listed in the [crate documentation](crate#matchers).
#[derive(Debug, Clone)]
pub struct Pattern(Kind);

/// One node of a pattern; see the matcher of the same name.
#[derive(Debug, Clone)]
enum Kind {
    Scalar(Value),
    Text(Text),
    Array(Vec<Pattern>),
    Object(BTreeMap<String, Pattern>),
    Any,
    Absent,
    Optional(Box<Pattern>),
    Type(String),
    Match(TextRegex),
    ContainsText(Text),
    ContainsElements(Vec<Pattern>),
    ContainsMembers(BTreeMap<String, Pattern>),
    Unordered(Vec<Pattern>),
    Each(Box<Pattern>),
    Length(u64),
    Json(Box<Pattern>),
    Not(Box<Pattern>),
    All(Vec<Pattern>),
    OneOf(Vec<Pattern>),
    Capture(String),
    Var(String),
}

const MATCHERS: &str = "$any, $absent, $optional, $type, $match, $contains, $unordered, $each, $length, $json, $not, \
                        $all, $oneOf, $capture, $var, $literal";
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

impl Pattern {
    /// Reads a pattern as it stands in a transcript.
    ///
    /// # Errors
    ///
    /// An unknown matcher, a matcher with an argument it cannot use, a bad regular expression, or a `$capture` where
    /// it could never be decided (inside `$not`, `$each` or `$oneOf`).
    pub fn parse(source: &Value) -> Result<Self, Problem> {
        Ok(Self(match source {
            Value::String(text) => Kind::Text(Text::parse(text)?),
            Value::Array(items) => Kind::Array(elements(items)?),
            Value::Object(source) => match sole_member(source) {
                Some((name, argument)) if name.starts_with('$') => {
                    return Self::matcher(name, argument).map_err(|problem| problem.within(name));
                }
                _ => Kind::Object(members(source)?),
            },
            scalar => Kind::Scalar(scalar.clone()),
        }))
    }

    pub(crate) fn any() -> Self {
        Self(Kind::Any)
    }

    pub(crate) fn text(text: &str) -> Self {
        Self(Kind::Scalar(text.into()))
    }

    pub(crate) fn number(number: u64) -> Self {
        Self(Kind::Scalar(number.into()))
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self(Kind::Object(members.map(|(name, member)| (name.to_owned(), member)).into()))
    }

    fn matcher(name: &str, argument: &Value) -> Result<Self, Problem> {
        let undecided = |source: &Value| -> Result<Box<Self>, Problem> {
            let pattern = Self::parse(source)?;
            match pattern.captures() {
                captured if captured.is_empty() => Ok(Box::new(pattern)),
                _ => Err(Problem::new(format!("`$capture` cannot be used inside `{name}`"))),
            }
        };
        Ok(Self(match (name, argument) {
            ("$any", Value::Bool(true)) => Kind::Any,
            ("$absent", Value::Bool(true)) => Kind::Absent,
            ("$optional", inner) => Kind::Optional(Box::new(Self::parse(inner)?)),
            ("$type", Value::String(kind)) if TYPES.contains(&kind.as_str()) => {
                Kind::Type(kind.clone())
            }
            ("$match", Value::String(regex)) => Kind::Match(TextRegex::parse(regex)?),
            ("$contains", Value::String(text)) => Kind::ContainsText(Text::parse(text)?),
            ("$contains", Value::Array(items)) => Kind::ContainsElements(elements(items)?),
            ("$contains", Value::Object(source)) => Kind::ContainsMembers(members(source)?),
            ("$unordered", Value::Array(items)) => Kind::Unordered(elements(items)?),
            ("$each", inner) => Kind::Each(undecided(inner)?),
            ("$length", Value::Number(length)) if length.is_u64() => {
                Kind::Length(length.as_u64().unwrap_or_default())
            }
            ("$json", inner) => Kind::Json(Box::new(Self::parse(inner)?)),
            ("$not", inner) => Kind::Not(undecided(inner)?),
            ("$all", Value::Array(items)) => Kind::All(elements(items)?),
            ("$oneOf", Value::Array(items)) => {
                let decided = items.iter().map(|item| undecided(item).map(|pattern| *pattern));
                Kind::OneOf(decided.collect::<Result<_, _>>()?)
            }
            ("$capture", Value::String(name)) => Kind::Capture(name.clone()),
            ("$var", Value::String(name)) => Kind::Var(name.clone()),
            ("$literal", value) => return Ok(literal(value)),
            _ => return Err(refused(name)),
        }))
    }

    /// Whether it says anything about the member `name` of the object it describes.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Object(members) | Kind::ContainsMembers(members) => members.contains_key(name),
            Kind::All(patterns) | Kind::OneOf(patterns) => {
                patterns.iter().any(|pattern| pattern.mentions(name))
            }
            Kind::Optional(inner) | Kind::Not(inner) => inner.mentions(name),
            _ => false,
        }
    }

    /// The names it captures, in the order of comparison.
    pub(crate) fn captures(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.walk(&mut |node| {
            if let Kind::Capture(name) = node {
                names.push(name.as_str());
            }
        });
        names
    }

    /// Calls `visit` with every name it refers to.
    pub(crate) fn each_name<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        self.walk(&mut |node| match node {
            Kind::Var(name) => visit(name),
            Kind::Match(regex) => regex.source.names().for_each(&mut *visit),
            Kind::Text(text) | Kind::ContainsText(text) => text.names().for_each(&mut *visit),
            _ => {}
        });
    }

    /// Every node, in the order of comparison. As deep as the JSON text was, which the parser bounds at 128.
    fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Kind)) {
        visit(&self.0);
        match &self.0 {
            Kind::Array(items)
            | Kind::ContainsElements(items)
            | Kind::Unordered(items)
            | Kind::All(items)
            | Kind::OneOf(items) => items.iter().for_each(|item| item.walk(visit)),
            Kind::Object(members) | Kind::ContainsMembers(members) => {
                members.values().for_each(|member| member.walk(visit));
            }
            Kind::Optional(inner) | Kind::Each(inner) | Kind::Json(inner) | Kind::Not(inner) => {
                inner.walk(visit)
            }
            _ => {}
        }
    }

    /// The pattern in the form of a transcript, for messages.
    pub(crate) fn source(&self) -> Value {
        let list = |items: &[Self]| Value::Array(items.iter().map(Self::source).collect());
        let object = |members: &BTreeMap<String, Self>| {
            let written = members.iter().map(|(name, member)| (name.clone(), member.source()));
            Value::Object(written.collect())
        };
        match &self.0 {
            Kind::Scalar(value) => value.clone(),
            Kind::Text(text) => Value::String(text.source()),
            Kind::Array(items) => list(items),
            Kind::Object(members) => object(members),
            Kind::Any => json!({"$any": true}),
            Kind::Absent => json!({"$absent": true}),
            Kind::Optional(inner) => json!({"$optional": inner.source()}),
            Kind::Type(name) => json!({"$type": name}),
            Kind::Match(regex) => json!({"$match": regex.source.source()}),
            Kind::ContainsText(text) => json!({"$contains": text.source()}),
            Kind::ContainsElements(items) => json!({"$contains": list(items)}),
            Kind::ContainsMembers(members) => json!({"$contains": object(members)}),
            Kind::Unordered(items) => json!({"$unordered": list(items)}),
            Kind::Each(inner) => json!({"$each": inner.source()}),
            Kind::Length(length) => json!({"$length": length}),
            Kind::Json(inner) => json!({"$json": inner.source()}),
            Kind::Not(inner) => json!({"$not": inner.source()}),
            Kind::All(items) => json!({"$all": list(items)}),
            Kind::OneOf(items) => json!({"$oneOf": list(items)}),
            Kind::Capture(name) => json!({"$capture": name}),
            Kind::Var(name) => json!({"$var": name}),
        }
    }
}

/// What is wrong with a matcher whose argument has the wrong type, or that does not exist.
fn refused(name: &str) -> Problem {
    let wanted = match name {
        "$type" => format!("one of {}", TYPES.join(", ")),
        "$any" | "$absent" => "true".to_owned(),
        "$length" => "a whole number".to_owned(),
        "$contains" => "a string, an array or an object".to_owned(),
        "$unordered" | "$all" | "$oneOf" => "an array".to_owned(),
        "$match" | "$capture" | "$var" => "a string".to_owned(),
        _ => return Problem::new(format!("unknown matcher; the matchers are {MATCHERS}")),
    };
    Problem::new(format!("the value of `{name}` must be {wanted}"))
}

fn elements(items: &[Value]) -> Result<Vec<Pattern>, Problem> {
    each_element(items, Pattern::parse)
}

fn members(source: &Map<String, Value>) -> Result<BTreeMap<String, Pattern>, Problem> {
    each_member(source, |name, value| {
        if name.starts_with('$') {
            let text = "a matcher must be the only member of its object; put an object with such members into `$literal` to compare it exactly";
            return Err(Problem::new(text));
        }
        Ok((name.to_owned(), Pattern::parse(value)?))
    })
}

/// A value in which nothing is special.
fn literal(value: &Value) -> Pattern {
    Pattern(match value {
        Value::Array(items) => Kind::Array(items.iter().map(literal).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), literal(value)));
            Kind::Object(members.collect())
        }
        scalar => Kind::Scalar(scalar.clone()),
    })
}

/// A regular expression that is written in this program.
#[expect(clippy::expect_used, reason = "each is a constant, and what it is for runs it")]
pub(crate) fn own_regex(expression: &str) -> Regex {
    Regex::new(expression).expect("an expression of this program")
}

/// A regular expression in which variables are matched literally.
#[derive(Debug, Clone)]
struct TextRegex {
    source: Text,
    /// There once and for all if it has no variables.
    compiled: Option<Regex>,
}

impl TextRegex {
    fn parse(source: &str) -> Result<Self, Problem> {
        let source = Text::parse(source)?;
        let mut vars = Vars::default();
        let mut fixed = true;
        for name in source.names() {
            fixed = false;
            vars.set(name, "x".into());
        }
        // Whatever the variables hold will be escaped, so that what compiles now compiles then.
        let compiled = Self::compile(&source, &vars)?;
        Ok(Self { source, compiled: fixed.then_some(compiled) })
    }

    fn compile(source: &Text, vars: &Vars) -> Result<Regex, Problem> {
        let filled = source.fill_with(vars, |value| regex::escape(&value))?;
        Regex::new(&filled).map_err(|error| Problem::new(error.to_string()))
    }

    fn is_match(&self, text: &str, vars: &Vars) -> Result<bool, Problem> {
        match &self.compiled {
            Some(regex) => Ok(regex.is_match(text)),
            None => Ok(Self::compile(&self.source, vars)?.is_match(text)),
        }
    }
}
