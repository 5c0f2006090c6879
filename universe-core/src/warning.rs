//! Oddities in JSON that the checker accepts: probably mistakes, but the input is kept.
//!
//! Recursion follows the tables, as in the checker, never the input.

use std::fmt;

use serde_json::{Map, Value};

use crate::check::describe;
use crate::finding::{Findings, Path, Quoted};
use crate::member::{Kind, Member, Mode, Table};
use crate::nearest;

/// How to treat an input that is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// It is accepted unchanged, with warnings.
    #[default]
    Lenient,
    /// It is refused.
    Strict,
}

/// Members of which the first should be less than the second.
const ORDERED: [(&str, &str); 4] = [
    ("innerRadius", "outerRadius"),
    ("innerRadiusMultiplier", "outerRadiusMultiplier"),
    ("accretionInnerRadius", "accretionOuterRadius"),
    ("perihelionDistance", "aphelionDistance"),
];

/// Members of a body that say a fact once more, each with what has the effect.
const COPIES: [(&str, &str); 5] = [
    ("massKg", "mass"),
    ("radiusKm", "radius"),
    ("semiMajorAxisKm", "semiMajorAxis or elements.semiMajorAxis"),
    ("periodDays", "orbitalSpeed or elements.period"),
    ("inclinationDeg", "orbitRotX or elements.inclination"),
];

/// What looks for oddities, and how it words them.
struct Judge<'f> {
    /// Follows each finding about something that was taken.
    kept: &'static str,
    findings: &'f mut Findings,
}

/// Looks through an object that the checker has passed.
pub(crate) fn judge(
    object: &Map<String, Value>,
    table: &Table,
    mode: Mode,
    strictness: Strictness,
    findings: &mut Findings,
) {
    judge_at(&Path::ROOT, object, table, mode, strictness, findings);
}

/// [`judge`] of an object that is part of the input.
pub(crate) fn judge_at(
    path: &Path<'_>,
    object: &Map<String, Value>,
    table: &Table,
    mode: Mode,
    strictness: Strictness,
    findings: &mut Findings,
) {
    let kept = match strictness {
        Strictness::Lenient => "; it was kept as it is",
        Strictness::Strict => "",
    };
    Judge { kept, findings }.object(object, table, mode, path);
}

impl Judge<'_> {
    fn object(&mut self, object: &Map<String, Value>, table: &Table, mode: Mode, path: &Path<'_>) {
        let is_root = path.is_root();
        for (name, value) in object {
            let place = path.at(name);
            match table.member(name) {
                Some(member) if member.is_ignored(mode) => {
                    // An id belongs to the command, and is checked there.
                    if !is_trivial(value) && name != "id" {
                        let message = "is not set by this command; it was left out";
                        self.findings.push(&place, message);
                    }
                }
                Some(member) => self.value(value, member, &place),
                None if is_root && name == "type" => {}
                None if table.name == "body"
                    && let Some((_, source)) = COPIES.iter().find(|(copy, _)| copy == name) =>
                {
                    let kept = self.kept;
                    let message = format_args!("is derived and has no effect{kept}; set {source}");
                    self.findings.push(&place, message);
                }
                None => {
                    let (of, kept) = (table.name, self.kept);
                    // Computed only when it is written, and not for each of 100,000 bodies.
                    let message = fmt::from_fn(|formatter| {
                        let names = table.members.iter().map(|member| member.name);
                        let hint = nearest::hint(name, names);
                        write!(formatter, "is not a known member of {of}{kept}{hint}")
                    });
                    self.findings.push(&place, message);
                }
            }
        }
        if let (true, Some(id), Some(inner)) =
            (is_root, object.get("id"), object.get("payload").and_then(|payload| payload.get("id")))
            && id != inner
        {
            let found = describe(inner);
            let message = format_args!("{found} differs from the id of the command, which counts");
            self.findings.push(&path.at(&"payload").at(&"id"), message);
        }
        for (inner, outer) in ORDERED {
            let number = |name| object.get(name).and_then(Value::as_f64);
            if let (Some(least), Some(most)) = (number(inner), number(outer))
                && least >= most
            {
                let message =
                    format_args!("{least} should be less than {outer}, {most}{}", self.kept);
                self.findings.push(&path.at(&inner), message);
            }
        }
    }

    fn value(&mut self, value: &Value, member: &Member, path: &Path<'_>) {
        match (member.kind, value) {
            (Kind::Number, Value::Number(number)) => {
                let range = member.range;
                if !range.contains(number.as_f64().unwrap_or_default()) {
                    let message = format_args!("{number} should be {range}{}", self.kept);
                    self.findings.push(path, message);
                }
            }
            (Kind::Color, Value::String(text)) if csscolorparser::parse(text).is_err() => {
                let found = Quoted(text);
                let message = format_args!("{found} is not a CSS colour{}", self.kept);
                self.findings.push(path, message);
            }
            (Kind::Text, Value::String(text)) if text.is_empty() && is_id(member.name) => {
                self.findings.push(path, format_args!("the id is empty{}", self.kept));
            }
            (Kind::Object(table, mode), Value::Object(object)) => {
                self.object(object, table, mode, path);
            }
            (Kind::List(table), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.whole(item, table, &path.at(&index));
                }
            }
            (Kind::Map(table), Value::Object(entries)) => {
                for (key, entry) in entries {
                    self.whole(entry, table, &path.at(key));
                }
            }
            _ => {}
        }
    }

    fn whole(&mut self, value: &Value, table: &Table, path: &Path<'_>) {
        if let Value::Object(object) = value {
            self.object(object, table, Mode::Whole, path);
        }
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("Id")
}

/// Whether leaving it out makes no difference.
fn is_trivial(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}
