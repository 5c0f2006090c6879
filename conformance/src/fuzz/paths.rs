//! Places in a JSON value, as JSON Pointers (RFC 6901).

use serde_json::Value;

/// How many places of one value are looked at.
const MOST: usize = 2_000;

/// Every place but the value itself, the outer ones first.
pub(super) fn all(value: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        if paths.len() >= MOST {
            break;
        }
        match value {
            Value::Object(members) => open.extend(members.iter().map(|(name, inner)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{path}/{name}"), inner)
            })),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, inner)| (format!("{path}/{index}"), inner)));
            }
            _ => {}
        }
        if !path.is_empty() {
            paths.push(path);
        }
    }
    paths.sort_by_key(|path| path.matches('/').count());
    paths
}

/// Puts a value at a place that is there.
pub(super) fn set(value: &mut Value, path: &str, to: Value) {
    if let Some(at) = value.pointer_mut(path) {
        *at = to;
    }
}

/// Takes away what is at a place.
pub(super) fn remove(value: &mut Value, path: &str) {
    let Some((parent, name)) = path.rsplit_once('/') else {
        return;
    };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Ok(index) = name.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}
