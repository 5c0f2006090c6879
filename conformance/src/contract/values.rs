//! Values as they are shown.

use serde_json::Value;

use crate::pattern::same;
use crate::shorten::{few, shorten};

/// The member that marks a value which a transcript does not expect exactly.
pub(super) const VARIES: &str = "$varies";
/// How much of a value is shown, in characters.
const SHOWN: usize = 60;
/// How many values are listed.
const LISTED: usize = 6;

/// Whether a transcript leaves this open.
pub(super) fn varies(value: &Value) -> bool {
    value.get(VARIES).is_some()
}

/// Several values in few words.
pub(super) fn listed(values: &[&Value]) -> String {
    let shown: Vec<_> = values.iter().map(|it| shown(it)).collect();
    few(&shown, LISTED)
}

/// How a value changed, such as `minimum is 5 instead of 1`; `None` if it did not.
pub(super) fn turned(part: &str, old: Option<&Value>, new: Option<&Value>) -> Option<String> {
    if [old, new].into_iter().flatten().any(varies) {
        return None;
    }
    match (old, new) {
        (Some(old), Some(new)) if !same(old, new) => {
            Some(format!("{part} is {} instead of {}", shown(new), shown(old)))
        }
        (None, Some(new)) => Some(format!("{part} is now {}", shown(new))),
        (Some(old), None) => Some(format!("{part} {} was dropped", shown(old))),
        _ => None,
    }
}

/// A value in few characters.
fn shown(value: &Value) -> String {
    shorten(&value.to_string(), SHOWN)
}
