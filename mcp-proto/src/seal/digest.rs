//! The content of a request as 32 bytes, which are the same for any order of members.

use serde_json::{Map, Number, Value};
use sha2::{Digest as _, Sha256};

use super::length_of;
use crate::json;

/// The SHA-256 of a request's method and of its params, without the members of the params that `except` names.
///
/// The order of members does not matter, nor how a number is spelt (an integer as `1` or `1.0` up to 2⁵³, where JSON
/// readers agree that these are equal); everything else does. Values are written directly into the hash: tags and
/// lengths first, members sorted by name. The walk does not recurse, so no nesting is too deep for it; the stack holds
/// at most all values of the params.
pub(crate) fn digest(method: &str, params: &Map<String, Value>, except: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    write_text(&mut hash, method);
    let mut open = Vec::new();
    let members = params.iter().filter(|(name, _)| !except.contains(&name.as_str()));
    push_members(&mut hash, &mut open, members);
    write_values(&mut hash, open);
    hash.finalize().into()
}

/// The SHA-256 of a value, by the same rules.
pub(crate) fn digest_value(value: &Value) -> [u8; 32] {
    let mut hash = Sha256::new();
    write_values(&mut hash, vec![(None, value)]);
    hash.finalize().into()
}

/// Hashes what is on the stack.
fn write_values(hash: &mut Sha256, mut open: Vec<Open<'_>>) {
    while let Some((name, value)) = open.pop() {
        if let Some(name) = name {
            write_text(hash, name);
        }
        match value {
            Value::Null => hash.update(b"n"),
            Value::Bool(false) => hash.update(b"f"),
            Value::Bool(true) => hash.update(b"t"),
            Value::Number(number) => write_number(hash, number),
            Value::String(text) => {
                hash.update(b"s");
                write_text(hash, text);
            }
            Value::Array(items) => {
                hash.update(b"a");
                write_count(hash, items.len());
                open.extend(items.iter().rev().map(|item| (None, item)));
            }
            Value::Object(members) => push_members(hash, &mut open, members.iter()),
        }
    }
}

/// A value that is still to be hashed, after its name if it is a member.
type Open<'v> = (Option<&'v str>, &'v Value);

/// Opens an object: its members are popped in the order of their names, whatever the order of the map.
fn push_members<'v>(
    hash: &mut Sha256,
    open: &mut Vec<Open<'v>>,
    members: impl Iterator<Item = (&'v String, &'v Value)>,
) {
    let below = open.len();
    open.extend(members.map(|(name, value)| (Some(name.as_str()), value)));
    let (_, members) = open.split_at_mut(below);
    // Names are unique.
    members.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    hash.update(b"o");
    write_count(hash, members.len());
}

fn write_text(hash: &mut Sha256, text: &str) {
    hash.update(length_of(text.as_bytes()));
    hash.update(text);
}

fn write_count(hash: &mut Sha256, count: usize) {
    hash.update((count as u64).to_le_bytes());
}

fn write_number(hash: &mut Sha256, number: &Number) {
    if let Some(integer) = json::whole(number).or_else(|| number.as_i64()) {
        hash.update(b"i");
        hash.update(integer.to_le_bytes());
    } else if let Some(integer) = number.as_u64() {
        hash.update(b"u");
        hash.update(integer.to_le_bytes());
    } else if let Some(float) = number.as_f64() {
        hash.update(b"d");
        hash.update(float.to_bits().to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
