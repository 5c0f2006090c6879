//! A project's own guidance for the workflow: what models should know and follow beyond specs and changes.
//!
//! | file | what is taken |
//! |---|---|
//! | `openspec/config.yaml` (or `.yml`) | `context`, `rules` by artifact, `schema` |
//! | `openspec/project.md` | the text |
//! | `openspec/schemas/<name>/schema.yaml` | the artifacts of a workflow of the project's own, with their templates |
//! | `mission.md` in the folder of specs (Spec Oxide) | the text |
//!
//! A missing file is ignored. A file that cannot be read or parsed, and a rule that is not used, is listed in
//! [`Words::problems`].

use std::path::Path;
use std::sync::Arc;

use crate::model::{Origin, Schema, Source};
use crate::parse::{Value, yaml};
use crate::project::{Dialect, Project, ReadError, schema_name};

/// How much of a problem other answers repeat, in characters.
const MAX_TOLD: usize = 300;

/// The project's own guidance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The workflow of new changes.
    pub schema: Arc<Schema>,
    /// A description of the project, for every step.
    pub context: Option<String>,
    /// Rules, by the id of the artifact that they apply to.
    pub rules: Vec<(String, Vec<String>)>,
    /// `project.md` or `mission.md`.
    pub about: Option<Source>,
    /// The stores with further specs that the project names.
    pub references: Vec<String>,
    /// Files and rules that exist but cannot be used, with the reason.
    pub problems: Vec<String>,
    /// The artifacts of the project's own workflow, in Markdown.
    artifacts: Vec<String>,
}

impl Words {
    /// Reads the guidance of a project. Blocks.
    pub fn of(project: &Project) -> Self {
        let layout = project.layout();
        let mut words = Self {
            schema: project.schema(&project.default_schema()),
            context: None,
            rules: Vec::new(),
            about: None,
            references: Vec::new(),
            problems: Vec::new(),
            artifacts: Vec::new(),
        };
        let about = match layout.kind {
            Dialect::SpecOxide => layout.specs.join("mission.md"),
            Dialect::OpenSpec => project.openspec().join("project.md"),
        };
        words.about = words.read(project.within(&about));
        if layout.kind == Dialect::OpenSpec {
            words.configured(project);
        }
        words
    }

    /// The rules for an artifact.
    pub fn rules_for(&self, artifact: &str) -> &[String] {
        let rules = self.rules.iter().find(|(id, _)| id == artifact);
        rules.map_or(&[], |(_, rules)| rules)
    }

    /// The first of its problems, and how many more there are, for answers about something else.
    pub fn problem(&self) -> Option<String> {
        let first: String = self.problems.first()?.chars().take(MAX_TOLD).collect();
        let more = self.problems.len() - 1;
        Some(if more == 0 { first } else { format!("{first} (and {more} more)") })
    }

    /// The whole guidance as Markdown; empty if the project has none.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(context) = &self.context {
            parts.push(format!("# Context\n\n{context}"));
        }
        if let Some(about) = &self.about {
            let text = about.text.trim();
            parts.push(format!("<!-- {} -->\n\n{text}", about.path.display()));
        }
        for (artifact, rules) in &self.rules {
            let rules: Vec<_> = rules.iter().map(|rule| format!("- {rule}")).collect();
            parts.push(format!("# Rules for {artifact}\n\n{}", rules.join("\n")));
        }
        if !self.references.is_empty() {
            let stores = self.references.join(", ");
            parts.push(format!("# References\n\nFurther specs are in the stores {stores}."));
        }
        parts.extend(self.artifacts.iter().cloned());
        parts.join("\n\n")
    }

    fn configured(&mut self, project: &Project) {
        let source = self.read(project.config());
        let value = source.as_ref().and_then(|source| self.parsed(source));
        if let Some((config, source)) = value.as_ref().zip(source.as_ref()) {
            let context = config.get("context").and_then(Value::filled);
            self.context = context.map(|text| text.trim().to_owned());
            self.rules(project, &source.path, config);
            self.references = references(config);
        }
        let schema = Arc::clone(&self.schema);
        match &schema.origin {
            Origin::Own(_) => {
                self.problems.extend(schema.notes.iter().cloned());
                let artifacts = schema.artifacts.iter().map(|one| {
                    let mut part = format!("# {}: `{}`\n\n{}", one.id, one.files, one.description);
                    let template = project.template(&schema, &one.template);
                    for text in one.instruction.iter().chain(&template) {
                        part.push_str("\n\n");
                        part.push_str(text.trim());
                    }
                    part
                });
                self.artifacts = artifacts.collect();
            }
            Origin::Unknown(reason) if value.as_ref().and_then(schema_name).is_some() => {
                self.problems
                    .push(format!("the workflow {:?} cannot be used: {reason}", schema.name));
            }
            Origin::Unknown(_) | Origin::BuiltIn => {}
        }
    }

    /// Takes the rules that are text, and tells of the others, and of those that are for no artifact.
    fn rules(&mut self, project: &Project, path: &Path, config: &Value) {
        let Some(Value::Map(entries)) = config.get("rules") else {
            return;
        };
        let known = project.artifact_ids();
        let path = path.display();
        for entry in entries {
            let (artifact, line) = (&entry.key, entry.line);
            let listed = match &entry.value {
                Value::Null => &[],
                Value::List(rules) => rules.as_slice(),
                one => std::slice::from_ref(one),
            };
            let taken = listed.iter().filter_map(Value::filled).map(str::to_owned);
            let taken: Vec<String> = taken.collect();
            if let Some(other) = listed.iter().find(|rule| rule.filled().is_none()) {
                let line = match other {
                    Value::Map(parts) => parts.first().map_or(line, |part| part.line),
                    _ => line,
                };
                let (left, all) = (listed.len() - taken.len(), listed.len());
                self.problems.push(format!(
                    "{path}:{line}: {left} of {all} rules for {artifact:?} are not used: a rule is text, in quotes if \
                     it has `: `"
                ));
            }
            if !known.contains(artifact) {
                self.problems.push(format!(
                    "{path}:{line}: rules for {artifact:?} are not used: no workflow here has this artifact, but {}",
                    known.join(", ")
                ));
            }
            if !taken.is_empty() {
                self.rules.push((artifact.clone(), taken));
            }
        }
    }

    fn read(&mut self, read: Result<Option<Source>, ReadError>) -> Option<Source> {
        read.unwrap_or_else(|error| {
            self.problems.push(error.to_string());
            None
        })
    }

    fn parsed(&mut self, source: &Source) -> Option<Value> {
        match yaml(&source.text) {
            Ok(value) => Some(value),
            Err(problem) => {
                let path = source.path.display();
                self.problems.push(format!("{path}:{}: {}", problem.line, problem.text));
                None
            }
        }
    }
}

/// The ids of the stores under `references`: strings, or mappings with an `id`.
fn references(config: &Value) -> Vec<String> {
    let Some(Value::List(list)) = config.get("references") else {
        return Vec::new();
    };
    let ids = list.iter().filter_map(|one| one.filled().or_else(|| one.get("id")?.filled()));
    ids.map(str::to_owned).collect()
}
