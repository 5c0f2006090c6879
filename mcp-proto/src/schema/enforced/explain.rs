//! Explains what is wrong with an instance, in words that a model can act on.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::choice::{self, Choice};
use crate::json;
use crate::schema::finding::{self, Finding, MAX_TOLD, shortened};
use crate::schema::simple::MAX_FINDINGS;

/// How deep alternatives inside alternatives are followed.
const MAX_NESTED_CHOICES: usize = 8;

/// Flattens validation errors into findings. Alternatives with a distinguishing constant member are explained by the
/// alternative that the instance chose.
pub(super) fn findings(schema: &Value, errors: &[ValidationError<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for error in errors.iter().take(MAX_FINDINGS) {
        flatten(schema, error, MAX_NESTED_CHOICES, &mut |error| {
            let mut finding = Finding {
                path: error.instance_path().as_str().to_owned(),
                message: message(error),
                member: member(error),
                value: finding::quotable(error.instance()),
            };
            let choice =
                alternatives(schema, error).and_then(|it| choice::of(it, error.instance()));
            let Some(Choice::Wrong { member, message }) = choice else {
                findings.push((finding, is_choice(error)));
                return;
            };
            finding.message = message;
            if let Some(member) = member {
                finding.path = format!("{}/{}", finding.path, json::pointer_segment(&member));
            }
            findings.push((finding, false));
        });
    }
    // "None of the alternatives fits" adds nothing to a finding inside the same value.
    let named: BTreeSet<_> = findings
        .iter()
        .filter(|(_, vague)| !vague)
        .map(|(finding, _)| finding.path.clone())
        .collect();
    let says_nothing = |path: &str| {
        let inside = format!("{path}/");
        let mut behind = named.range(inside.clone()..);
        behind.next().is_some_and(|named| named.starts_with(&inside))
    };
    findings.retain(|(finding, vague)| !vague || !says_nothing(&finding.path));
    findings.truncate(MAX_FINDINGS);
    let findings = findings.into_iter();
    findings
        .map(|(finding, _)| Finding {
            path: shortened(&finding.path),
            message: shortened(&finding.message),
            member: finding.member.as_deref().map(shortened),
            value: finding.value,
        })
        .collect()
}

/// The member that is missing, or the first unknown one.
fn member(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected.first().cloned(),
        ValidationErrorKind::Required { property } => property.as_str().map(str::to_owned),
        _ => None,
    }
}

fn is_choice(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. }
    )
}

/// The finding for an instance with more than `max` values, in which only the first error was searched.
pub(super) fn too_large(first: Option<&ValidationError<'_>>, max: usize) -> Finding {
    let short = |text: String| {
        if text.len() <= MAX_TOLD {
            text
        } else {
            "the value is not what the schema says".to_owned()
        }
    };
    let why = format!("too large to be explained in full (more than {max} values)");
    match first {
        Some(error) => Finding::new(
            error.instance_path().as_str(),
            &format!("{why}: {}", short(message(error))),
        ),
        None => Finding::new("", &format!("{why}: some value in it is not what the schema says")),
    }
}

/// The finding for an instance whose nesting leaves too many ways to read it.
pub(super) fn too_deep() -> Finding {
    Finding::new(
        "",
        "nested too deep to be explained in full: some value in it is not what the schema says",
    )
}

/// Where the instance has a null although the member may be left out, as JSON Pointers. Their number is bounded by the
/// values in the instance, which the caller limits.
pub(super) fn nulls(schema: &Value, errors: &[ValidationError<'_>]) -> Vec<String> {
    let mut nulls = Vec::new();
    for error in errors {
        flatten(schema, error, MAX_NESTED_CHOICES, &mut |error| {
            if is_null_for_optional(schema, error) {
                nulls.push(error.instance_path().as_str().to_owned());
            }
        });
    }
    nulls
}

/// Removes the member at `path` from its object.
pub(super) fn remove(instance: &mut Value, path: &str) {
    if let Some((owner, name)) = path.rsplit_once('/')
        && let Some(owner) = instance.pointer_mut(owner).and_then(Value::as_object_mut)
    {
        owner.remove(&unescaped(name));
    }
}

// Recursion over the schema's own alternatives, bounded by `depth`; the instance does not drive it.
fn flatten(
    schema: &Value,
    error: &ValidationError<'_>,
    depth: usize,
    found: &mut impl FnMut(&ValidationError<'_>),
) {
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
        && depth > 0
        && !error.instance().is_null()
        && let Some(chosen) =
            meant(schema, error, context).or_else(|| chosen_alternative(error, context))
    {
        for nested in chosen {
            flatten(schema, nested, depth - 1, found);
        }
        return;
    }
    found(error);
}

/// The alternatives of the schema that the instance does not fit.
fn alternatives<'s>(schema: &'s Value, error: &ValidationError<'_>) -> Option<&'s [Value]> {
    match is_choice(error) {
        true => Some(schema.pointer(error.schema_path().as_str())?.as_array()?),
        false => None,
    }
}

/// The findings of the alternative whose form the instance has.
fn meant<'c>(
    schema: &Value,
    error: &ValidationError<'_>,
    context: &'c [Vec<ValidationError<'static>>],
) -> Option<&'c [ValidationError<'static>]> {
    match choice::of(alternatives(schema, error)?, error.instance())? {
        Choice::Meant(index) => context.get(index).map(Vec::as_slice),
        Choice::Wrong { .. } => None,
    }
}

/// The alternative whose constant member matches: the only one with no finding about a constant of its own object.
fn chosen_alternative<'c>(
    choice: &ValidationError<'_>,
    alternatives: &'c [Vec<ValidationError<'static>>],
) -> Option<&'c [ValidationError<'static>]> {
    let depth = choice.instance_path().segments().count() + 1;
    let mut matching = alternatives.iter().filter(|errors| {
        !errors.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Constant { .. })
                && error.instance_path().segments().count() == depth
        })
    });
    match (matching.next(), matching.next()) {
        (Some(chosen), None) => Some(chosen),
        _ => None,
    }
}

/// Whether the error is about an explicit `null` where the member may be left out.
fn is_null_for_optional(schema: &Value, error: &ValidationError<'_>) -> bool {
    if !error.instance().is_null() {
        return false;
    }
    // …/properties/<name>/<keyword>: the object schema that has the member is what precedes `properties`.
    let path = error.schema_path().as_str();
    let Some((member, _keyword)) = path.rsplit_once('/') else {
        return false;
    };
    let Some((properties, name)) = member.rsplit_once('/') else {
        return false;
    };
    let Some(owner) = properties.strip_suffix("/properties") else {
        return false;
    };
    let name = unescaped(name);
    let required =
        schema.pointer(owner).and_then(|owner| owner.get("required")).and_then(Value::as_array);
    !required.is_some_and(|required| required.iter().any(|entry| entry.as_str() == Some(&name)))
}

/// The name that a segment of a JSON Pointer stands for.
fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn message(error: &ValidationError<'_>) -> String {
    if let ValidationErrorKind::Enum { options } = error.kind()
        && let Some(options) = options.as_array()
    {
        let shown = finding::shown(error.instance());
        return format!("{shown} is not one of {}", finding::options(options));
    }
    match finding::is_quotable(error.instance()) {
        true => error.to_string(),
        false => error.masked_with("the value").to_string(),
    }
}
