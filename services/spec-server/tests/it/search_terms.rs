//! How text is taken apart, folded and stemmed.

use proptest::prelude::*;
use spec_server::search::{TERM_CHARS, is_grammar, stem, tokens};

/// The folded words of a text, wholes of identifiers in brackets.
fn words(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    tokens.map(|token| if token.whole { format!("[{}]", token.word) } else { token.word }).collect()
}

#[test]
fn identifiers_are_cut_at_case_digits_and_signs_and_kept_whole() {
    for (text, expected) in [
        ("Plain words, two.", &["plain", "words", "two"][..]),
        ("retryAfter", &["retry", "after", "[retryafter]"]),
        ("retry_after", &["retry", "after", "[retryafter]"]),
        ("Retry-After:", &["retry", "after", "[retryafter]"]),
        ("HTTPServer2", &["http", "server", "2", "[httpserver2]"]),
        ("URLs and PDFs", &["urls", "and", "pdfs"]),
        ("a::b.c", &["a", "b", "c", "[abc]"]),
        ("/api/v1/users", &["api", "v", "1", "users", "[apiv1users]"]),
        ("the end.", &["the", "end"]),
        ("owner's don’t 'quoted'", &["owners", "dont", "quoted"]),
        ("STRASSE Straße ΣΊΣΥΦΟΣ σίσυφος", &["strasse", "strasse", "σισυφοσ", "σισυφοσ"]),
        ("Zürich Zu\u{308}rich ﬁre ２", &["zurich", "zurich", "fire", "2"]),
        ("検索する API", &["検索", "索す", "する", "api"]),
        ("字", &["字"]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn the_forms_of_a_word_have_one_stem() {
    for forms in [
        &["cancel", "cancels", "cancelled", "cancelling", "canceled"][..],
        &["authorise", "authorised", "authorize", "authorizing", "authorization", "authorisation"],
        &["notify", "notifies", "notified"],
        &["relational", "relate", "relating"],
        &["hop", "hops", "hopped", "hopping"],
        &["agree", "agreed", "agrees"],
        &["refund", "refunds", "refunded", "refunding"],
        &["happy", "happiness"],
        &["decide", "decides", "decided", "deciding"],
    ] {
        let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
        assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
    }
    // Examples of Porter's first paper, one or more for each step.
    for (word, expected) in [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("caress", "caress"),
        ("feed", "feed"),
        ("plastered", "plaster"),
        ("bled", "bled"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("falling", "fall"),
        ("filing", "file"),
        ("sky", "sky"),
        ("conditional", "condit"),
        ("digitizer", "digit"),
        ("operator", "oper"),
        ("hopefulness", "hope"),
        ("sensibiliti", "sensibl"),
        ("triplicate", "triplic"),
        ("electrical", "electr"),
        ("allowance", "allow"),
        ("adjustment", "adjust"),
        ("adoption", "adopt"),
        ("communism", "communism"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("cease", "ceas"),
        ("controll", "control"),
        ("roll", "roll"),
    ] {
        assert_eq!(stem(word), expected, "{word}");
    }
}

#[test]
fn what_is_no_english_word_is_left_as_it_is() {
    for word in ["", "is", "zürich", "検索", "abc1", "42", "Upper"] {
        assert_eq!(stem(word), word);
    }
}

#[test]
fn every_word_of_grammar_is_known_as_one() {
    for word in ["a", "about", "does", "how", "the", "your"] {
        assert!(is_grammar(word), "{word}");
    }
    assert!(!is_grammar("refund"));
}

proptest! {
    #[test]
    fn tokens_are_parts_of_the_text_in_their_order(text in "\\PC*") {
        let mut last = 0;
        for token in tokens(&text) {
            let part = text.get(token.range.clone());
            prop_assert!(part.is_some_and(|part| !part.is_empty()));
            prop_assert!(!token.word.is_empty() && token.word.chars().count() <= TERM_CHARS);
            if !token.whole {
                prop_assert!(token.range.start >= last);
                last = token.range.start;
            }
        }
    }

    #[test]
    fn folding_again_changes_nothing(text in "[a-zA-ZäÖßéΣς0-9ﬁ ]{0,40}") {
        let once: Vec<String> = tokens(&text).filter(|token| !token.whole).map(|token| token.word).collect();
        for word in once {
            let again: Vec<String> = tokens(&word).filter(|token| !token.whole).map(|token| token.word).collect();
            prop_assert_eq!(again.concat(), word);
        }
    }

    #[test]
    fn a_stem_is_neither_empty_nor_longer_than_its_word(word in "[a-z]{1,20}((is)?(e|ed|ing|ation|s)|ness|fully|ement|y)?") {
        let stem = stem(&word);
        prop_assert!(!stem.is_empty());
        prop_assert!(stem.len() <= word.len(), "{}", stem);
    }
}
