//! The uses between files of a crate, read from the paths in their text: `crate::…`, `super::…`, `self::…`, and those
//! that begin with a module below the file; alone and in groups.

use std::collections::{BTreeMap, BTreeSet};

use super::code;

/// A file as its module path: `http/head.rs` is `["http", "head"]`.
pub(super) type Module = Vec<String>;

/// The modules that each file uses. A path counts as a use of the file that it leads to. A use of an enclosing module
/// is left out: a module and its submodules count as one. A path that leads to no file counts as a use of its first
/// name.
pub(super) type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// The imports between files of one crate, without its tests and `lib.rs`. Each file is `(path below src, text)`.
pub(super) fn read<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Imports {
    let texts: BTreeMap<Module, &str> = files
        .map(|(path, text)| (module(path), text))
        .filter(|(module, _)| {
            !matches!(module.last().map(String::as_str), Some("tests" | "lib" | "main"))
        })
        .collect();
    let used = |module: &Module, text: &str| {
        let mut used = BTreeSet::new();
        let below = texts.keys().filter(|other| other.len() == module.len() + 1);
        let below = below.filter(|other| other.starts_with(module));
        let below: BTreeSet<&str> =
            below.filter_map(|other| Some(other.last()?.as_str())).collect();
        for path in paths(module, &below, text) {
            let known = (1..=path.len()).rev();
            let known = known.filter_map(|length| path.get(..length));
            let mut known = known.filter(|path| texts.contains_key(*path));
            // A name that no file has is re-exported by `lib.rs`.
            let found = known.next().or(path.get(..1)).unwrap_or_default();
            if !module.starts_with(found) {
                used.insert(found.to_vec());
            }
        }
        used
    };
    texts.iter().map(|(module, text)| (module.clone(), used(module, text))).collect()
}

/// The cycles among imports, each as the list of modules that use each other.
pub(super) fn circles(imports: &Imports) -> Vec<Vec<&Module>> {
    let reach = |from: &Module| {
        let mut open: Vec<&Module> = imports.get(from).into_iter().flatten().collect();
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(imports.get(next).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (module, reach(module))).collect();
    let mut told = BTreeSet::new();
    let mut circles = Vec::new();
    for (module, seen) in &reached {
        if !seen.contains(*module) || told.contains(module) {
            continue;
        }
        let back =
            |other: &&&Module| reached.get(**other).is_some_and(|seen| seen.contains(*module));
        let circle: Vec<&Module> = seen.iter().filter(back).copied().collect();
        told.extend(circle.iter().copied());
        circles.push(circle);
    }
    circles
}

fn module(path: &str) -> Module {
    let path = path.trim_end_matches(".rs");
    path.split('/').map(str::to_owned).collect()
}

/// Every path to an item of this crate, starting at the crate root. `below` are the modules below this one.
fn paths(module: &Module, below: &BTreeSet<&str>, text: &str) -> Vec<Module> {
    let lines = code::without_tests(text).into_iter();
    let code: String = lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let (before, rest) = code.split_at(at);
        let mut words =
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != ':' && c != '$');
        let base = words.next().unwrap_or_default();
        let parents = base.split("::").filter(|part| *part == "super").count();
        let root = match base.split("::").next() {
            Some("crate") if base == "crate" => Vec::new(),
            Some("self") if base == "self" => module.clone(),
            Some("super") if base.split("::").all(|part| part == "super") => {
                let depth = module.len().saturating_sub(parents);
                known_range::items(module, ..depth).to_vec()
            }
            Some(name) if base == name && below.contains(name) => {
                [module.as_slice(), &[name.to_owned()]].concat()
            }
            _ => continue,
        };
        let rest = known_range::text(rest, 2..);
        if !rest.starts_with("super::") {
            collect(&root, rest, &mut found);
        }
    }
    found
}

/// The paths at the start of a text: one path, or all paths of a group.
fn collect(base: &[String], text: &str, found: &mut Vec<Module>) {
    if let Some(group) = text.strip_prefix('{') {
        for member in members(group) {
            collect(base, member.trim(), found);
        }
        return;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return;
    }
    let mut path = base.to_vec();
    path.push(name.to_owned());
    match rest.strip_prefix("::") {
        Some(rest) => collect(&path, rest, found),
        None => found.push(path),
    }
}

/// The members of a group, after its opening brace.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                found.extend(group.get(start..at));
                break;
            }
            ',' if depth == 0 => {
                found.extend(group.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Imports {
        read(files.iter().copied())
    }

    fn used(imports: &Imports, path: &str) -> Vec<String> {
        imports[&module(path)].iter().map(|module| module.join("/")).collect()
    }

    #[test]
    fn paths_lead_to_files_in_every_form() {
        let imports = of(&[
            ("a.rs", ""),
            ("b.rs", ""),
            ("c.rs", ""),
            ("c/d.rs", ""),
            ("c/e.rs", "use super::d::Thing;\nfn f(x: crate::a::X) {}"),
            ("f.rs", "use crate::{\n    a::{X, Y},\n    b as other,\n    c::{d::Thing, Face},\n};"),
            ("f/g.rs", "use super::super::b::Y;\nuse super::Own;"),
        ]);
        assert_eq!(used(&imports, "c/e.rs"), ["a", "c/d"]);
        assert_eq!(used(&imports, "f.rs"), ["a", "b", "c", "c/d"]);
        assert_eq!(used(&imports, "f/g.rs"), ["b"]);
    }

    #[test]
    fn comments_tests_and_other_crates_are_not_imports() {
        let imports = of(&[
            ("a.rs", ""),
            (
                "b.rs",
                "/// [`crate::a`]\nuse mycrate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
            ),
        ]);
        assert!(used(&imports, "b.rs").is_empty());
    }

    #[test]
    fn a_module_below_is_used_by_its_bare_name() {
        let files = [
            ("call.rs", "use rounds::Round;\nfn f() { other::g(); std::rounds::h(); }"),
            ("call/rounds.rs", "use crate::leaf::X;"),
            ("leaf.rs", ""),
        ];
        assert_eq!(used(&of(&files), "call.rs"), ["call/rounds"]);
        let [call, rounds, _] = files;
        let circle = of(&[call, rounds, ("leaf.rs", "use crate::call::Call;")]);
        let circle: Vec<_> = circles(&circle).concat().iter().map(|it| it.join("/")).collect();
        assert_eq!(circle, ["call", "call/rounds", "leaf"]);
    }

    #[test]
    fn a_circle_is_found_once_however_long() {
        let straight =
            of(&[("a.rs", "use crate::b::X;"), ("b.rs", "use crate::c::X;"), ("c.rs", "")]);
        assert!(circles(&straight).is_empty());
        let round = of(&[
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use crate::c::X;"),
            ("c.rs", "use crate::a::X;"),
            ("d.rs", "use crate::a::X;"),
        ]);
        let circles = circles(&round);
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].len(), 3);
    }
}
