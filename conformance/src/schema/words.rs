//! What a validator found, in words.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use crate::shorten::shorten;

/// How much of a value is shown, in characters.
const SHOWN: usize = 80;
/// How deep alternatives within alternatives are followed.
const MAX_DEPTH: usize = 8;

/// Where it is, as a JSON Pointer, and what is wrong there.
pub(super) fn explain(error: &ValidationError<'_>) -> (String, String) {
    let error = deepest(error, MAX_DEPTH);
    let value = || shorten(&error.instance().to_string(), SHOWN);
    let problem = match error.kind() {
        Kind::Required { property } => {
            format!("has no {}", property.as_str().unwrap_or_default())
        }
        Kind::Constant { expected_value } => {
            format!("is {} instead of {expected_value}", value())
        }
        Kind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            let options: Vec<_> = options.map(Value::to_string).collect();
            format!("is {}, which is not one of {}", value(), options.join(", "))
        }
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!("does not match any allowed form: {}", value())
        }
        _ => shorten(&error.to_string(), 2 * SHOWN),
    };
    (error.instance_path().as_str().to_owned(), problem)
}

/// Of alternatives that all failed, what is wrong with the one that was meant: the only one with fewest faults, of
/// those whose kind is right.
fn deepest<'a>(error: &'a ValidationError<'a>, depth: usize) -> &'a ValidationError<'a> {
    let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else {
        return error;
    };
    let here = error.instance_path().segments().count();
    // An alternative is of another kind if the whole has another type, or a member of it another constant.
    let is_other = |found: &ValidationError<'_>| {
        let below = found.instance_path().segments().count().saturating_sub(here);
        match found.kind() {
            Kind::Type { .. } => below == 0,
            Kind::Constant { .. } => below <= 1,
            _ => false,
        }
    };
    let mut meant: Vec<_> = context.iter().filter(|it| !it.iter().any(is_other)).collect();
    meant.sort_by_key(|it| it.len());
    let found = match meant.as_slice() {
        [only] => only.first(),
        [least, next, ..] if least.len() < next.len() => least.first(),
        _ => None,
    };
    match (found, depth) {
        (Some(found), 1..) => deepest(found, depth - 1),
        _ => error,
    }
}
