//! One delta applied to one spec.

use super::check::{self, Remark, of, renames};
use super::parts::Parts;
use crate::model::{CapabilityDelta, Line, Operation};
use crate::parse::Outline;
use crate::project::nearest;

/// A spec with a delta applied.
#[derive(Debug)]
pub(super) struct Applied {
    /// The whole file.
    pub(super) text: String,
    /// Whether requirements were removed.
    pub(super) removed: bool,
    /// How many requirements remain.
    pub(super) left: usize,
    /// The first line of the file that is not its title, its purpose or a requirement.
    pub(super) other: Option<Line>,
    pub(super) warnings: Vec<Remark>,
}

/// Applies `delta` to the spec `raw`, whose outline is `outline`.
///
/// # Errors
/// All problems. Lines are those of the delta.
pub(super) fn apply(
    raw: &str,
    outline: &Outline<'_>,
    delta: &CapabilityDelta,
) -> Result<Applied, Vec<Remark>> {
    let mut parts = Parts::of(raw, outline);
    let mut applying =
        Applying { removed: false, problems: Vec::new(), warnings: check::orphans(delta) };
    applying.rename(&mut parts, delta);
    applying.remove(&mut parts, delta);
    applying.modify(&mut parts, delta);
    let added = applying.add(&mut parts, delta);
    if !applying.problems.is_empty() {
        return Err(applying.problems);
    }
    Ok(Applied {
        left: parts.pieces.iter().filter(|piece| !piece.removed).count() + added.len(),
        other: parts.other,
        text: parts.join(&added),
        removed: applying.removed,
        warnings: applying.warnings,
    })
}

struct Applying {
    removed: bool,
    problems: Vec<Remark>,
    warnings: Vec<Remark>,
}

impl Applying {
    fn refuse(&mut self, line: Line, message: String) {
        self.problems.push((Some(line), message));
    }

    fn warn_of_foreign(&mut self, line: Line, name: &str, foreign: Option<String>) {
        self.warnings.extend(foreign.map(|heading| {
            let message = format!(
                "`{heading}` stands inside the requirement {name:?} of the spec and goes with it; to keep it, move it above \
                 `## Requirements`"
            );
            (Some(line), message)
        }));
    }

    fn rename(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for (from, to, line) in renames(delta) {
            let Some(block) = parts.names.get(from) else {
                match (parts.names.get(to), parts.names.near(from, to)) {
                    (_, Some(near)) => self.refuse(line, near_miss("RENAMED", from, near)),
                    // It already has its new name.
                    (Some(_), None) => {}
                    (None, None) => self.refuse(line, absent("RENAMED", from, "", parts)),
                }
                continue;
            };
            if parts.names.get(to).is_some() {
                self.refuse(line, format!("RENAMED: there is a requirement {to:?} already"));
            } else if let Some(near) = parts.names.near(to, from) {
                self.refuse(line, format!("RENAMED: {to:?} differs from {near:?} in capitals or blanks alone; choose another name"));
            } else {
                parts.names.remove(from);
                parts.names.insert(to, block);
                if let Some(heading) =
                    parts.pieces.get_mut(block).and_then(|p| p.content.first_mut())
                {
                    heading.text = format!("### Requirement: {to}");
                }
            }
        }
    }

    fn remove(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for item in of(delta, Operation::Removed) {
            let name = item.requirement.name.as_str();
            match parts.names.remove(name) {
                Some(block) => {
                    if let Some(piece) = parts.pieces.get_mut(block) {
                        self.warn_of_foreign(item.line(), name, piece.foreign(None));
                        piece.removed = true;
                    }
                    self.removed = true;
                }
                None => match parts.names.near(name, name) {
                    Some(near) => self.refuse(item.line(), near_miss("REMOVED", name, near)),
                    None => {
                        let hint = " (taken as removed already)";
                        let message = absent("REMOVED", name, hint, parts);
                        self.warnings.push((Some(item.line()), message));
                    }
                },
            }
        }
    }

    fn modify(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for item in of(delta, Operation::Modified) {
            let new = &item.requirement;
            let Some(piece) =
                parts.names.get(&new.name).and_then(|block| parts.pieces.get_mut(block))
            else {
                let message = match parts.names.near(&new.name, &new.name) {
                    Some(near) => near_miss("MODIFIED", &new.name, near),
                    None => absent("MODIFIED", &new.name, " (put a new one under ADDED)", parts),
                };
                self.refuse(item.line(), message);
                continue;
            };
            let foreign = piece.foreign(Some(new));
            if piece.replace(new) {
                self.warn_of_foreign(item.line(), &new.name, foreign);
            }
        }
    }

    /// The texts to add after the last requirement.
    fn add<'d>(&mut self, parts: &mut Parts, delta: &'d CapabilityDelta) -> Vec<&'d str> {
        let mut added = Vec::new();
        for item in of(delta, Operation::Added) {
            let new = &item.requirement;
            if let Some(piece) =
                parts.names.get(&new.name).and_then(|block| parts.pieces.get(block))
            {
                if !piece.says(new) {
                    self.refuse(item.line(), format!("ADDED: there is a requirement {:?} already that says something else; put \
                                                    it under MODIFIED", new.name));
                }
            } else if let Some(near) = parts.names.near(&new.name, &new.name) {
                self.refuse(item.line(), format!("ADDED: {:?} differs from {near:?} in capitals or blanks alone; put it under \
                                                MODIFIED by that name, or choose another", new.name));
            } else {
                parts.names.insert(&new.name, usize::MAX);
                added.push(new.text.as_str());
            }
        }
        added
    }
}

/// That a spec does not have a requirement, and which name is like it.
fn absent(operation: &str, name: &str, hint: &str, parts: &Parts) -> String {
    let nearest = nearest(name, parts.names.all()).into_iter().next();
    let nearest = nearest.map(|near| format!("; the nearest is {near:?}")).unwrap_or_default();
    format!("{operation}: there is no requirement {name:?}{hint}{nearest}")
}

fn near_miss(operation: &str, name: &str, near: &str) -> String {
    format!(
        "{operation}: there is no requirement {name:?}, but {near:?}; write the name exactly so"
    )
}
