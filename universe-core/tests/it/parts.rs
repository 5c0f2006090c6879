//! A universe as text in parts: the same text as whole, after any commands.

use serde_json::{Value, json};
use universe_core::{Command, State, StateText};

use crate::support::cases;

fn joined(text: &StateText) -> String {
    let parts: Vec<_> = text.parts().map(AsRef::as_ref).collect();
    let whole = String::from_utf8(parts.concat()).unwrap();
    assert_eq!(whole.len(), text.len());
    whole
}

fn whole(state: &State) -> String {
    String::from_utf8(state.to_json().unwrap()).unwrap()
}

fn add(id: &str) -> Value {
    json!({ "type": "addStar", "id": id, "payload": {
        "name": "x".repeat(8_000), "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": null,
        "orbitalDistance": 0, "orbitalSpeed": 0, "bodyType": "star",
    } })
}

fn remove(id: &str) -> Value {
    json!({ "type": "removeStar", "id": id })
}

fn apply(state: &State, command: Value) -> State {
    let command = Command::from_value(command).unwrap();
    state.apply(&command).unwrap().state
}

#[test]
fn every_command_leaves_the_text_of_the_state() {
    for case in cases("conform") {
        let mut state = State::from_value(case.state.clone()).unwrap();
        let mut text = StateText::new(&state).unwrap();
        assert_eq!(joined(&text), whole(&state), "{}", case.name);
        for command in &case.commands {
            let command = Command::from_value(command.clone()).unwrap();
            let Ok(applied) = state.apply(&command) else {
                continue;
            };
            state = applied.state;
            text = text.updated(&state).unwrap();
            assert!(text.is_of(&state), "{}", case.name);
            assert_eq!(joined(&text), whole(&state), "{}", case.name);
        }
    }
}

#[test]
fn parts_are_shared_and_those_with_a_change_written_again() {
    let mut state = State::default();
    for number in 0..400 {
        state = apply(&state, add(&format!("body-{number:03}")));
    }
    let mut text = StateText::new(&state).unwrap();
    let count = text.parts().count();
    assert!(count > 7, "{count} parts");
    let mut change = |command: Value, written: usize| {
        let next = apply(&state, command.clone());
        assert!(!text.is_of(&next), "{command:.100}");
        let updated = text.updated(&next).unwrap();
        assert_eq!(joined(&updated), whole(&next), "{command:.100}");
        let is_shared = |part: &&universe_core::TextPart| {
            let begins =
                |other: &universe_core::TextPart| other.as_ref().as_ptr() == part.as_ref().as_ptr();
            text.parts().any(begins)
        };
        let own = updated.parts().filter(|part| !is_shared(part)).count();
        assert!(own <= written, "{own} parts were written by {command:.100}");
        (state, text) = (next, updated);
    };
    let rename = |number: usize| json!({ "type": "updateStar", "id": format!("body-{number:03}"), "payload": { "name": "n" } });
    // The time is a part as well, and so are the lists of roots with what else is small.
    change(json!({ "type": "tick", "dt": 1 }), 1);
    for number in [0, 1, 200, 399] {
        change(rename(number), 2);
    }
    for id in ["a", "body-200-b", "z"] {
        change(add(id), 3);
    }
    // Bodies are added until a part is more than one.
    for number in 0..80 {
        change(add(&format!("body-200-{number:03}")), 4);
    }
    // All of a part in the middle goes, and then all of the first, after which everything is written.
    for number in 150..220 {
        change(remove(&format!("body-{number:03}")), 4);
    }
    change(remove("a"), 4);
    for number in 0..70 {
        change(remove(&format!("body-{number:03}")), usize::MAX);
    }
}

#[test]
fn the_text_of_the_empty_universe_has_no_bodies() {
    let empty = State::default();
    let text = StateText::new(&empty).unwrap();
    assert_eq!(joined(&text), whole(&empty));
    let one = apply(&empty, add("a"));
    let text = text.updated(&one).unwrap();
    assert_eq!(joined(&text), whole(&one));
    let text = text.updated(&empty).unwrap();
    assert_eq!(joined(&text), whole(&empty));
}
