//! Parts of texts and slices by offsets that the program computed itself, so that they are known to fit.
//!
//! `text[a..b]` panics where a mistake of ours made an offset that does not fit, and a server must not end for that.
//! `text.get(a..b).unwrap_or_default()` sends an empty success instead, and nobody learns of it. These functions panic
//! in debug builds, where tests find the mistake; in release builds they log an error with the place in the code, and
//! return the empty part.

use std::fmt::Debug;
use std::panic::Location;
use std::slice::SliceIndex;

/// The part of `text` in a range of bytes that is known to lie in it, between characters.
///
/// # Panics
/// In debug builds, if it does not. In release builds the result is then empty, and an error is logged.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a range is written in place, as for `get`")]
pub fn text<R>(text: &str, range: R) -> &str
where
    R: SliceIndex<str, Output = str> + Debug + Clone,
{
    text.get(range.clone()).unwrap_or_else(|| {
        report(&range, text.len(), Location::caller());
        ""
    })
}

/// The part of `items` in a range that is known to lie in it.
///
/// # Panics
/// In debug builds, if it does not. In release builds the result is then empty, and an error is logged.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a range is written in place, as for `get`")]
pub fn items<T, R>(items: &[T], range: R) -> &[T]
where
    R: SliceIndex<[T], Output = [T]> + Debug + Clone,
{
    items.get(range.clone()).unwrap_or_else(|| {
        report(&range, items.len(), Location::caller());
        &[]
    })
}

#[cold]
fn report(range: &dyn Debug, length: usize, caller: &Location<'_>) {
    tracing::error!(?range, length, %caller, "an offset of this program does not fit: the part is left out");
    debug_assert!(false, "{range:?} does not fit into {length} at {caller}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_that_fit_are_returned() {
        assert_eq!(super::text("aéb", 1..3), "é");
        assert_eq!(super::text("a", 1..), "");
        assert_eq!(super::items(&[1, 2, 3], ..2), [1, 2]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "2..3 does not fit into 3")]
    fn half_a_character_is_found_in_debug_builds() {
        let _ = super::text("aé", 2..3);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "does not fit into 1")]
    fn a_range_beyond_the_end_is_found_in_debug_builds() {
        let _ = super::items(&[1], 2..);
    }
}
