//! What several tests need: the golden cases, comparing JSON, and judging a universe from outside.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use universe_core::{Command, Refusal, State};

/// One golden case: a recorded start, commands, and what became of it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) state: Value,
    pub(crate) commands: Vec<Value>,
    /// The recorded universe afterwards; `None` where the recorded program crashed.
    pub(crate) after: Option<Value>,
    /// The recorded events, command by command.
    pub(crate) events: Vec<Value>,
}

pub(crate) fn cases(class: &str) -> Vec<Case> {
    let lines = include_str!("../vectors/reducer.jsonl").lines();
    let cases = lines.map(|line| {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let single = case.get("command").is_some();
        let (commands, after, events) = if single {
            (vec![case["command"].take()], case["nextState"].take(), vec![case["events"].take()])
        } else {
            let Value::Array(commands) = case["commands"].take() else { panic!("{case}") };
            let Value::Array(events) = case["allEvents"].take() else { panic!("{case}") };
            (commands, case["finalState"].take(), events)
        };
        Case {
            name: case["name"].as_str().unwrap().to_owned(),
            class: case["class"].as_str().unwrap().to_owned(),
            state: case["state"].take(),
            commands,
            after: Some(after).filter(|after| !after.is_null()),
            events,
        }
    });
    cases.filter(|case| case.class == class).collect()
}

/// Applies a command as a server would: a refusal leaves the universe as it is.
pub(crate) fn step(state: &mut State, command: &Command) -> Result<Value, Refusal> {
    match state.apply(command) {
        Ok(applied) => {
            *state = applied.state;
            Ok(serde_json::to_value(applied.events).unwrap())
        }
        Err(refusal) => Err(refusal),
    }
}

/// Equal as JSON: numbers by their value as IEEE doubles, objects unordered, absent is not null.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

#[track_caller]
pub(crate) fn assert_same(name: &str, ours: &Value, recorded: &Value) {
    assert!(same(ours, recorded), "{name}\n    ours: {ours}\nrecorded: {recorded}");
}

/// What is wrong with a universe, judged from its JSON alone and by stricter rules than those of
/// an import: rogue planets are listed as roots, a system is in at most one group and exists.
pub(crate) fn faults(state: &Value) -> BTreeSet<String> {
    let mut faults = BTreeSet::new();
    let stars = state["stars"].as_object().unwrap();
    let groups = state["groups"].as_object().unwrap();

    // For both hierarchies: who lists whom.
    let mut star_lists = Vec::new();
    let mut group_lists = Vec::new();
    let mut system_lists = BTreeMap::<&str, usize>::new();
    for (id, star) in stars {
        for child in star["children"].as_array().unwrap() {
            star_lists.push((Some(id.as_str()), child.as_str().unwrap()));
        }
    }
    for (id, group) in groups {
        for child in group["children"].as_array().unwrap() {
            let child_id = child["id"].as_str().unwrap();
            match child["type"].as_str().unwrap() {
                "group" => group_lists.push((Some(id.as_str()), child_id)),
                "system" => *system_lists.entry(child_id).or_default() += 1,
                other => panic!("child type {other}"),
            }
        }
    }
    for root in state["rootIds"].as_array().unwrap() {
        star_lists.push((None, root.as_str().unwrap()));
    }
    for root in state["rootGroupIds"].as_array().unwrap() {
        group_lists.push((None, root.as_str().unwrap()));
    }
    for (system, lists) in system_lists {
        if lists > 1 {
            faults.insert(format!("system {system:?} is in {lists} groups"));
        }
        if !stars.contains_key(system) {
            faults.insert(format!("system {system:?} does not exist"));
        }
    }

    for (entities, lists, parent_name) in
        [(stars, star_lists, "parentId"), (groups, group_lists, "parentGroupId")]
    {
        let mut listed = BTreeMap::<&str, Vec<Option<&str>>>::new();
        for (holder, child) in lists {
            listed.entry(child).or_default().push(holder);
            if !entities.contains_key(child) {
                faults.insert(format!("{holder:?} lists {child:?}, which does not exist"));
            }
        }
        for (key, entity) in entities {
            if entity["id"].as_str() != Some(key) {
                faults.insert(format!("{key:?} has the id {}", entity["id"]));
            }
            let parent = entity[parent_name].as_str();
            if listed.get(key.as_str()) != Some(&vec![parent]) {
                let lists = listed.get(key.as_str());
                faults.insert(format!("{key:?} with parent {parent:?} is listed by {lists:?}"));
            }
        }
        // Whatever is not above itself comes to an end after at most all entities.
        let mut ends = BTreeSet::new();
        for key in entities.keys() {
            let mut path = vec![key.as_str()];
            let mut next = entities[key][parent_name].as_str();
            while let Some(parent) = next.filter(|parent| !ends.contains(*parent)) {
                if path.contains(&parent) {
                    faults.insert(format!("{parent:?} is on a cycle"));
                    break;
                }
                path.push(parent);
                next = entities.get(parent).and_then(|entity| entity[parent_name].as_str());
            }
            ends.extend(path);
        }
    }
    for section in ["belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"] {
        for (key, record) in state[section].as_object().unwrap() {
            if record["id"].as_str() != Some(key) {
                faults.insert(format!("{section} {key:?} has the id {}", record["id"]));
            }
        }
    }
    if !state["time"].as_f64().is_some_and(f64::is_finite) {
        faults.insert("the time is not finite".to_owned());
    }
    faults
}
