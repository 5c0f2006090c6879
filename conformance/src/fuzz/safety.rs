//! Which broken requests may be sent: none that may call a tool that changes something.

use serde_json::Value;

use crate::json::each_text;
use crate::probe::Bench;

/// Whether no tool can be meant but those that may be called.
pub(super) fn is_safe(bench: &Bench, body: &[u8]) -> bool {
    let tools = bench.items("tools/list").iter();
    let names = tools.filter_map(|tool| tool.get("name")?.as_str());
    let forbidden: Vec<&str> =
        names.filter(|name| !bench.callable.iter().any(|it| it == name)).collect();
    match serde_json::from_slice::<Value>(body) {
        Ok(message) => !names_one(&message, &forbidden),
        // How a server reads what is not JSON is not known: no such name may stand in it.
        Err(_) => {
            let text = String::from_utf8_lossy(body).replace('\0', "");
            !forbidden.iter().any(|name| text.contains(*name))
        }
    }
}

/// Whether a text in it is one of these names, give or take what lenient servers pass over.
fn names_one(value: &Value, names: &[&str]) -> bool {
    let mut is_named = false;
    each_text(value, "", &mut |_, text| {
        is_named |= names.iter().any(|name| name.eq_ignore_ascii_case(text.trim()));
    });
    is_named
}
