//! What of a spec is searched: one document for the spec itself and one for each of its requirements.

use crate::model::{Line, Requirement, Scenario, Spec};

/// The kinds of text in a document; each has its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The name of a requirement; the id and title of a spec.
    Name,
    /// The description of a requirement; the purpose of a spec.
    Description,
    /// One scenario of a requirement, its name before its clauses.
    Scenario,
    /// The id and title of the spec that a requirement belongs to.
    Context,
}

impl Field {
    /// How many kinds there are.
    pub const COUNT: usize = 4;
}

/// One thing that can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The spec.
    pub spec_id: String,
    /// The requirement; `None` for the spec itself.
    pub requirement: Option<String>,
    /// The line of the requirement's heading; for the spec itself that of its purpose, or 1.
    pub line: Line,
    /// Its texts.
    pub parts: Vec<Part>,
}

/// One text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub field: Field,
    /// The text.
    pub text: String,
}

/// The documents of a spec: itself, then its requirements in their order.
#[must_use]
pub fn documents(spec: &Spec) -> Vec<Document> {
    let mut documents = vec![itself(spec)];
    let requirements = spec.requirements.iter();
    documents.extend(requirements.map(|requirement| of_requirement(spec, requirement)));
    documents
}

fn itself(spec: &Spec) -> Document {
    let purpose = spec.purpose.as_ref();
    let mut parts = vec![Part {
        field: Field::Name,
        text: name(spec),
    }];
    parts.extend(purpose.map(|purpose| Part {
        field: Field::Description,
        text: purpose.text.clone(),
    }));
    Document {
        spec_id: spec.id.clone(),
        requirement: None,
        line: purpose.map_or(1, |purpose| purpose.line),
        parts,
    }
}

fn of_requirement(spec: &Spec, requirement: &Requirement) -> Document {
    let mut parts = vec![
        Part {
            field: Field::Name,
            text: requirement.name.clone(),
        },
        Part {
            field: Field::Description,
            text: requirement.description.clone(),
        },
    ];
    parts.extend(requirement.scenarios.iter().map(|scenario| Part {
        field: Field::Scenario,
        text: of_scenario(scenario),
    }));
    parts.push(Part {
        field: Field::Context,
        text: name(spec),
    });
    Document {
        spec_id: spec.id.clone(),
        requirement: Some(requirement.name.clone()),
        line: requirement.line,
        parts,
    }
}

/// The id and, unless it says the same, the title.
fn name(spec: &Spec) -> String {
    match spec.title == spec.id {
        true => spec.id.clone(),
        false => format!("{} {}", spec.id, spec.title),
    }
}

/// On one line: the name, then what is given, what happens and what follows; the block as it stands if it has no clauses.
fn of_scenario(scenario: &Scenario) -> String {
    let clauses = [&scenario.given, &scenario.when, &scenario.then];
    let clauses: Vec<&str> = clauses.into_iter().flatten().map(String::as_str).collect();
    match clauses.is_empty() {
        true => format!("{}: {}", scenario.name, scenario.text),
        false => format!("{}: {}", scenario.name, clauses.join("; ")),
    }
}
