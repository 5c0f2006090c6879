//! The workflow of a change, and the configuration that selects it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layout::Dialect;
use super::{Project, ReadError};
use crate::model::{Metadata, Origin, SPEC_DRIVEN, Schema, Source, spec_driven, spec_oxide};
use crate::parse::{self, Value, yaml};

impl Project {
    /// `openspec/config.yaml`, or `.yml`.
    pub(crate) fn config(&self) -> Result<Option<Source>, ReadError> {
        let [yaml, yml] = self.config_files();
        match self.within(&yaml)? {
            Some(source) => Ok(Some(source)),
            None => self.within(&yml),
        }
    }

    fn config_files(&self) -> [PathBuf; 2] {
        ["config.yaml", "config.yml"].map(|name| self.openspec().join(name))
    }

    /// The folder `openspec`.
    pub(crate) fn openspec(&self) -> &Path {
        let changes = &self.layout().changes;
        changes.parent().unwrap_or(changes)
    }

    /// The name of the workflow of new changes.
    pub(crate) fn default_schema(&self) -> String {
        let configured = || {
            let source = self.config().ok()??;
            schema_name(&yaml(&source.text).ok()?)
        };
        match self.layout().kind {
            Dialect::SpecOxide => spec_oxide().name,
            Dialect::OpenSpec => configured().unwrap_or_else(|| SPEC_DRIVEN.to_owned()),
        }
    }

    /// The workflow with this name: the project's own, else the built-in one. Workflows in a user's home folder are not
    /// searched, because a verdict should not depend on the user.
    pub(crate) fn schema(&self, name: &str) -> Arc<Schema> {
        let unknown = |reason: String| Arc::new(Schema::unknown(name, reason));
        if self.layout().kind == Dialect::SpecOxide {
            return Arc::new(spec_oxide());
        }
        let is_name =
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':']);
        if !is_name {
            return unknown("it is not the name of a folder".to_owned());
        }
        let folder = self.openspec().join("schemas").join(name);
        let file = folder.join("schema.yaml");
        let own = self.inner.schemas.get(&file, std::slice::from_ref(&file), || {
            let source = self.within(&file)?;
            Ok(source.map(|source| match parse::schema(&source.text, folder.clone()) {
                Ok(schema) => schema,
                Err(problem) => {
                    Schema::unknown(name, format!("{}: {problem}", self.display_path(&file)))
                }
            }))
        });
        match own {
            Ok(Some(own)) => own,
            Ok(None) if name == SPEC_DRIVEN => Arc::new(spec_driven()),
            Ok(None) => unknown(format!("{} does not exist", self.display_path(&file))),
            Err(error) => unknown(error.to_string()),
        }
    }

    /// The ids of the artifacts of all workflows that are here, sorted.
    pub(crate) fn artifact_ids(&self) -> Vec<String> {
        let own = self.inner.reader.list(&self.openspec().join("schemas")).unwrap_or_default();
        let names = own.entries.iter().map(|entry| &*entry.name).chain([SPEC_DRIVEN]);
        let schemas: Vec<Arc<Schema>> = names.map(|name| self.schema(name)).collect();
        let artifacts = schemas.iter().flat_map(|schema| &schema.artifacts);
        let mut ids: Vec<String> = artifacts.map(|artifact| artifact.id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The workflow of a change with this metadata.
    pub(super) fn schema_of(&self, metadata: Option<&Metadata>) -> Arc<Schema> {
        match metadata {
            Some(metadata) if !metadata.problems.is_empty() => {
                Arc::new(Schema::unknown(SPEC_DRIVEN, "its .openspec.yaml is not valid".to_owned()))
            }
            Some(metadata) => self.schema(metadata.schema.as_deref().unwrap_or_default()),
            None => self.schema(&self.default_schema()),
        }
    }

    /// The files that decide on the workflow of any change.
    pub(super) fn workflow_files(&self) -> Vec<PathBuf> {
        if self.layout().kind == Dialect::SpecOxide {
            return Vec::new();
        }
        let schemas = self.openspec().join("schemas");
        let names = self.inner.reader.list(&schemas).unwrap_or_default();
        let names = names.entries.iter().map(|entry| schemas.join(&entry.name).join("schema.yaml"));
        self.config_files().into_iter().chain(names).collect()
    }

    /// The text of the template of an artifact.
    pub(crate) fn template(&self, schema: &Schema, template: &str) -> Option<String> {
        match &schema.origin {
            Origin::Own(folder) => {
                let source = self.within(&folder.join("templates").join(template)).ok()??;
                Some(source.text.to_string())
            }
            Origin::BuiltIn | Origin::Unknown(_) => Some(template.to_owned()),
        }
    }

    /// A file whose folder may be a link. A link out of the project is not followed.
    pub(crate) fn within(&self, path: &Path) -> Result<Option<Source>, ReadError> {
        self.holds(path)?;
        self.source(path)
    }
}

/// The workflow that the configuration sets.
pub(crate) fn schema_name(config: &Value) -> Option<String> {
    let name = config.get("schema")?.filled()?;
    let bare = [".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end));
    Some(bare.unwrap_or(name).to_owned())
}
