//! Names that come near to one that is not known.

use universe_core::nearest::nearest;

#[test]
fn the_least_different_names_are_given() {
    let known = ["Earth", "earht", "mars", "earthling"];
    assert_eq!(nearest("earth", known), ["Earth"]);
    assert_eq!(nearest("erath", known), ["Earth"]);
    assert_eq!(nearest("mrs", known), ["mars"]);
    assert!(nearest("pluto", known).is_empty());
}

#[test]
fn long_names_are_not_compared() {
    let near = format!("earth{}", "_".repeat(75));
    assert_eq!(nearest("earth", [&*near]), [&*near]);
    let long = format!("{near}_");
    assert!(nearest("earth", [&*long]).is_empty());
    assert!(nearest(&"e".repeat(41), [&*"e".repeat(41)]).is_empty());
}
