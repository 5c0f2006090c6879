//! Names of what is generated.

use super::Random;

const BEGIN: [&str; 20] = [
    "Al", "Be", "Ca", "Dor", "El", "Fa", "Gal", "Hel", "Ir", "Ka", "Lu", "Mir", "Nor", "Or", "Pel",
    "Ra", "Sel", "Ta", "Vel", "Zan",
];
const MIDDLE: [&str; 12] =
    ["a", "e", "i", "o", "u", "ara", "eri", "ilo", "ona", "umi", "ath", "eth"];
const END: [&str; 14] = [
    "dan", "dra", "gon", "kas", "lis", "mir", "nis", "phe", "ra", "ris", "ros", "tis", "via", "xa",
];
const ROMAN: [&str; 20] = [
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV",
    "XVI", "XVII", "XVIII", "XIX", "XX",
];

/// A name of three syllables. There are 3,360; so many systems may share one, but ids differ.
pub(super) fn star(random: &mut Random) -> String {
    let mut syllable = |of: &[&'static str]| random.pick(of).copied().unwrap_or_default();
    [syllable(&BEGIN), syllable(&MIDDLE), syllable(&END)].concat()
}

/// The name of the `n`th of its kind, from 1, in Roman numerals while they are short.
pub(super) fn numbered(of: &str, n: usize) -> String {
    match n.checked_sub(1).and_then(|at| ROMAN.get(at)) {
        Some(roman) => format!("{of} {roman}"),
        None => format!("{of} {n}"),
    }
}

/// The `n`th companion of a star, from 1: B, C and so on.
pub(super) fn companion(of: &str, n: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(n.min(25)).unwrap_or_default());
    format!("{of} {letter}")
}

/// The `n`th moon of something, from 1: a, b and so on to z, then by number.
pub(super) fn moon(of: &str, n: usize) -> String {
    match u8::try_from(n) {
        Ok(n @ 1..=26) => format!("{of} {}", char::from(b'a' + n - 1)),
        _ => format!("{of} {n}"),
    }
}
