//! The searchable documents of a spec: one for the spec itself and one for each of its requirements.

use crate::model::{Line, Requirement, Scenario, Spec, TextSection};

/// The kinds of text in a document. Each has its own weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The name of a requirement; the title of a spec, then its id.
    Name,
    /// The description of a requirement; the purpose of a spec.
    Description,
    /// One scenario of a requirement, its name before its clauses.
    Scenario,
    /// The title, then the id, of the spec that a requirement belongs to.
    Context,
}

impl Field {
    /// How many kinds there are.
    pub const COUNT: usize = 4;
}

/// One searchable document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The spec.
    pub spec_id: String,
    /// The requirement; `None` for the spec itself and for its other texts.
    pub requirement: Option<String>,
    /// The heading of a text that is not part of a requirement.
    pub section: Option<String>,
    /// The line of the requirement's heading. For the spec itself, the line of its purpose, or 1.
    pub line: Line,
    /// Its texts.
    pub parts: Vec<DocumentPart>,
}

/// One text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    /// The kind of text.
    pub field: Field,
    /// The text.
    pub text: String,
}

impl DocumentPart {
    fn new(field: Field, text: &str) -> Self {
        Self { field, text: text.to_owned() }
    }
}

impl Document {
    /// Its first text of this kind; empty if there is none.
    pub fn first(&self, field: Field) -> &str {
        let part = self.parts.iter().find(|part| part.field == field);
        part.map_or("", |part| part.text.as_str())
    }
}

/// The documents of a spec: itself, its requirements in their order, then its other texts.
pub fn documents(spec: &Spec) -> Vec<Document> {
    let mut documents = vec![itself(spec)];
    let requirements = spec.requirements.iter();
    documents.extend(requirements.map(|requirement| of_requirement(spec, requirement)));
    documents.extend(spec.sections.iter().map(|section| of_section(spec, section)));
    documents
}

fn itself(spec: &Spec) -> Document {
    let purpose = spec.purpose.as_ref();
    let mut parts = names(spec, Field::Name);
    parts.extend(purpose.map(|purpose| DocumentPart::new(Field::Description, &purpose.text)));
    Document {
        spec_id: spec.id.clone(),
        requirement: None,
        section: None,
        line: purpose.map_or(1, |purpose| purpose.line),
        parts,
    }
}

fn of_requirement(spec: &Spec, requirement: &Requirement) -> Document {
    let mut parts = vec![
        DocumentPart::new(Field::Name, &requirement.name),
        DocumentPart::new(Field::Description, &requirement.description),
    ];
    let scenarios = requirement.scenarios.iter().map(of_scenario);
    parts.extend(scenarios.map(|text| DocumentPart { field: Field::Scenario, text }));
    parts.extend(names(spec, Field::Context));
    Document {
        spec_id: spec.id.clone(),
        requirement: Some(requirement.name.clone()),
        section: None,
        line: requirement.line,
        parts,
    }
}

fn of_section(spec: &Spec, section: &TextSection) -> Document {
    let title = match section.title.as_str() {
        "" => &spec.title,
        title => title,
    };
    let mut parts = vec![
        DocumentPart::new(Field::Name, title),
        DocumentPart::new(Field::Description, &section.text),
    ];
    parts.extend(names(spec, Field::Context));
    Document {
        spec_id: spec.id.clone(),
        requirement: None,
        section: Some(title.to_owned()),
        line: section.line,
        parts,
    }
}

/// The title and, unless it is the same, the id.
fn names(spec: &Spec, field: Field) -> Vec<DocumentPart> {
    let mut names = vec![DocumentPart::new(field, &spec.title)];
    if spec.title != spec.id {
        names.push(DocumentPart::new(field, &spec.id));
    }
    names
}

/// A scenario on one line: the name, then GIVEN, WHEN and THEN clauses. Without clauses it is the whole block.
fn of_scenario(scenario: &Scenario) -> String {
    let clauses = [&scenario.given, &scenario.when, &scenario.then];
    let clauses: Vec<&str> = clauses.into_iter().flatten().map(String::as_str).collect();
    if clauses.is_empty() {
        format!("{}: {}", scenario.name, scenario.text)
    } else {
        format!("{}: {}", scenario.name, clauses.join("; "))
    }
}
