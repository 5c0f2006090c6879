//! A ring of keys opens what its keys have sealed, and seals with the current one.

use super::*;

#[test]
fn what_a_replaced_key_sealed_opens_until_the_key_falls_out_of_the_ring() {
    let keys = Keys::new(KEY);
    let clone = keys.clone();
    let text = keys.seal(&[], b"old").unwrap();
    for next in 1..Keys::MAX as u8 {
        keys.rotate([100 + next; 32]);
        assert_eq!(clone.open(&[], &text).unwrap().plaintext, b"old");
    }
    // Only the current key seals.
    let new = clone.seal(&[], b"new").unwrap();
    assert!(Keys::new([100 + Keys::MAX as u8 - 1; 32]).open(&[], &new).is_some());
    assert_eq!(Keys::new(KEY).open(&[], &new), None);

    keys.rotate([200; 32]);
    assert_eq!(clone.open(&[], &text), None);
    assert!(clone.open(&[], &new).is_some());
}

#[test]
fn a_key_that_is_made_current_again_pushes_none_out() {
    let keys = Keys::new(KEY);
    let text = keys.seal(&[], b"").unwrap();
    for _ in 0..10 {
        keys.rotate([1; 32]);
        keys.rotate([2; 32]);
        keys.rotate([2; 32]);
    }
    assert!(keys.open(&[], &text).is_some());
    keys.rotate(KEY);
    assert!(Keys::new(KEY).open(&[], &keys.seal(&[], b"").unwrap()).is_some());
}

#[test]
fn previous_keys_open_and_do_not_seal() {
    let old = Keys::new([1; 32]);
    let text = old.seal(&[], b"old").unwrap();
    let keys = Keys::new(KEY).with_previous([1; 32]).with_previous(KEY);
    assert!(keys.open(&[], &text).is_some());
    assert_eq!(old.open(&[], &keys.seal(&[], b"").unwrap()), None);
    // The fourth previous key replaces the third.
    let full = keys.with_previous([2; 32]).with_previous([3; 32]).with_previous([4; 32]);
    for (key, opens) in [(1, true), (2, true), (3, false), (4, true)] {
        let text = Keys::new([key; 32]).seal(&[], b"").unwrap();
        assert_eq!(full.open(&[], &text).is_some(), opens, "{key}");
    }
}

#[test]
fn random_keys_differ_and_no_key_is_shown() {
    let (one, two) = (Keys::random(), Keys::random());
    assert_eq!(two.open(&[], &one.seal(&[], b"").unwrap()), None);
    let shown = format!("{:?} {:#?}", Keys::new(KEY), Keys::new(KEY));
    let id = data_encoding::HEXLOWER.encode(&Keys::new(KEY).ring().current().id());
    assert!(shown.contains(&id), "{shown}");
    assert!(!shown.contains("7, 7") && !shown.contains("0707"), "{shown}");
}
