//! What is done with JSON in many places: setting a member, looking at every text, and taking a batch apart.

use serde_json::Value;

/// Sets a member of an object. Any other value has none, and stays as it is.
pub(crate) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}

/// The messages in a text: several if it is a batch.
pub(crate) fn messages(text: Value) -> Vec<Value> {
    match text {
        Value::Array(messages) => messages,
        message => vec![message],
    }
}

/// Calls `visit` with each text in a value, and with the name of the member that has it or the array around it. The
/// depth is limited by the parser.
pub(crate) fn each_text<'v>(
    value: &'v Value,
    name: &'v str,
    visit: &mut dyn FnMut(&'v str, &'v str),
) {
    match value {
        Value::String(text) => visit(name, text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, name, visit)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| each_text(value, name, visit));
        }
        _ => {}
    }
}
