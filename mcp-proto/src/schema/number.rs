//! Numbers as JSON Schema compares them: by their values, whatever their form.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Compares two numbers exactly.
pub(super) fn compare(one: &Number, other: &Number) -> Ordering {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) if one != i128::MAX && one != i128::MIN => one.cmp(&other),
        // Two floats, or one of them has a fraction, so that it is smaller than 2^53, where each integer is an `f64`,
        // or it is beyond all integers of JSON.
        _ => float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal),
    }
}

/// Whether a number is an integer: 1.0 is one.
pub(super) fn is_whole(number: &Number) -> bool {
    whole(number).is_some()
}

/// Whether two values are equal: 1 and 1.0 are.
///
/// Recurses as deep as the values nest, which the reader of JSON bounds.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other).is_eq(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut members = one.iter();
            one.len() == other.len()
                && members.all(|(name, one)| other.get(name).is_some_and(|other| equal(one, other)))
        }
        _ => one == other,
    }
}

/// The value of an integer; one beyond the range is the end of the range.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let number = float(number);
    (number.fract() == 0.0).then_some(number as i128)
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}
