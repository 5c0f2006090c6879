//! Finds the item for an inexact name, and names the file of a spec.

use crate::model::Spec;
use crate::parse::fold;

/// The items with the name `asked`: those with exactly this name, else those with the same [`fold`]ed name, else the
/// one on the line `asked`.
pub(super) fn all_named<'i, T>(
    items: &'i [T],
    name: impl Fn(&T) -> &str,
    line: impl Fn(&T) -> u32,
    asked: &str,
) -> Vec<&'i T> {
    let of = |wanted: &dyn Fn(&T) -> bool| items.iter().filter(|item| wanted(item)).collect();
    let exact: Vec<&T> = of(&|item| name(item) == asked);
    if !exact.is_empty() {
        return exact;
    }
    let folded = fold(asked);
    let alike: Vec<&T> = of(&|item| fold(name(item)) == folded);
    match asked.trim().parse::<u32>() {
        Ok(asked) if alike.is_empty() => of(&|item| line(item) == asked),
        _ => alike,
    }
}

/// The file of a spec, relative to the root of the project.
pub(super) fn file_of(spec: &Spec) -> String {
    spec.source.path.to_string_lossy().into_owned()
}
