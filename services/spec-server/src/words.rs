//! A project's own guidance for the workflow: what models should know and follow beyond specs and changes.
//!
//! | file | what is taken |
//! |---|---|
//! | `openspec/config.yaml` (or `.yml`) | `context`, `rules` by artifact, `schema` |
//! | `openspec/project.md` | the text |
//! | `openspec/schemas/<name>/schema.yaml` | the artifacts of a workflow of the project's own, with their templates |
//! | `mission.md` in the folder of specs (Spec Oxide) | the text |
//!
//! A missing file is ignored. A file that cannot be read or parsed is listed in [`Words::problems`].

use std::path::Path;

use crate::model::Source;
use crate::parse::{Value, yaml};
use crate::project::{Dialect, Project, ReadError};

/// The workflow that comes with OpenSpec.
pub(crate) const SPEC_DRIVEN: &str = "spec-driven";

/// The project's own guidance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The name of the workflow.
    pub schema: String,
    /// A description of the project, for every step.
    pub context: Option<String>,
    /// Rules, by the id of the artifact that they apply to.
    pub rules: Vec<(String, Vec<String>)>,
    /// `project.md` or `mission.md`.
    pub about: Option<Source>,
    /// The artifacts of a change, in the project's own workflow.
    pub artifacts: Vec<Artifact>,
    /// Files that exist but cannot be used, with the reason.
    pub problems: Vec<String>,
}

/// One artifact of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its id, such as `proposal`.
    pub id: String,
    /// Its files, below the folder of the change.
    pub files: String,
    /// Its purpose.
    pub description: String,
    /// How to write it.
    pub instruction: Option<String>,
    /// The template for it.
    pub template: Option<String>,
}

impl Words {
    /// Reads the guidance of a project. Blocks.
    pub fn of(project: &Project) -> Self {
        let mut words = Self::default();
        let layout = project.layout();
        let about = match layout.kind {
            Dialect::SpecOxide => layout.specs.join("mission.md"),
            Dialect::OpenSpec => folder(project).join("project.md"),
        };
        words.about = words.read(within(project, &about));
        if layout.kind == Dialect::OpenSpec {
            words.configured(project);
        }
        words
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
        for one in &self.artifacts {
            let mut part = format!("# {}: `{}`\n\n{}", one.id, one.files, one.description);
            for text in one.instruction.iter().chain(&one.template) {
                part.push_str("\n\n");
                part.push_str(text.trim());
            }
            parts.push(part);
        }
        parts.join("\n\n")
    }

    fn configured(&mut self, project: &Project) {
        let source = self.read(config(project));
        let value = source.and_then(|source| self.parsed(&source));
        if let Some(config) = &value {
            let context = config.get("context").and_then(Value::filled);
            self.context = context.map(|text| text.trim().to_owned());
            self.rules = rules(config);
        }
        let name = value.as_ref().and_then(schema_name);
        self.schema = name.unwrap_or_else(|| SPEC_DRIVEN.to_owned());
        let Some(file) = schema_file(project, &self.schema) else {
            return;
        };
        let source = self.read(within(project, &file));
        if let Some(schema) = source.and_then(|source| self.parsed(&source))
            && let Some(Value::List(list)) = schema.get("artifacts")
        {
            let templates = file.with_file_name("templates");
            self.artifacts =
                list.iter().filter_map(|one| artifact(project, &templates, one)).collect();
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

/// `openspec/config.yaml`, or `.yml`.
pub(crate) fn config(project: &Project) -> Result<Option<Source>, ReadError> {
    let folder = folder(project);
    match within(project, &folder.join("config.yaml"))? {
        Some(source) => Ok(Some(source)),
        None => within(project, &folder.join("config.yml")),
    }
}

/// The workflow that the configuration sets.
pub(crate) fn schema_name(config: &Value) -> Option<String> {
    let name = config.get("schema")?.filled()?;
    let bare = [".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end));
    Some(bare.unwrap_or(name).to_owned())
}

/// The file of a project's own workflow; `None` if no folder can have this name.
pub(crate) fn schema_file(project: &Project, name: &str) -> Option<std::path::PathBuf> {
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':']);
    is_name.then(|| folder(project).join("schemas").join(name).join("schema.yaml"))
}

/// A file whose folder may be a link. A link out of the project is not followed.
pub(crate) fn within(project: &Project, path: &Path) -> Result<Option<Source>, ReadError> {
    project.holds(path)?;
    project.source(path)
}

/// The folder `openspec`.
fn folder(project: &Project) -> &Path {
    let changes = &project.layout().changes;
    changes.parent().unwrap_or(changes)
}

fn rules(config: &Value) -> Vec<(String, Vec<String>)> {
    let Some(Value::Map(entries)) = config.get("rules") else {
        return Vec::new();
    };
    let by_artifact = entries.iter().map(|entry| {
        let rules = match &entry.value {
            Value::List(rules) => rules.iter().filter_map(Value::filled).collect(),
            one => one.filled().into_iter().collect::<Vec<_>>(),
        };
        let rules = rules.into_iter().map(str::to_owned).collect();
        (entry.key.clone(), rules)
    });
    by_artifact.filter(|(_, rules): &(_, Vec<_>)| !rules.is_empty()).collect()
}

fn artifact(project: &Project, templates: &Path, value: &Value) -> Option<Artifact> {
    let text = |name: &str| value.get(name)?.filled().map(str::to_owned);
    let template =
        text("template").filter(|name| !name.split(['/', '\\']).any(|part| part == ".."));
    let template = template.and_then(|name| within(project, &templates.join(name)).ok()?);
    Some(Artifact {
        id: text("id")?,
        files: text("generates")?,
        description: text("description").unwrap_or_default(),
        instruction: text("instruction"),
        template: template.map(|source| source.text.to_string()),
    })
}
