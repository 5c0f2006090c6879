//! The root of `mcp-proto` has the names that an ordinary program writes. The others are in its modules.

/// The file that re-exports them.
pub(super) const PATH: &str = "mcp-proto/src/lib.rs";

/// The most names at the root, besides modules: readers look through all of them.
const NAMES: usize = 60;

/// The finding, if there are more. `text` is that of the file.
pub(super) fn check(text: &str) -> Option<String> {
    let uses = text.split("\npub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let names = uses.map(|(used, _)| match used.split_once('{') {
        Some((_, names)) => names.split([',', '}']).filter(|name| !name.trim().is_empty()).count(),
        None => 1,
    });
    let names: usize = names.sum();
    let finding = format!("{PATH}: {names} names at the root, more than {NAMES}: use a module");
    (names > NAMES).then_some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_in_every_form() {
        let sixty: String = (0..59).map(|it| format!("N{it}, ")).collect();
        let text =
            format!("mod a;\n\npub use a::A;\n#[doc(inline)]\npub use b::{{\n    {sixty}}};\n");
        assert_eq!(check(&text), None);
        let more = check(&format!("{text}pub use c::C;\n")).unwrap();
        assert!(more.contains("61 names"), "{more}");
    }
}
