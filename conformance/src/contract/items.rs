//! What changed about one tool, prompt or resource.

use std::collections::BTreeMap;

use serde_json::Value;

use super::change::{Change, Found, Impact, TextChange, verb};
use super::schema::{Direction, SchemaDiff};
use super::values::{shown, varies};
use super::{ItemKind, annotations};

/// The changes of an item.
pub(super) fn compare(kind: ItemKind, name: &str, old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Found::default();
    match kind {
        ItemKind::Tool => tool(old, new, &mut found),
        ItemKind::Prompt => prompt(old, new, &mut found),
        ItemKind::Resource | ItemKind::Template => resource(old, new, &mut found),
    }
    for part in ["title", "description"] {
        found.text(part.to_owned(), old.get(part), new.get(part));
    }
    if found.changes.is_empty() && found.texts.is_empty() && old != new && !varies(old) {
        let differs = |name: &&String| old.get(*name) != new.get(*name);
        let members = old.as_object().into_iter().chain(new.as_object()).flat_map(|it| it.keys());
        let mut names: Vec<_> = members.filter(differs).map(|it| format!("`{it}`")).collect();
        names.dedup();
        let what =
            format!("is written differently in {}, without effect on callers", names.join(", "));
        found.changes.push((what, Impact::Text));
    }
    let change = |what: String, impact, texts| Change {
        kind: kind.word(),
        name: name.to_owned(),
        what,
        impact,
        texts,
    };
    let texts = found.texts;
    let changes = found.changes.into_iter();
    let mut changes: Vec<_> = changes.map(|(what, it)| change(what, it, Vec::new())).collect();
    if !texts.is_empty() {
        changes.push(change(in_words(&texts), Impact::Text, texts));
    }
    changes
}

/// Such as `title added, descriptions of 3 arguments changed`.
fn in_words(texts: &[TextChange]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for text in texts {
        let verb = verb(text.old.as_ref(), text.new.as_ref());
        let (part, of) = text.part.split_once(" of ").unwrap_or((&text.part, ""));
        groups.entry((verb, part)).or_default().push(of);
    }
    let words = groups.into_iter().map(|((verb, part), of)| {
        let own = of.iter().any(|it| it.is_empty());
        let of: Vec<_> = of.into_iter().filter(|it| !it.is_empty()).collect();
        let own = own.then(|| part.to_owned());
        let inner = match of.as_slice() {
            [] => None,
            [only] => Some(format!("{part} of {only}")),
            several => Some(format!("{part}s of {} members", several.len())),
        };
        let parts: Vec<_> = own.into_iter().chain(inner).collect();
        format!("{} {verb}", parts.join(" and "))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn tool(old: &Value, new: &Value, found: &mut Found) {
    if let (Some(before), Some(after)) = (old.get("inputSchema"), new.get("inputSchema")) {
        SchemaDiff::new(Direction::Input, before, after).compare(found);
    }
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(before), Some(after)) => {
            SchemaDiff::new(Direction::Output, before, after).compare(found);
        }
        (Some(_), None) => found.push("its outputSchema was dropped", Impact::Breaking),
        (None, Some(_)) => found.push("an outputSchema was added", Impact::Compatible),
        (None, None) => {}
    }
    found.changes.extend(annotations::compare(old, new));
    let title = |tool: &Value| tool.pointer("/annotations/title").cloned();
    found.text("annotated title".to_owned(), title(old).as_ref(), title(new).as_ref());
    meta(old, new, found);
}

fn prompt(old: &Value, new: &Value, found: &mut Found) {
    let arguments = |prompt: &Value| -> BTreeMap<String, Value> {
        let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let named = |it: &Value| Some((it.get("name")?.as_str()?.to_owned(), it.clone()));
        arguments.filter_map(named).collect()
    };
    let needed = |argument: &Value| argument.get("required") == Some(&Value::Bool(true));
    let (before, after) = (arguments(old), arguments(new));
    for (name, argument) in &before {
        let Some(now) = after.get(name) else {
            found.push(format!("argument `{name}` was removed"), Impact::Breaking);
            continue;
        };
        match (needed(argument), needed(now)) {
            (false, true) => {
                found.push(format!("argument `{name}` is now required"), Impact::Breaking);
            }
            (true, false) => {
                found.push(format!("argument `{name}` is now optional"), Impact::Compatible);
            }
            _ => {}
        }
        for part in ["title", "description"] {
            found.text(format!("{part} of `{name}`"), argument.get(part), now.get(part));
        }
    }
    for (name, argument) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        if needed(argument) {
            found.push(format!("required argument `{name}` was added"), Impact::Breaking);
        } else {
            found.push(format!("optional argument `{name}` was added"), Impact::Compatible);
        }
    }
    meta(old, new, found);
}

fn resource(old: &Value, new: &Value, found: &mut Found) {
    let (before, after) = (old.get("mimeType"), new.get("mimeType"));
    match (before, after) {
        (Some(before), Some(after)) if before != after => {
            let what = format!("its mimeType is {} instead of {}", shown(after), shown(before));
            found.push(what, Impact::Breaking);
        }
        (Some(before), None) => {
            found.push(format!("its mimeType {} was dropped", shown(before)), Impact::Compatible);
        }
        (None, Some(after)) => {
            found.push(format!("its mimeType is now given: {}", shown(after)), Impact::Compatible);
        }
        _ => {}
    }
    found.text("name".to_owned(), old.get("name"), new.get("name"));
    meta(old, new, found);
}

fn meta(old: &Value, new: &Value, found: &mut Found) {
    found.text("_meta".to_owned(), old.get("_meta"), new.get("_meta"));
}
