//! How large a universe is, known without writing it.

use serde_json::json;
use universe_core::State;

#[test]
fn a_universe_is_within_about_its_length_as_json() {
    for name in ["a", &"n".repeat(100_000)] {
        let body = json!({
            "id": "a", "name": name, "mass": 1, "radius": 1, "color": "#FFFFFF", "children": [], "parentId": null,
            "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0, "bodyType": "star",
        });
        let state = json!({ "stars": { "a": body }, "rootIds": ["a"], "time": 0 });
        let state = State::from_value(state).unwrap();
        let length = state.to_value().to_string().len();
        assert!(state.is_within(2 * length), "{length}");
        assert!(!state.is_within(name.len()), "{length}");
    }
    assert!(State::default().is_within(0));
}
