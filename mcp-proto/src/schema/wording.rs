//! What is wrong with a value, in words that a model can act on: the same, whichever judge found it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{self, Finding, MAX_TOLD};

/// The most findings that are reported for one instance.
const MAX_FINDINGS: usize = 20;

/// What a value breaks, with what would be valid.
pub(super) enum Wrong<'a> {
    /// The type that is allowed, or a list of them.
    Type(Cow<'a, Value>),
    Enum(&'a [Value]),
    Const(&'a Value),
    Minimum(&'a Value),
    Maximum(&'a Value),
    ExclusiveMinimum(&'a Value),
    ExclusiveMaximum(&'a Value),
    MinLength(u64),
    MaxLength(u64),
    MinItems(u64),
    MaxItems(u64),
    MinProperties(u64),
    MaxProperties(u64),
    UniqueItems,
    Required(&'a str),
    /// Members that are not allowed: the first, and all of them with their verb.
    Unexpected(String, String),
    /// No value is allowed.
    Never,
    /// None of the alternatives under this keyword fits.
    NoneOf(&'static str),
    /// More than one of the alternatives under `oneOf` fit.
    Several,
    /// Another keyword, in a sentence, and the member that it is about.
    Other(String, Option<String>),
}

/// The findings for one instance.
#[derive(Default)]
pub(super) struct Findings {
    /// Each with whether it says no more than that no alternative fits.
    found: Vec<(Finding, bool)>,
}

impl Findings {
    /// Adds what is wrong with the value at a place. False once there are enough.
    pub(super) fn add(&mut self, path: &str, wrong: Wrong<'_>, value: &Value) -> bool {
        let is_vague = matches!(wrong, Wrong::NoneOf(_));
        self.found.push((finding(path, wrong, value), is_vague));
        self.found.len() < MAX_FINDINGS
    }

    /// All of them. That no alternative fits adds nothing to a finding inside the same value.
    pub(super) fn into_list(self) -> Vec<Finding> {
        let named = self.found.iter().filter(|(_, is_vague)| !is_vague);
        let named: BTreeSet<_> = named.map(|(finding, _)| finding.path.clone()).collect();
        let says_nothing = |path: &str| {
            let inside = format!("{path}/");
            let mut behind = named.range(inside.clone()..);
            behind.next().is_some_and(|named| named.starts_with(&inside))
        };
        let found = self.found.into_iter();
        let telling = found.filter(|(one, is_vague)| !is_vague || !says_nothing(&one.path));
        telling.map(|(finding, _)| finding).collect()
    }
}

/// The finding about the value at a place.
pub(super) fn finding(path: &str, wrong: Wrong<'_>, value: &Value) -> Finding {
    let shown = finding::shown(value);
    let mut member = None;
    let message = match wrong {
        Wrong::Type(kinds) => match kinds.as_array().map(Vec::as_slice) {
            None => format!("{shown} is not of type {kinds}"),
            Some([kind]) => format!("{shown} is not of type {kind}"),
            Some(kinds) => format!("{shown} is not of types {}", finding::options(kinds)),
        },
        Wrong::Enum(values) => format!("{shown} is not one of {}", finding::options(values)),
        Wrong::Const(only) => format!("{only} was expected"),
        Wrong::Minimum(least) => format!("{shown} is less than the minimum of {least}"),
        Wrong::Maximum(most) => format!("{shown} is greater than the maximum of {most}"),
        Wrong::ExclusiveMinimum(below) => {
            format!("{shown} is less than or equal to the minimum of {below}")
        }
        Wrong::ExclusiveMaximum(above) => {
            format!("{shown} is greater than or equal to the maximum of {above}")
        }
        Wrong::MinLength(least) => format!("{shown} is shorter than {}", characters(least)),
        Wrong::MaxLength(most) => format!("{shown} is longer than {}", characters(most)),
        Wrong::MinItems(least) => format!("{shown} has less than {}", items(least)),
        Wrong::MaxItems(most) => format!("{shown} has more than {}", items(most)),
        Wrong::MinProperties(least) => format!("{shown} has less than {}", properties(least)),
        Wrong::MaxProperties(most) => format!("{shown} has more than {}", properties(most)),
        Wrong::UniqueItems => "the value has non-unique elements".to_owned(),
        Wrong::Required(name) => {
            member = Some(name.to_owned());
            format!("{} is a required property", Value::from(name))
        }
        Wrong::Unexpected(first, listed) => {
            member = Some(first);
            format!("Additional properties are not allowed ({listed} unexpected)")
        }
        Wrong::Never => format!("False schema does not allow {shown}"),
        Wrong::NoneOf(keyword) => format!(
            "{shown} is not valid under any of the schemas listed in the '{keyword}' keyword"
        ),
        Wrong::Several => format!(
            "{shown} is valid under more than one of the schemas listed in the 'oneOf' keyword"
        ),
        Wrong::Other(message, about) => {
            member = about;
            message
        }
    };
    Finding {
        member: member.as_deref().map(finding::shortened),
        value: finding::quotable(value),
        ..Finding::new(path, &message)
    }
}

/// That there are members which are not allowed, if there are. Of very many only the first ones are listed.
pub(super) fn unexpected<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<Wrong<'static>> {
    let first = names.next()?;
    let mut listed = format!("'{first}'");
    let mut verb = "was";
    for name in names {
        verb = "were";
        listed.push_str(&format!(", '{name}'"));
        if listed.len() > MAX_TOLD {
            break;
        }
    }
    Some(Wrong::Unexpected(first.to_owned(), format!("{listed} {verb}")))
}

fn characters(count: u64) -> String {
    format!("{count} character{}", if count == 1 { "" } else { "s" })
}

fn items(count: u64) -> String {
    format!("{count} item{}", if count == 1 { "" } else { "s" })
}

fn properties(count: u64) -> String {
    format!("{count} propert{}", if count == 1 { "y" } else { "ies" })
}
