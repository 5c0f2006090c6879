//! The workflows that come with OpenSpec and Spec Oxide: the same four artifacts, with the form of each.

use super::{Artifact, Origin, SPEC_DRIVEN, Schema};

const PROPOSAL: &str = include_str!("templates/proposal.md");
const DESIGN: &str = include_str!("templates/design.md");
const TASKS: &str = include_str!("templates/tasks.md");

/// The form of a delta, which ends before the form of a rename.
const DELTA: &str = include_str!("templates/delta.md");

const PAIR: &str = "- FROM: `### Requirement: <old name>`\n- TO: `### Requirement: <new name>`\n";

const ARROW: &str = "### Requirement: <old name> → <new name>\n";

const SPECS: &str = "Write one file specs/<capability>/spec.md for each spec that changes, where <capability> is its exact \
                     id, or a new one in kebab-case. It has only the requirements that change, below the headings of the \
                     template; leave out the headings that you do not need. Say what the software does, not how. Each \
                     requirement says SHALL or MUST and has a scenario with WHEN and THEN. MODIFIED repeats the whole \
                     requirement with all scenarios: copy it from the spec first.";

/// The workflow of OpenSpec.
pub(crate) fn spec_driven() -> Schema {
    built_in(
        SPEC_DRIVEN,
        PROPOSAL.to_owned(),
        PAIR,
        "If no spec changes, write `skip_specs: true` into .openspec.yaml instead.",
    )
}

/// The workflow of Spec Oxide.
pub(crate) fn spec_oxide() -> Schema {
    built_in("spec-oxide", format!("# Change: <title>\n\n{PROPOSAL}"), ARROW, "")
}

fn built_in(name: &str, proposal: String, renamed: &str, skip: &str) -> Schema {
    let artifact = |id: &str,
                    files: &str,
                    description: &str,
                    instruction: &str,
                    template,
                    requires: &[&str]| {
        Artifact {
            id: id.to_owned(),
            files: files.to_owned(),
            description: description.to_owned(),
            instruction: Some(instruction.trim().to_owned()),
            template,
            requires: requires.iter().map(|id| (*id).to_owned()).collect(),
        }
    };
    let artifacts = vec![
        artifact(
            "proposal",
            "proposal.md",
            "why the change is needed, and what it changes",
            "Find first what is specified already, and name the specs that change by their exact ids. Leave the how to \
             the design.",
            proposal,
            &[],
        ),
        artifact(
            "specs",
            "specs/**/*.md",
            "what becomes of the requirements",
            &format!("{SPECS} {skip}"),
            format!("{DELTA}\n{renamed}"),
            &["proposal"],
        ),
        artifact(
            "design",
            "design.md",
            "how it is done, if there is something to decide",
            "Write it if several parts are touched, a dependency is new, or data moves; else in one sentence that there is \
             nothing to decide.",
            DESIGN.to_owned(),
            &["proposal"],
        ),
        artifact(
            "tasks",
            "tasks.md",
            "the steps, each with a box to tick",
            "Small steps in the order in which they are done, each numbered like its group. Only lines with a box count. \
             Tests and documentation belong to the group of what they test.",
            TASKS.to_owned(),
            &["specs", "design"],
        ),
    ];
    Schema {
        name: name.to_owned(),
        artifacts,
        apply_instruction: None,
        tracked: Some("tasks.md".to_owned()),
        origin: Origin::BuiltIn,
        notes: Vec::new(),
    }
}
