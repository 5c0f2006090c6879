//! The configuration as a text that commands add to: everything else in it stays unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::error::CliError;
use super::paths::Paths;
use crate::config::Config;
use crate::import::Format;

/// The text and its path.
pub(super) struct Document {
    pub(super) file: PathBuf,
    toml: DocumentMut,
}

impl Document {
    /// The configuration at its path; an empty one if it does not exist yet.
    pub(super) fn open(paths: &Paths) -> Result<Self, CliError> {
        let file = paths.file()?;
        let text = if file.exists() {
            fs::read_to_string(&file).map_err(|error| wrong(&file, error))?
        } else {
            String::new()
        };
        let toml = text.parse().map_err(|error| wrong(&file, error))?;
        Ok(Self { file, toml })
    }

    /// The parsed configuration.
    pub(super) fn config(&self) -> Result<Config, CliError> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        Config::parse(&self.toml.to_string(), folder).map_err(|error| wrong(&self.file, error))
    }

    fn sources(&mut self) -> Option<&mut ArrayOfTables> {
        let none = || Item::ArrayOfTables(ArrayOfTables::new());
        let sources = self.toml.entry("source").or_insert_with(none);
        sources.as_array_of_tables_mut()
    }

    /// The source of this id.
    pub(super) fn source(&mut self, id: &str) -> Result<&mut Table, CliError> {
        let none = wrong(&self.file, format_args!("there is no source {id:?}"));
        let mut tables = self.sources().into_iter().flat_map(|it| it.iter_mut());
        tables.find(|table| text(table, "id") == Some(id)).ok_or(none)
    }

    /// Adds an export under a new id, which is returned.
    pub(super) fn add(&mut self, format: Format, path: &Path) -> Result<String, CliError> {
        let unfit = wrong(&self.file, "`source` is not written as [[source]]");
        let path = path.to_string_lossy().into_owned();
        let sources = self.sources().ok_or(unfit)?;
        let is_free = |id: &String| sources.iter().all(|table| text(table, "id") != Some(id));
        let name = format.name();
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let mut ids = std::iter::once(name.to_owned()).chain(numbered);
        let id = ids.find(is_free).unwrap_or_default();
        let mut table = Table::new();
        table.insert("id", value(&id));
        table.insert("kind", value(format!("{name}-export")));
        table.insert("path", value(path));
        // Times without a zone mean the same when all of it is moved to a machine that is elsewhere.
        let here = TimeZone::system();
        let is_of_use = !here.is_unknown() && format != Format::Telegram;
        if let Some(zone) = here.iana_name().filter(|_| is_of_use) {
            table.insert("zone", value(zone));
        }
        sources.push(table);
        Ok(id)
    }

    /// Takes sources out again.
    pub(super) fn remove(&mut self, ids: &[String]) {
        if let Some(sources) = self.sources() {
            sources
                .retain(|table| !text(table, "id").is_some_and(|id| ids.iter().any(|it| it == id)));
        }
    }

    /// Writes the file to its path, and creates missing folders above it.
    pub(super) fn write(&self) -> Result<(), CliError> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(|error| wrong(&self.file, error))?;
        }
        Ok(service_host::replace(&self.file, self.toml.to_string().as_bytes())?)
    }
}

/// The value of a string member.
pub(super) fn text<'t>(table: &'t Table, member: &str) -> Option<&'t str> {
    table.get(member)?.as_str()
}

fn wrong(file: &Path, problem: impl std::fmt::Display) -> CliError {
    format!("{}: {problem}", file.display()).into()
}
