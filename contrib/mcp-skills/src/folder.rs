//! Skills from a folder on disk. Every count and size is bounded before anything is kept.
//!
//! Hidden entries, whose names begin with a dot, are left out. In a skill a symbolic link is followed if it leads to a
//! place in the skill's own folder, as the links of a mounted Kubernetes volume do, and is an error otherwise. On the
//! way to the skills a link is followed only if it leads to a skill.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::checked::{MAX_SKILL_BYTES, MAX_SKILL_FILES, SKILL_MD, Skill};
use crate::content::Content;
use crate::error::SkillError;
use crate::path::{self, MAX_DEPTH, is_hidden};

/// The most folders of a skill, its own included.
const MAX_SKILL_FOLDERS: usize = 512;

/// The most folders in which skills are looked for.
const MAX_FOLDERS: usize = 16_384;

/// A folder that is a skill.
pub(crate) struct Found {
    folder: PathBuf,
    /// Its path among the skills: from the folder whose skills are loaded.
    path: PathBuf,
}

/// The folders of the skills in `folder`, or `folder` itself if it is a skill, in the order of their paths. A skill is
/// not searched for others.
pub(crate) fn find(folder: &Path, max_skills: usize) -> Result<Vec<Found>, SkillError> {
    if holds_skill(folder)? {
        let real = fs::canonicalize(folder).map_err(|source| unreadable(folder, source))?;
        // Only a path such as `..` has no last segment of its own.
        let name = folder.file_name().or_else(|| real.file_name()).unwrap_or_default();
        return Ok(vec![Found { folder: folder.to_owned(), path: name.into() }]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), PathBuf::new())];
    let mut seen = 0;
    while let Some((parent, prefix)) = folders.pop() {
        for entry in fs::read_dir(&parent).map_err(|source| unreadable(&parent, source))? {
            let entry = entry.map_err(|source| unreadable(&parent, source))?;
            let name = entry.file_name();
            let (folder, path) = (entry.path(), prefix.join(&name));
            if name.to_str().is_some_and(is_hidden) || !folder.is_dir() {
                continue;
            }
            seen += 1;
            if seen > MAX_FOLDERS {
                return Err(SkillError::TooManyFolders { path: parent, max: MAX_FOLDERS });
            }
            if holds_skill(&folder)? {
                if found.len() == max_skills {
                    return Err(SkillError::TooManySkills { max: max_skills });
                }
                found.push(Found { folder, path });
            } else if path.components().count() < MAX_DEPTH && !folder.is_symlink() {
                folders.push((folder, path));
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Reads a skill.
pub(crate) fn load(found: &Found) -> Result<Skill, SkillError> {
    let root = fs::canonicalize(&found.folder);
    let root = root.map_err(|source| unreadable(&found.folder, source))?;
    let Some(at) = found.path.to_str() else {
        let skill = found.path.to_string_lossy().into_owned();
        return Err(SkillError::Path {
            path: skill.clone(),
            skill,
            problem: "a name must be UTF-8",
        });
    };
    let at = at.replace(std::path::MAIN_SEPARATOR, "/");
    let found = walk(&at, &root)?;
    let mut size: u64 = found.iter().map(|found| found.size).sum();
    if size > MAX_SKILL_BYTES {
        return Err(too_large(at));
    }
    size = 0;
    let mut files = Vec::with_capacity(found.len());
    for FoundFile { path, real, .. } in found {
        // A file that has grown since its size was taken is still read no further than the bound.
        let bytes =
            read(&real, MAX_SKILL_BYTES - size).map_err(|source| unreadable(&real, source))?;
        let Some(bytes) = bytes else {
            return Err(too_large(at));
        };
        size += bytes.len() as u64;
        files.push((path, Content::Fixed(bytes)));
    }
    Ok(Skill { path: at, files })
}

/// Whether there is a `SKILL.md`. Another spelling is an error: some file systems would find it under the correct name.
fn holds_skill(folder: &Path) -> Result<bool, SkillError> {
    let mut misspelt = None;
    for entry in fs::read_dir(folder).map_err(|source| unreadable(folder, source))? {
        let name = entry.map_err(|source| unreadable(folder, source))?.file_name();
        if name == OsStr::new(SKILL_MD) {
            return Ok(true);
        }
        if name.eq_ignore_ascii_case(SKILL_MD) {
            misspelt = Some(name);
        }
    }
    match misspelt {
        None => Ok(false),
        Some(found) => Err(SkillError::NoSkillFile {
            skill: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            found: found.to_string_lossy().into_owned(),
        }),
    }
}

/// A file of a skill that is not read yet.
struct FoundFile {
    /// Below the skill's folder, with `/` between the segments.
    path: String,
    /// Where it is.
    real: PathBuf,
    size: u64,
}

/// The files below `root`, which is canonical. Depth first, so that a cycle of links ends at the depth limit.
fn walk(skill: &str, root: &Path) -> Result<Vec<FoundFile>, SkillError> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), String::new())];
    let mut seen = 1;
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|source| unreadable(&folder, source))? {
            let entry = entry.map_err(|source| unreadable(&folder, source))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(SkillError::Path {
                    skill: skill.to_owned(),
                    path: format!("{prefix}{}", name.to_string_lossy()),
                    problem: "a name must be UTF-8",
                });
            };
            if is_hidden(name) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if let Some(problem) = path::problem(&path) {
                return Err(SkillError::Path { skill: skill.to_owned(), path, problem });
            }
            let (real, metadata) = resolve(skill, root, &path, &entry.path())?;
            if metadata.is_dir() {
                seen += 1;
                if seen > MAX_SKILL_FOLDERS {
                    return Err(too_many(skill, "folders", MAX_SKILL_FOLDERS));
                }
                folders.push((real, path + "/"));
            } else if metadata.is_file() {
                if found.len() == MAX_SKILL_FILES {
                    return Err(too_many(skill, "files", MAX_SKILL_FILES));
                }
                found.push(FoundFile { path, real, size: metadata.len() });
            } else {
                return Err(SkillError::Path {
                    skill: skill.to_owned(),
                    path,
                    problem: "it is neither a regular file nor a folder",
                });
            }
        }
    }
    Ok(found)
}

/// The real path of the entry `path` of the skill, and its type.
fn resolve(
    skill: &str,
    root: &Path,
    path: &str,
    entry: &Path,
) -> Result<(PathBuf, fs::Metadata), SkillError> {
    let metadata = fs::symlink_metadata(entry).map_err(|source| unreadable(entry, source))?;
    if !metadata.is_symlink() {
        return Ok((entry.to_owned(), metadata));
    }
    let real = fs::canonicalize(entry).map_err(|source| unreadable(entry, source))?;
    if !real.starts_with(root) {
        return Err(SkillError::Link { skill: skill.to_owned(), path: path.to_owned() });
    }
    let metadata = fs::symlink_metadata(&real).map_err(|source| unreadable(&real, source))?;
    Ok((real, metadata))
}

/// The bytes of a file, none if there are more than `max`.
fn read(path: &Path, max: u64) -> io::Result<Option<Bytes>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max).then(|| bytes.into()))
}

fn unreadable(path: &Path, source: io::Error) -> SkillError {
    SkillError::Read { path: path.to_owned(), source }
}

fn too_many(skill: &str, what: &'static str, max: usize) -> SkillError {
    SkillError::TooMany { skill: skill.to_owned(), what, max }
}

fn too_large(skill: String) -> SkillError {
    SkillError::TooLarge { skill, max: MAX_SKILL_BYTES }
}
