//! The golden cases recorded from the original program: well-formed ones match exactly, malformed
//! ones are refused.

use serde_json::{Value, json};
use universe_core::{Command, State};

use crate::support::{Case, assert_same, cases, faults, step};

/// Runs a case and returns what became of it.
fn run(case: &Case) -> (State, Vec<Value>) {
    let mut state = State::from_value(case.state.clone())
        .unwrap_or_else(|findings| panic!("{}: {findings}", case.name));
    let mut events = Vec::new();
    for command in &case.commands {
        let command =
            Command::from_value(command.clone()).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        events.push(match step(&mut state, &command) {
            Ok(events) => events,
            Err(refusal) => serde_json::to_value(refusal.events).unwrap(),
        });
        state.check().unwrap_or_else(|findings| panic!("{}: {findings}", case.name));
    }
    (state, events)
}

#[test]
fn conforming_cases_match_exactly() {
    let cases = cases("conform");
    assert_eq!(cases.len(), 223);
    for case in &cases {
        let (state, events) = run(case);
        assert_same(&case.name, &state.to_value(), case.after.as_ref().unwrap());
        assert_same(&case.name, &Value::Array(events), &Value::Array(case.events.clone()));
        assert_eq!(faults(&state.to_value()), [].into(), "{}", case.name);
    }
}

#[test]
fn refusals_are_the_events_without_effect() {
    // Whatever the recorded program answered with an unchanged state and an event of failure must
    // be a refusal here, and nothing else may be.
    let failures = ["NotFound", "Failed", "AlreadyInGroup", "NotInGroup"];
    for case in cases("conform") {
        let mut state = State::from_value(case.state.clone()).unwrap();
        for (command, recorded) in case.commands.iter().zip(&case.events) {
            let command = Command::from_value(command.clone()).unwrap();
            let name = recorded[0]["type"].as_str().unwrap_or_default();
            let failed = failures.iter().any(|failure| name.ends_with(failure));
            let before = state.to_value();
            match step(&mut state, &command) {
                Ok(_) => assert!(!failed, "{}: {recorded}", case.name),
                Err(refusal) => {
                    assert!(failed, "{}: {refusal}", case.name);
                    assert_eq!(state.to_value(), before, "{}", case.name);
                    assert!(!refusal.message().is_empty());
                    let code = refusal.code();
                    assert!(code.chars().all(|c| c.is_ascii_uppercase() || c == '_'), "{code}");
                }
            }
        }
    }
}

#[test]
fn malformed_cases_are_refused() {
    let cases = cases("malformed");
    assert_eq!(cases.len(), 48);
    for case in &cases {
        let refused = match State::from_value(case.state.clone()) {
            // The start itself is malformed: it never becomes a universe.
            Err(findings) => !findings.is_empty(),
            Ok(_) => match Command::from_value(case.commands[0].clone()) {
                Err(error) => !error.findings().is_empty(),
                Ok(_) => false,
            },
        };
        // Without dt, time advances by one second.
        let accepted = case.name == "tick/missingDt";
        assert_eq!(refused, !accepted, "{}", case.name);
    }
}

#[test]
fn tick_without_dt_is_one_second() {
    let state = State::from_partial(json!({ "time": 2.5 })).unwrap();
    let tick = Command::from_value(json!({ "type": "tick" })).unwrap();
    assert_eq!(state.apply(&tick).unwrap().state.time(), 3.5);
}

#[test]
fn commands_serialise_as_they_were_given() {
    let all = ["conform", "quirk", "malformed"].map(cases);
    let mut read = 0;
    for case in all.iter().flatten() {
        for given in &case.commands {
            let Ok(command) = Command::from_value(given.clone()) else {
                continue;
            };
            let written = serde_json::to_string(&command).unwrap();
            assert_eq!(&serde_json::from_str::<Value>(&written).unwrap(), given, "{}", case.name);
            let again = Command::from_value(serde_json::to_value(&command).unwrap()).unwrap();
            assert_eq!(again, command, "{}", case.name);
            read += 1;
        }
    }
    assert!(read > 400, "only {read} commands were read");
}

#[test]
fn universes_survive_a_round_trip() {
    for case in cases("conform") {
        let (state, _) = run(&case);
        let text = serde_json::to_string(&state).unwrap();
        let again = State::from_value(serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again, state, "{}", case.name);
        assert_eq!(serde_json::to_string(&again).unwrap(), text, "{}", case.name);
    }
}
