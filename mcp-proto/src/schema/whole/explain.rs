//! Explains what is wrong with a value, by the errors of the validator.

use std::borrow::Cow;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::unique;
use crate::json;
use crate::schema::choice::{self, Choice};
use crate::schema::finding::{self, Finding, MAX_TOLD};
use crate::schema::wording::{self, Findings, Wrong};

/// How deep alternatives inside alternatives are followed.
const MAX_NESTED_CHOICES: usize = 8;

/// The findings of errors. Alternatives are explained by the one that was meant.
pub(super) fn findings(schema: &Value, errors: &[ValidationError<'_>]) -> Vec<Finding> {
    let mut findings = Findings::default();
    let mut errors = errors.iter();
    errors.all(|error| add(schema, error, MAX_NESTED_CHOICES, &mut findings));
    findings.into_list()
}

/// Adds the findings of an error. False once there are enough. Recurses over the schema's own alternatives, bounded by
/// `depth`; the value does not drive it.
fn add(schema: &Value, error: &ValidationError<'_>, depth: usize, findings: &mut Findings) -> bool {
    let path = error.instance_path().as_str();
    let value = error.instance();
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return findings.add(path, wrong(error), value);
    };
    let alternatives = schema.pointer(error.schema_path().as_str()).and_then(Value::as_array);
    match alternatives.and_then(|alternatives| choice::of(alternatives, value)) {
        Some(Choice::Meant(meant)) if depth > 0 => {
            let mut errors = context.get(meant).into_iter().flatten();
            errors.all(|error| add(schema, error, depth - 1, findings))
        }
        Some(Choice::Wrong { member, message }) => {
            let member = member.map(|member| format!("/{}", json::pointer_segment(&member)));
            let path = format!("{path}{}", member.unwrap_or_default());
            findings.add(&path, Wrong::Other(message, None), value)
        }
        Some(Choice::Meant(_)) | None => findings.add(path, wrong(error), value),
    }
}

/// What an error says.
fn wrong<'e>(error: &'e ValidationError<'_>) -> Wrong<'e> {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(kind) } => {
            Wrong::Type(Cow::Owned(kind.to_string().into()))
        }
        Kind::Type { kind: TypeKind::Multiple(kinds) } => {
            Wrong::Type(Cow::Owned(kinds.iter().map(|kind| kind.to_string()).collect()))
        }
        Kind::Enum { options } => Wrong::Enum(options.as_array().map_or(&[], Vec::as_slice)),
        Kind::Constant { expected_value } => Wrong::Const(expected_value),
        Kind::Minimum { limit } => Wrong::Minimum(limit),
        Kind::Maximum { limit } => Wrong::Maximum(limit),
        Kind::ExclusiveMinimum { limit } => Wrong::ExclusiveMinimum(limit),
        Kind::ExclusiveMaximum { limit } => Wrong::ExclusiveMaximum(limit),
        Kind::MinLength { limit } => Wrong::MinLength(*limit),
        Kind::MaxLength { limit } => Wrong::MaxLength(*limit),
        Kind::MinItems { limit } => Wrong::MinItems(*limit),
        Kind::MaxItems { limit } => Wrong::MaxItems(*limit),
        Kind::MinProperties { limit } => Wrong::MinProperties(*limit),
        Kind::MaxProperties { limit } => Wrong::MaxProperties(*limit),
        Kind::Custom { keyword, .. } if keyword == unique::KEYWORD => Wrong::UniqueItems,
        Kind::Required { property } => Wrong::Required(property.as_str().unwrap_or_default()),
        Kind::AdditionalProperties { unexpected } => {
            let unexpected = unexpected.iter().map(String::as_str);
            wording::unexpected(unexpected).unwrap_or(Wrong::Never)
        }
        Kind::FalseSchema => Wrong::Never,
        Kind::AnyOf { .. } => Wrong::NoneOf("anyOf"),
        Kind::OneOfNotValid { .. } => Wrong::NoneOf("oneOf"),
        Kind::OneOfMultipleValid { .. } => Wrong::Several,
        Kind::UnevaluatedProperties { unexpected } => {
            Wrong::Other(message(error), unexpected.first().cloned())
        }
        _ => Wrong::Other(message(error), None),
    }
}

fn message(error: &ValidationError<'_>) -> String {
    error.masked_with(finding::shown(error.instance())).to_string()
}

/// The finding for a value of more than `max` values, in which only the first error was searched.
pub(super) fn too_large(first: Option<&ValidationError<'_>>, max: usize) -> Finding {
    let why = format!("too large to be explained in full (more than {max} values)");
    let Some(error) = first else {
        return Finding::new("", &format!("{why}: some value in it is not what the schema says"));
    };
    let path = error.instance_path().as_str();
    let first = wording::finding(path, wrong(error), error.instance());
    let message = if first.message.len() <= MAX_TOLD {
        first.message
    } else {
        "the value is not what the schema says".to_owned()
    };
    Finding::new(path, &format!("{why}: {message}"))
}

/// The finding for a value whose nesting leaves too many ways to read it.
pub(super) fn too_deep() -> Finding {
    Finding::new(
        "",
        "nested too deep to be explained in full: some value in it is not what the schema says",
    )
}
