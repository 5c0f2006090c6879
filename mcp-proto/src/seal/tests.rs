//! A sealed text opens only for the purpose that it was sealed for.

mod keys;
mod states;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEY: [u8; 32] = [7; 32];
const ARGUMENTS: [u8; 32] = [1; 32];

const BINDING: StateBinding<'static> =
    StateBinding { principal: Some("ada"), method: "tools/call", arguments: ARGUMENTS };

#[test]
fn no_character_may_be_changed() {
    let keys = Keys::new(KEY);
    // Three lengths, so that the last character has zero, two and four bits to spare.
    for plaintext in ["", "a", "ab"] {
        let text = keys.seal(&[b"x"], plaintext.as_bytes()).unwrap();
        for at in 0..text.len() {
            for other in (0..=127).filter(|other| *other != text.as_bytes()[at]) {
                let mut forged = text.clone().into_bytes();
                forged[at] = other;
                let forged = String::from_utf8(forged).unwrap();
                assert_eq!(keys.open(&[b"x"], &forged), None, "{text} {forged}");
            }
            assert_eq!(keys.open(&[b"x"], &text[..at]), None);
            assert_eq!(keys.open(&[b"x"], &text[at + 1..]), None);
        }
        for longer in ["A", "=", "==", " ", "\n", "AAAA"] {
            assert_eq!(keys.open(&[b"x"], &format!("{text}{longer}")), None);
            assert_eq!(keys.open(&[b"x"], &format!("{longer}{text}")), None);
        }
        assert_eq!(keys.open(&[b"x"], &text).unwrap().plaintext, plaintext.as_bytes());
    }
}

#[test]
fn a_text_is_for_its_purpose_part_by_part() {
    let keys = Keys::new(KEY);
    let text = keys.seal(&[b"ab", b"c"], b"secret").unwrap();
    assert!(keys.open(&[b"ab", b"c"], &text).is_some());
    let others: [&[&[u8]]; 7] = [
        &[],
        &[b"ab"],
        &[b"abc"],
        &[b"a", b"bc"],
        &[b"c", b"ab"],
        &[b"ab", b"c", b""],
        &[b"", b"ab", b"c"],
    ];
    for other in others {
        assert_eq!(keys.open(other, &text), None, "{other:?}");
    }
}

#[test]
fn texts_are_url_safe_never_the_same_and_show_nothing() {
    let keys = Keys::new(KEY);
    let (one, two) = (keys.seal(&[], &[b'z'; 60]).unwrap(), keys.seal(&[], &[b'z'; 60]).unwrap());
    assert_ne!(one, two);
    assert_ne!(keys.open(&[], &one).unwrap().nonce, keys.open(&[], &two).unwrap().nonce);
    assert!(one.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_'));
    let bytes = BASE64URL_NOPAD.decode(one.as_bytes()).unwrap();
    assert!(!bytes.windows(4).any(|window| window == b"zzzz"));
}

#[test]
fn lengths_are_bounded() {
    let keys = Keys::new(KEY);
    let longest = vec![b'a'; MAX_PLAINTEXT_BYTES];
    let text = keys.seal(&[], &longest).unwrap();
    assert_eq!(text.len(), MAX_TEXT_BYTES);
    assert_eq!(keys.open(&[], &text).unwrap().plaintext, longest);
    let longer = vec![b'a'; MAX_PLAINTEXT_BYTES + 1];
    assert_eq!(keys.seal(&[], &longer), Err(SealError::TooLong(longer.len())));
    let error = cursor(&keys, "tools/list", None, &"a".repeat(longer.len()));
    assert_eq!(error, Err(SealError::TooLong(longer.len())));
}

#[test]
fn a_longer_text_is_refused_unread() {
    // Sealed correctly, but by a process without the bound.
    let keys = Keys::new(KEY);
    let ring = keys.ring();
    let mut body = vec![0; MAX_PLAINTEXT_BYTES + 1];
    let nonce = [0; NONCE];
    let tag = ring
        .current()
        .cipher()
        .encrypt_inout_detached(&nonce.into(), &associated(&[]), body.as_mut_slice().into())
        .unwrap();
    let sealed = [&[VERSION][..], &ring.current().id(), &nonce, &body, &tag].concat();
    let text = BASE64URL_NOPAD.encode(&sealed);
    assert!(text.len() > MAX_TEXT_BYTES);
    assert_eq!(keys.open(&[], &text), None);
}

#[test]
fn a_cursor_is_good_for_its_list_and_caller_alone() {
    let keys = Keys::new(KEY);
    for principal in [None, Some(""), Some("ada")] {
        for after in ["", "echo", "ünï"] {
            let text = cursor(&keys, "tools/list", principal, after).unwrap();
            let open = |list, principal| open_cursor(&keys, list, principal, &text);
            assert_eq!(open("tools/list", principal).as_deref(), Some(after));
            assert_eq!(open("prompts/list", principal), None);
            for other in [None, Some(""), Some("ada"), Some("bob")] {
                assert_eq!(open("tools/list", other).is_some(), other == principal);
            }
        }
    }
    for forged in ["", "echo", "1", &BINDING.seal(&keys, "echo", 1000).unwrap()] {
        assert_eq!(open_cursor(&keys, "tools/list", None, forged), None, "{forged}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sealed_opens_as_it_was(
        plaintext in vec(any::<u8>(), 0..300),
        purpose in vec(vec(any::<u8>(), 0..8), 0..4),
        other in vec(vec(any::<u8>(), 0..8), 0..4),
    ) {
        let keys = Keys::new(KEY);
        let parts: Vec<&[u8]> = purpose.iter().map(Vec::as_slice).collect();
        let text = keys.seal(&parts, &plaintext).unwrap();
        prop_assert_eq!(keys.open(&parts, &text).map(|opened| opened.plaintext), Some(plaintext));
        let others: Vec<&[u8]> = other.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(keys.open(&others, &text).is_some(), other == purpose);
    }

    #[test]
    fn any_other_character_anywhere_is_refused(
        plaintext in vec(any::<u8>(), 0..300),
        at in any::<proptest::sample::Index>(),
        other in any::<char>(),
    ) {
        let keys = Keys::new(KEY);
        let text = keys.seal(&[b"x"], &plaintext).unwrap();
        let at = at.index(text.len());
        let forged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        prop_assume!(forged != text);
        prop_assert_eq!(keys.open(&[b"x"], &forged), None);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}", sealed in vec(any::<u8>(), 0..200)) {
        let keys = Keys::new(KEY);
        let mut headed = vec![VERSION];
        headed.extend_from_slice(&keys.ring().current().id());
        headed.extend_from_slice(&sealed);
        for text in [text, BASE64URL_NOPAD.encode(&sealed), BASE64URL_NOPAD.encode(&headed)] {
            prop_assert_eq!(keys.open(&[], &text), None);
        }
    }
}
