//! A made-up project of more than a thousand specs and changes: good ones, each broken in one way, and in several.
//!
//! It is the same on every machine. The name of an item says what was done to it.

mod change;
mod delta;
mod metadata;
mod odd;
mod operations;
mod page;
mod random;
mod requirement;
mod spec;
mod tasks;

use std::path::Path;

use page::{Mutation, Page};
use random::Random;

use super::write;

/// How often each single thing is done in each of its variants, with other random numbers each time.
const REPEATS: usize = 2;

/// How many items have two or three things done to them, of specs and of changes.
const COMBINED: usize = 120;

/// A file, below the root of the project.
pub(crate) type File = (String, Vec<u8>);

/// All files of the project.
pub(crate) fn files() -> Vec<File> {
    let mut files = around();
    files.extend(odd::files());
    for (number, (names, page)) in specs().into_iter().enumerate() {
        let folder = ["", "deep/", "deep/er/"][number % 3];
        files.push((format!("openspec/specs/{folder}s{number:04}-{names}/spec.md"), page.bytes()));
    }
    for (number, (names, draft)) in changes().into_iter().enumerate() {
        let folder = format!("openspec/changes/c{number:04}-{names}");
        // Git would not keep it, but a folder may be empty.
        files.push((format!("{folder}/"), Vec::new()));
        files.extend(
            draft.files().into_iter().map(|(path, text)| (format!("{folder}/{path}"), text)),
        );
    }
    files
}

/// Writes them.
pub(crate) fn write_to(root: &Path) {
    for (path, text) in files() {
        write(root, &path, &text);
    }
}

/// What the items refer to.
fn around() -> Vec<File> {
    let schema = |tasks: &str, requires: &str| {
        format!(
            "name: own\nversion: 1\nartifacts:\n  - id: specs\n    generates: specs/**/*.md\n    description: s\n    template: s.md\n    \
             requires: [{requires}]\n  - id: tasks\n    generates: \"{tasks}\"\n    description: t\n    template: t.md\n    requires: [specs]\n"
        )
    };
    let schemas = [
        ("own", schema("WORK.md", "")),
        (
            "globbed",
            schema("work/**/*.md", "") + "apply:\n  requires: [tasks]\n  tracks: work/**/*.md\n",
        ),
        ("trackless", schema("WORK.md", "").replace("id: tasks", "id: todo")),
        ("cyclic", schema("WORK.md", "tasks")),
        ("unsound", schema("WORK.md", "nothing")),
        ("empty", String::new()),
    ];
    let mut files: Vec<File> = schemas
        .map(|(name, text)| (format!("openspec/schemas/{name}/schema.yaml"), text.into_bytes()))
        .into();
    for (path, text) in [
        ("openspec/config.yaml", "schema: spec-driven\n"),
        ("openspec/specs/base/gate/spec.md", delta::BASE_SPEC),
        ("openspec/specs/base/folder/spec.md/note.txt", "not a spec"),
        ("openspec/specs/spec.md", "# Not in a folder\n"),
        ("openspec/specs/.hidden/spec.md", "# Hidden\n"),
        ("openspec/specs/loose.md", "# Loose\n"),
        ("openspec/changes/archive/2025-01-01-done/tasks.md", "- [ ] 1.1 Left\n"),
        ("openspec/changes/.hidden/tasks.md", "- x\n"),
        ("openspec/changes/README.md", "# Changes\n"),
    ] {
        files.push((path.to_owned(), text.as_bytes().to_vec()));
    }
    files
}

fn specs() -> Vec<(String, Page)> {
    let mut random = Random::new(1);
    let all: Vec<Mutation<Page>> =
        spec::ALL.into_iter().chain(requirement::ALL).chain(page::ANY).collect();
    mutated(&all, spec::good, &mut random)
}

fn changes() -> Vec<(String, change::Draft)> {
    let mut random = Random::new(2);
    let mut made = Vec::new();
    // What happens to a delta or to tasks happens to a change.
    let on_delta: Vec<_> = delta::ALL
        .into_iter()
        .chain(operations::ALL)
        .chain(operations::AGAINST)
        .chain(page::ANY)
        .collect();
    for (names, delta) in mutated(&on_delta, delta::good, &mut random) {
        let mut draft = change::good(&mut random);
        draft.delta = delta;
        made.push((names, draft));
    }
    let on_draft: Vec<_> =
        change::FILES.into_iter().chain(metadata::ALL).chain(tasks::ALL).collect();
    made.extend(mutated(&on_draft, change::good, &mut random));
    for (names, tasks) in mutated(&page::ANY, |random| change::good(random).tasks, &mut random) {
        let mut draft = change::good(&mut random);
        draft.tasks = tasks;
        made.push((format!("tasks-{names}"), draft));
    }
    made
}

/// Good ones, each mutation a few times, and some of them together.
fn mutated<T>(
    mutations: &[Mutation<T>],
    good: fn(&mut Random) -> T,
    random: &mut Random,
) -> Vec<(String, T)> {
    let mut made: Vec<(String, T)> = (0..8).map(|_| ("good".to_owned(), good(random))).collect();
    for (name, mutate) in mutations {
        random.widest = 1;
        let mut times = 0;
        while times < random.widest * REPEATS {
            let mut item = good(random);
            random.choice = Some(times);
            mutate(&mut item, random);
            random.choice = None;
            made.push(((*name).to_owned(), item));
            times += 1;
        }
    }
    for _ in 0..COMBINED.min(mutations.len() * REPEATS) {
        let mut item = good(random);
        let mut names = Vec::new();
        for _ in 0..2 + random.below(2) {
            let (name, mutate) = random.pick(mutations);
            mutate(&mut item, random);
            names.push(*name);
        }
        made.push((names.join("+"), item));
    }
    made
}
