//! Pairing expected with found elements where order does not count.

/// The most elements on either side; more is answered with `None`.
const MOST: usize = 512;

/// Pairs as many of the `left` elements as possible with different `right` ones (Kuhn's algorithm: a pair already made
/// gives way when its left element can take another partner). `None` for more than 512 elements.
pub(super) fn pair(
    left: usize,
    right: usize,
    fits: impl Fn(usize, usize) -> bool,
) -> Option<Vec<Option<usize>>> {
    if left > MOST || right > MOST {
        return None;
    }
    let candidates: Vec<Vec<usize>> =
        (0..left).map(|left| (0..right).filter(|&right| fits(left, right)).collect()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; right];
    for left in 0..left {
        find_partner(left, &candidates, &mut owner, &mut vec![false; right]);
    }
    let mut partners = vec![None; left];
    for (right, left) in owner.iter().enumerate() {
        if let Some(partner) = left.and_then(|left| partners.get_mut(left)) {
            *partner = Some(right);
        }
    }
    Some(partners)
}

/// At most [`MOST`] calls deep: each marks one more right element as visited.
fn find_partner(
    left: usize,
    candidates: &[Vec<usize>],
    owner: &mut [Option<usize>],
    visited: &mut [bool],
) -> bool {
    for &right in candidates.get(left).into_iter().flatten() {
        match visited.get_mut(right) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        let taken_by = owner.get(right).copied().flatten();
        if taken_by.is_none_or(|other| find_partner(other, candidates, owner, visited)) {
            if let Some(slot) = owner.get_mut(right) {
                *slot = Some(left);
            }
            return true;
        }
    }
    false
}
