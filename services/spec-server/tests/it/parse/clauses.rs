//! GIVEN, WHEN and THEN in every form that is found in the wild.

use super::scenario;

/// Given, when and then of these lines.
fn read(lines: &str) -> [Vec<String>; 3] {
    let scenario = scenario(lines);
    [scenario.given, scenario.when, scenario.then]
}

/// The same, joined by `|` and `/`.
fn joined(lines: &str) -> String {
    read(lines).map(|clauses| clauses.join("|")).join(" / ")
}

#[test]
fn a_keyword_is_read_however_it_is_marked() {
    for lines in [
        "- **GIVEN** a\n- **WHEN** b\n- **THEN** c\n",
        "* **Given** a\n* **When** b\n* **Then** c\n",
        "+ **given** a\n+ **when** b\n+ **then** c\n",
        "1. **GIVEN** a\n2. **WHEN** b\n3) **THEN** c\n",
        "**Given** a\n**When** b\n**Then** c\n",
        "**GIVEN:** a\n**WHEN**: b\n**THEN :** c\n".replace(" :**", ":**").as_str(),
        "__GIVEN__ a\n*WHEN* b\n_THEN_: c\n",
        "- GIVEN a\n- WHEN b\n- THEN c\n",
        "- given a\n- when b\n- then c\n",
        "GIVEN a\nWHEN b\nTHEN c\n",
        "Given a\nWhen b\nThen c\n",
        "given: a\nwhen: b\nthen: c\n",
        "\t- **GIVEN** a\n\n\t- **WHEN** b\n\n\t- **THEN** c\n",
        "  Given a\n    When b\n  Then c\n",
        "> quoted\n\n- **GIVEN** a\n- **WHEN** b\n- **THEN** c\n",
    ] {
        assert_eq!(joined(lines), "a / b / c", "{lines}");
    }
}

#[test]
fn an_and_continues_what_stands_before_it() {
    assert_eq!(
        joined(
            "- **GIVEN** a\n- **AND** b\n- **WHEN** c\n- **AND** d\n- **THEN** e\n- **AND** f\n"
        ),
        "a|b / c|d / e|f"
    );
    assert_eq!(joined("- **AND** lost to nobody\n- **WHEN** a\n"), " / a / ");
}

#[test]
fn but_and_or_say_something_and_stay() {
    assert_eq!(
        joined("- **WHEN** a\n- **OR** b\n- **THEN** c\n- **BUT** not d\n- but e\n"),
        " / a|OR b / c|BUT not d|BUT e"
    );
}

#[test]
fn a_second_when_overwrites_nothing() {
    assert_eq!(
        joined("- **WHEN** a\n- **WHEN** b\n- **THEN** c\n- **WHEN** d\n- **THEN** e\n"),
        " / a|b|d / c|e"
    );
}

#[test]
fn emphasis_may_go_on_behind_the_keyword() {
    assert_eq!(
        joined("- **WHEN a user** logs in\n- **AND IF** `x` is there\n- **THEN it works**\n"),
        " / a user logs in|IF `x` is there / it works"
    );
}

#[test]
fn wrapped_lines_belong_to_their_clause() {
    assert_eq!(
        joined(
            "- **WHEN** the user\n  and when nobody looks\nlogs in\n- **THEN** it is\n\n  so, or\n  Then some\n"
        ),
        " / the user and when nobody looks logs in / it is so, or Then some"
    );
    assert_eq!(joined("- **WHEN**\n  the user\n- **THEN**\n"), " / the user / ");
}

#[test]
fn lists_below_a_clause_belong_to_it_and_beside_it_continue_it() {
    assert_eq!(
        joined("- **THEN** it tells\n  - a name\n  - and a line\n  - **AND** more\n- beside\n"),
        " /  / it tells - a name - and a line|more|beside"
    );
}

#[test]
fn words_that_only_begin_alike_are_words() {
    assert_eq!(
        joined("- **WHEN** a\n- android b\n- whenever c\n- **ORDER** d\n- and/or e\n"),
        " / a|android b|whenever c|**ORDER** d|and/or e / "
    );
}

#[test]
fn a_paragraph_of_its_own_ends_a_clause() {
    assert_eq!(joined("- **WHEN** a\n- **THEN** b\n\nA note about it.\nAnd more.\n"), " / a / b");
}

#[test]
fn code_is_left_out_unless_there_is_nothing_else() {
    assert_eq!(joined("- **WHEN** a\n```\n- **THEN** code\n```\n- **THEN** b\n"), " / a / b");
    assert_eq!(joined("```gherkin\nGiven a\nWhen b\n  And c\nThen d\n```\n"), "a / b|c / d");
}

#[test]
fn a_keyword_without_words_is_a_clause_without_words() {
    assert_eq!(
        read("- **WHEN**\n- **THEN** a\n"),
        [vec![], vec![String::new()], vec!["a".to_owned()]]
    );
}
