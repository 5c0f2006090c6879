//! Messages: a text is a message or a good refusal, the same as its tree is, and a message that is read has what was
//! sent, can be written and read again. The input is the text.

use mcp_proto::jsonrpc::{ErrorObject, Message, MessageError};
use serde::de::IgnoredAny;
use serde_json::{Value, json, to_value};

use super::tree::tree;

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(text: &[u8]) {
    match (Message::from_slice(text), tree(text)) {
        (Ok(message), tree) => accepted(&message, tree.expect("a message is JSON")),
        (Err(refusal), tree) => refused(text, &refusal, tree),
    }
}

fn accepted(message: &Message, tree: Value) {
    let written = to_value(message).unwrap();
    for (name, value) in written.as_object().expect("a message is an object") {
        match (name.as_str(), tree.get(name)) {
            // `1e2` is written as the integer that it is.
            ("id", Some(sent)) if sent.is_f64() => assert_eq!(value.as_f64(), sent.as_f64()),
            ("params", None) => assert_eq!(value, &json!({})),
            ("error", Some(sent)) => {
                let members = value.as_object().expect("an error is an object");
                assert!(members.iter().all(|(name, value)| sent[name] == *value));
            }
            (_, sent) => assert_eq!(Some(value), sent, "{name} is not what was sent"),
        }
    }
    let by_tree = Message::from_value(tree).expect("the tree of a message is one");
    assert_eq!(to_value(by_tree).unwrap(), written);
    let text = serde_json::to_vec(message).unwrap();
    assert!(!text.contains(&b'\n'), "a message is one line");
    let again = Message::from_slice(&text).expect("what was read can be read again");
    assert_eq!(to_value(&again).unwrap(), written);
    assert_eq!(std::mem::discriminant(&again), std::mem::discriminant(message));
}

fn refused(text: &[u8], refusal: &MessageError, tree: Option<Value>) {
    assert!(!refusal.error.message.is_empty());
    // Told before the end is read, so it may come for a text that is not JSON further on.
    let is_double = refusal.error.message.contains("given twice");
    match tree {
        None if is_double => {
            // A number out of range is none to a tree, but it is one to the grammar.
            let is_json = serde_json::from_slice::<IgnoredAny>(text).is_ok();
            assert!(is_json || refusal.id.is_none(), "an id out of broken JSON");
        }
        None => {
            assert_eq!(refusal.error.code, ErrorObject::PARSE);
            assert_eq!(refusal.id, None);
        }
        Some(tree) => {
            assert_eq!(refusal.error.code, ErrorObject::INVALID_REQUEST);
            // Trees have no double members.
            if !is_double {
                let by_tree = Message::from_value(tree).expect_err("the tree of no message");
                assert_eq!(&by_tree, refusal);
            }
        }
    }
}
