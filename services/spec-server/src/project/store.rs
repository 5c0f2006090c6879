//! Stores: an OpenSpec project may keep its specs and changes in another checkout, which its `config.yaml` names by an
//! id. The registry of this machine knows the folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ProjectError;
use super::layout::{self, Dialect, Layout};
use crate::parse::{Value, yaml};

/// The longest configuration or registry that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The project that `layout` at `root` stands for: itself, or its store if it has no specs and changes of its own.
///
/// # Errors
/// The store is not registered on this machine, or its folder is not a project.
pub(super) fn follow(root: PathBuf, layout: Layout) -> Result<(PathBuf, Layout), ProjectError> {
    let is_own = layout.specs.is_dir() || layout.changes.is_dir();
    if layout.kind != Dialect::OpenSpec || is_own {
        return Ok((root, layout));
    }
    let config = ["config.yaml", "config.yml"].map(|name| root.join("openspec").join(name));
    let Some((file, store)) =
        config.iter().find_map(|file| Some((file, read(file)?.get("store")?.clone())))
    else {
        return Ok((root, layout));
    };
    let refuse = |problem: String| ProjectError::Config { path: file.clone(), problem };
    let id =
        store.filled().ok_or_else(|| refuse("`store` must be the id of a store".to_owned()))?;
    let registry = registry();
    let registered = registry.as_deref().and_then(read);
    let stores = registered.as_ref().and_then(|registered| registered.get("stores"));
    let folder =
        stores.and_then(|stores| stores.get(id)?.get("backend")?.get("local_path")?.filled());
    let Some(folder) = folder else {
        let known = match stores {
            Some(Value::Map(stores)) if !stores.is_empty() => {
                let ids: Vec<&str> = stores.iter().map(|store| store.key.as_str()).collect();
                format!("registered are {}", ids.join(", "))
            }
            _ => "none is registered".to_owned(),
        };
        return Err(refuse(format!(
            "the specs are in the store {id:?}, which is not registered on this machine ({known}); register it with \
             `openspec store register <path> --id {id}`, or name its folder with --root"
        )));
    };
    let at = |error: ProjectError| refuse(format!("the store {id:?} cannot be used: {error}"));
    let (root, layout) = layout::at(Path::new(folder)).map_err(at)?;
    if layout.specs.is_dir() || layout.changes.is_dir() {
        Ok((root, layout))
    } else {
        let problem =
            format!("the store {id:?} at {} has neither specs nor changes", root.display());
        Err(refuse(problem))
    }
}

/// A YAML file of these; `None` if it does not exist or is not valid.
fn read(file: &Path) -> Option<Value> {
    let length = fs::metadata(file).ok()?.len();
    let text = (length <= MAX_BYTES).then(|| fs::read_to_string(file).ok()).flatten()?;
    yaml(text.strip_prefix('\u{feff}').unwrap_or(&text)).ok()
}

/// The registry in the user's data folder, where OpenSpec keeps it.
fn registry() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let local = if cfg!(windows) { folder("LOCALAPPDATA") } else { None };
    let home = || Some(folder("HOME")?.join(".local/share"));
    let data = folder("XDG_DATA_HOME").or(local).or_else(home)?;
    Some(data.join("openspec/stores/registry.yaml"))
}
