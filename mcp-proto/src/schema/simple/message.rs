//! What is wrong with a value, in words that a model can act on: those of the validator for other schemas.

use serde_json::{Number, Value};

use crate::schema::finding::{self, Finding, MAX_TOLD};

/// A keyword that a value breaks, with what it allows.
pub(super) enum Wrong<'a> {
    Type(&'a str),
    Enum(&'a [Value]),
    Minimum(&'a Number),
    Maximum(&'a Number),
    MinLength(u64),
    MaxLength(u64),
    MinItems(u64),
    MaxItems(u64),
    Required(&'a str),
    /// The members that no schema is for, at least one.
    Unexpected(&'a mut dyn Iterator<Item = &'a str>),
}

/// The finding at a place.
pub(super) fn finding(path: &str, wrong: Wrong<'_>, instance: &Value) -> Finding {
    let shown = finding::shown(instance);
    let mut member = None;
    let message = match wrong {
        Wrong::Type(kind) => format!("{shown} is not of type \"{kind}\""),
        Wrong::Enum(values) => format!("{shown} is not one of {}", finding::options(values)),
        Wrong::Minimum(least) => format!("{shown} is less than the minimum of {least}"),
        Wrong::Maximum(most) => format!("{shown} is greater than the maximum of {most}"),
        Wrong::MinLength(least) => format!("{shown} is shorter than {}", of(least, "character")),
        Wrong::MaxLength(most) => format!("{shown} is longer than {}", of(most, "character")),
        Wrong::MinItems(least) => format!("{shown} has less than {}", of(least, "item")),
        Wrong::MaxItems(most) => format!("{shown} has more than {}", of(most, "item")),
        Wrong::Required(name) => {
            member = Some(finding::shortened(name));
            format!("{} is a required property", Value::from(name))
        }
        Wrong::Unexpected(names) => {
            let mut listed = String::new();
            let mut many = false;
            for name in names {
                many = member.is_some();
                member.get_or_insert_with(|| finding::shortened(name));
                let comma = if many { ", " } else { "" };
                listed.push_str(&format!("{comma}'{name}'"));
                if listed.len() > MAX_TOLD {
                    break;
                }
            }
            let were = if many { "were" } else { "was" };
            format!("Additional properties are not allowed ({listed} {were} unexpected)")
        }
    };
    Finding { member, value: finding::quotable(instance), ..Finding::new(path, &message) }
}

fn of(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
