//! Members of JSON objects that others have written.

use serde_json::Value;

/// A member that is a string and not empty.
pub(crate) fn member<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// The same, or a number as text.
pub(crate) fn text(object: &Value, name: &str) -> Option<String> {
    match object.get(name)? {
        Value::Number(number) => Some(number.to_string()),
        _ => member(object, name).map(str::to_owned),
    }
}

/// A member that is a whole number, or a string of one, if it fits.
pub(crate) fn number<T: TryFrom<i128>>(object: &Value, name: &str) -> Option<T> {
    let number: i128 = match object.get(name)? {
        Value::Number(number) => number.as_i128()?,
        value => value.as_str()?.parse().ok()?,
    };
    T::try_from(number).ok()
}

/// The same, or `otherwise` where there is no such member.
pub(crate) fn number_or<T: TryFrom<i128>>(object: &Value, name: &str, otherwise: T) -> Option<T> {
    let is_absent = object.get(name).is_none_or(Value::is_null);
    if is_absent { Some(otherwise) } else { number(object, name) }
}

/// Whether a member is true.
pub(crate) fn is_true(object: &Value, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// The entries of a member that is a list.
pub(crate) fn list<'v>(object: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    object.get(name).and_then(Value::as_array).into_iter().flatten()
}
