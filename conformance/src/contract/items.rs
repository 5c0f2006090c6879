//! What changed about one tool, prompt or resource.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::change::{Found, Impact};
use super::schema::{Direction, compare as compare_schemas};
use super::values::{turned, varies};
use super::{ItemKind, annotations};

/// Adds the changes of an item.
pub(super) fn compare(kind: ItemKind, old: &Value, new: &Value, found: &mut Found) {
    match kind {
        ItemKind::Tool => tool(old, new, found),
        ItemKind::Prompt => {
            let [before, after] = [old, new].map(arguments);
            compare_schemas(Direction::Input, &before, &after, found);
        }
        ItemKind::Resource | ItemKind::Template => {
            let (before, after) = (old.get("mimeType"), new.get("mimeType"));
            let is_other = before.is_some() && after.is_some();
            let impact = if is_other { Impact::Breaking } else { Impact::Compatible };
            let turned = turned("its mimeType", before, after);
            found.changes.extend(turned.map(|what| (what, impact)));
        }
    }
    // Of a resource, the name is a text.
    for part in ["title", "description", "name", "_meta"] {
        found.text(part.to_owned(), old.get(part), new.get(part));
    }
    if found.len() == 0 {
        let members = old.as_object().into_iter().chain(new.as_object()).flat_map(Map::keys);
        let differs = |name: &&String| {
            let (before, after) = (old.get(*name), new.get(*name));
            before != after && ![before, after].into_iter().flatten().any(varies)
        };
        let names: BTreeSet<_> = members.filter(differs).map(|it| format!("`{it}`")).collect();
        if !names.is_empty() {
            let names = Vec::from_iter(names).join(", ");
            let what = format!("is written differently in {names}, without effect on callers");
            found.push(what, Impact::Text);
        }
    }
}

fn tool(old: &Value, new: &Value, found: &mut Found) {
    if let (Some(before), Some(after)) = (old.get("inputSchema"), new.get("inputSchema")) {
        compare_schemas(Direction::Input, before, after, found);
    }
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(before), Some(after)) => compare_schemas(Direction::Output, before, after, found),
        (Some(_), None) => found.push("its outputSchema was dropped", Impact::Breaking),
        (None, Some(_)) => found.push("an outputSchema was added", Impact::Compatible),
        (None, None) => {}
    }
    annotations::compare(old, new, found);
    let [before, after] = [old, new].map(|tool| tool.pointer("/annotations/title"));
    found.text("annotated title".to_owned(), before, after);
}

/// The arguments of a prompt, as the schema of a tool's arguments has them.
fn arguments(prompt: &Value) -> Value {
    if let Some(arguments) = prompt.get("arguments").filter(|it| varies(it)) {
        return arguments.clone();
    }
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let named = arguments.filter_map(|it| Some((it.get("name")?.as_str()?, it)));
    let named: BTreeMap<_, _> = named.collect();
    let required = named.iter().filter(|(_, it)| it.get("required") == Some(&Value::Bool(true)));
    let properties = named.iter().map(|(name, it)| {
        let texts = ["title", "description"].into_iter();
        let texts = texts.filter_map(|part| Some((part.to_owned(), it.get(part)?.clone())));
        ((*name).to_owned(), Value::Object(texts.collect()))
    });
    json!({
        "required": required.map(|(name, _)| *name).collect::<Vec<_>>(),
        "properties": Map::from_iter(properties),
    })
}
