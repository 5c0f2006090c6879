//! Drafting: a new change, and the files of a change.

use std::fs;
use std::path::PathBuf;

use service_host::{ReplaceError, replace};

use super::{ArchiveError, diff, today};
use crate::model::Change;
use crate::parse::is_kebab;
use crate::project::{Dialect, Project};

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its path below the root of the project.
    pub path: PathBuf,
    /// Whether it is new.
    pub created: bool,
    /// Whether it had another text before. If not, nothing was written.
    pub changed: bool,
    /// How it has changed, if it was there and is a text: what is lost may be another's work.
    pub diff: Option<String>,
}

/// The longest name of a new change.
const LONGEST: usize = 100;

/// Makes the folder of a new change, and in an OpenSpec project its `.openspec.yaml` with its workflow: `schema`, or
/// that of the project.
///
/// # Errors
/// [`ArchiveError::Draft`] if the name or the workflow cannot be used, or the change exists.
pub fn new_change(project: &Project, id: &str, schema: Option<&str>) -> Result<(), ArchiveError> {
    if !is_kebab(id) || id.len() > LONGEST {
        let problem = format!(
            "{id:?} is not a name for a change; write it in kebab-case with at most {LONGEST} characters, such as add-login"
        );
        return Err(ArchiveError::Draft(problem));
    }
    let _alone = project.writing()?;
    let layout = project.layout();
    let folder = layout.changes.join(id);
    if folder == layout.archive || folder.symlink_metadata().is_ok() {
        let folder = project.display_path(&folder);
        return Err(ArchiveError::Draft(format!("{folder} exists already; choose another name")));
    }
    let default = project.default_schema();
    let schema = project.schema(schema.unwrap_or(&default));
    if !schema.is_known() {
        let problem = format!(
            "the workflow {:?} cannot be used; leave it out for {default:?}, or name a folder of openspec/schemas",
            schema.name
        );
        return Err(ArchiveError::Draft(problem));
    }
    let metadata = folder.join(".openspec.yaml");
    project.holds(&metadata)?;
    let failed = |error: std::io::Error| {
        ArchiveError::Write(format!("{}: {error}", project.display_path(&folder)))
    };
    fs::create_dir_all(&folder).map_err(failed)?;
    if layout.kind == Dialect::OpenSpec {
        let text = format!("schema: {}\ncreated: {}\n", schema.name, today());
        write(project, &metadata, text.as_bytes())?;
    }
    Ok(())
}

/// Writes a whole file of an active change: a path below its folder, or the id of an artifact that has one file.
///
/// # Errors
/// [`ArchiveError::Draft`] if the path or the size is not allowed.
pub fn write_file(
    project: &Project,
    change: &Change,
    file: &str,
    text: &str,
) -> Result<Written, ArchiveError> {
    let refuse = |problem: &str| Err(ArchiveError::Draft(format!("{file:?} {problem}")));
    let artifact = change.schema.artifact(file);
    let below = match artifact.map(|artifact| (artifact.file(), &artifact.files)) {
        Some((Some(below), _)) => below,
        Some((None, pattern)) => {
            return refuse(&format!(
                "has several files; name one, such as specs/login/spec.md for {pattern}"
            ));
        }
        None if file.contains(['.', '/']) => file,
        None => {
            let known: Vec<&str> = change.schema.artifacts.iter().map(|one| &*one.id).collect();
            return refuse(&format!(
                "is neither an artifact ({}) nor the path of a file, such as specs/login/spec.md",
                known.join(", ")
            ));
        }
    };
    let parts: Vec<&str> = below.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && (!part.starts_with('.') || (parts.len() == 1 && *part == ".openspec.yaml"))
            && !part.chars().any(|c| c.is_control() || matches!(c, '\\' | ':'))
    };
    if !parts.iter().all(is_name) || parts.len() > project.limits().depth {
        return refuse(
            "is not a path below the change; write it like specs/login/spec.md, without .. or hidden names",
        );
    }
    let most = project.limits().file_bytes;
    if u64::try_from(text.len()).is_ok_and(|length| length > most) {
        return refuse(&format!("would have {} bytes; {most} are the most", text.len()));
    }
    let _alone = project.writing()?;
    let folder = project.change_folder(&change.id)?;
    let path = folder.join(below);
    // No folder on the way may be a link.
    project.is_below(&folder, parts.get(..parts.len() - 1).unwrap_or_default())?;
    project.holds(&path)?;
    if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return refuse("is a link or a folder, and is not replaced");
    }
    let old = project.raw_file(&path)?;
    let changed = old.as_ref().is_none_or(|old| old.bytes != text.as_bytes());
    if changed {
        if let Some(above) = path.parent() {
            let failed =
                |error| ArchiveError::Write(format!("{}: {error}", project.display_path(above)));
            fs::create_dir_all(above).map_err(failed)?;
        }
        write(project, &path, text.as_bytes())?;
    }
    let path = project.relative(&path);
    let before = old.as_ref().filter(|_| changed).and_then(|old| str::from_utf8(&old.bytes).ok());
    let diff = before.map(|before| diff(&path, before, text));
    Ok(Written { path, created: old.is_none(), changed, diff })
}

fn write(project: &Project, path: &std::path::Path, bytes: &[u8]) -> Result<(), ArchiveError> {
    replace(path, bytes).map_err(|error| match error {
        ReplaceError::Io { error, .. } => {
            ArchiveError::Write(format!("{}: {error}", project.display_path(path)))
        }
        error => error.into(),
    })
}
