//! A skill before and after its checks. Skills from folders and from code both pass [`Checked::new`].

use std::collections::BTreeMap;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::error::SkillError;
use crate::path::{self, SCHEME};
use crate::wire::{SkillEntry, SkillResource};
use crate::{frontmatter, mime};
use mcp_proto::{Resource, ResourceContents};

/// The most files of a skill, including its `SKILL.md`: the number that every host must accept (SEP-2640, *Limits*).
pub const MAX_SKILL_FILES: usize = 512;

/// The most bytes of a skill's files together, 16 MiB: the size that every host must accept (SEP-2640, *Limits*).
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

pub(crate) const SKILL_MD: &str = "SKILL.md";

/// A skill made in code, not checked yet; [`Skills::from_skills`](crate::Skills::from_skills) checks it.
///
/// ```
/// use mcp_skills::{Skill, Skills};
///
/// # fn main() -> Result<(), mcp_skills::SkillError> {
/// let skill = Skill::new("git-workflow", "How we branch and commit.", "# Branches\n\nOne for each task.\n")
///     .with_file("templates/message.txt", "area: what changed for whom\n");
/// let skills = Skills::from_skills([skill])?;
/// assert!(skills.read("skill://git-workflow/templates/message.txt").is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Skill {
    pub(crate) name: String,
    /// By their paths below the skill's folder.
    pub(crate) files: Vec<(String, Bytes)>,
}

impl Skill {
    /// A skill whose `SKILL.md` is built from its name, a description of what it does and when to use it, and Markdown.
    pub fn new(name: impl Into<String>, description: &str, body: &str) -> Self {
        let name = name.into();
        let skill_md = frontmatter::write(&name, description, body);
        Self::from_markdown(name, skill_md)
    }

    /// A skill with a complete `SKILL.md`, including frontmatter. Static bytes, as of `include_bytes!`, are not copied.
    pub fn from_markdown(name: impl Into<String>, skill_md: impl Into<Bytes>) -> Self {
        Self { name: name.into(), files: vec![(SKILL_MD.to_owned(), skill_md.into())] }
    }

    /// The same with another file: its path below the skill's folder with `/` between the segments, at most 16 of them
    /// and 1024 bytes, none beginning with a dot.
    pub fn with_file(mut self, path: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        self.files.push((path.into(), bytes.into()));
        self
    }
}

/// A skill that can be served.
#[derive(Debug, PartialEq)]
pub(crate) struct Checked {
    pub(crate) entry: SkillEntry,
    /// By their paths as written in their URIs.
    files: BTreeMap<String, File>,
}

#[derive(Debug, PartialEq)]
struct File {
    /// Its path, not encoded.
    path: String,
    bytes: Bytes,
}

/// The item at a path below a skill's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Nothing,
}

impl Checked {
    /// Checks every rule for skills.
    pub(crate) fn new(skill: Skill) -> Result<Self, SkillError> {
        let Skill { name, files } = skill;
        if !path::is_name(&name) {
            return Err(SkillError::Name { name });
        }
        if files.len() > MAX_SKILL_FILES {
            return Err(SkillError::TooMany { skill: name, what: "files", max: MAX_SKILL_FILES });
        }
        if files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>() > MAX_SKILL_BYTES {
            return Err(SkillError::TooLarge { skill: name, max: MAX_SKILL_BYTES });
        }
        let mut by_path = BTreeMap::new();
        for (path, bytes) in files {
            if let Some(problem) = path::problem(&path) {
                return Err(refused(name, path, problem));
            }
            let file = File { path, bytes };
            if let Some(first) = by_path.insert(path::encode(&file.path), file) {
                return Err(refused(name, first.path, "it is there twice"));
            }
        }
        if let Some(path) = file_that_is_a_directory(&by_path) {
            return Err(refused(name, path, "it is both a file and a directory"));
        }
        let Some(skill_md) = by_path.get(SKILL_MD) else {
            return Err(SkillError::NoSkillFile { skill: name, found: SKILL_MD.to_owned() });
        };
        let frontmatter = match frontmatter::read(&name, &skill_md.bytes) {
            Ok(fields) => fields,
            Err(problem) => {
                return Err(SkillError::Frontmatter { skill: name, problem });
            }
        };
        let root = format!("{SCHEME}{name}/");
        let others = by_path.iter().filter(|(path, _)| *path != SKILL_MD);
        let resources = [(SKILL_MD, skill_md)]
            .into_iter()
            .chain(others.map(|(path, file)| (path.as_str(), file)))
            .map(|(path, file)| SkillResource {
                uri: format!("{root}{path}"),
                digest: format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&file.bytes))),
                size: file.bytes.len() as u64,
            })
            .collect();
        Ok(Self {
            entry: SkillEntry { uri: format!("{root}{SKILL_MD}"), frontmatter, resources },
            files: by_path,
        })
    }

    /// All its bytes.
    pub(crate) fn size(&self) -> u64 {
        self.entry.resources.iter().map(|file| file.size).sum()
    }

    /// The item at a path as written in a URI. The empty path is the skill's folder.
    pub(crate) fn kind(&self, path: &str) -> Kind {
        if self.files.contains_key(path) {
            Kind::File
        } else if path.is_empty() || self.below(path).next().is_some() {
            Kind::Directory
        } else {
            Kind::Nothing
        }
    }

    /// The contents of the file at a path as written in a URI: text if its bytes are UTF-8, else Base64.
    pub(crate) fn contents(&self, path: &str) -> Option<ResourceContents> {
        let file = self.files.get(path)?;
        let uri = self.uri(path);
        let mut contents = match std::str::from_utf8(&file.bytes) {
            Ok(text) => ResourceContents::text(uri, text),
            Err(_) => ResourceContents::blob(uri, &file.bytes),
        };
        contents.mime_type = Some(file.mime_type().to_owned());
        Some(contents)
    }

    /// The direct children of the directory at a path as written in a URI, in the order of their URIs.
    pub(crate) fn children(&self, path: &str) -> Vec<Resource> {
        let mut children: BTreeMap<&str, Resource> = BTreeMap::new();
        for (rest, at, file) in self.below(path) {
            let (child, is_directory) = match rest.split_once('/') {
                Some((child, _)) => (child, true),
                None => (rest, false),
            };
            if !children.contains_key(child) {
                let end = at.len() - rest.len() + child.len();
                let at = known_range::text(at, ..end);
                let node =
                    if is_directory { self.directory(at, file) } else { self.file(at, file) };
                children.insert(child, node);
            }
        }
        children.into_values().collect()
    }

    /// Its `SKILL.md` as a resource.
    pub(crate) fn resource(&self) -> Option<Resource> {
        let file = self.files.get(SKILL_MD)?;
        Some(self.file(SKILL_MD, file))
    }

    /// The files below a directory: the path from there, the path from the skill's folder, the file.
    fn below<'s>(&'s self, path: &str) -> impl Iterator<Item = (&'s str, &'s str, &'s File)> {
        let prefix = match path {
            "" => String::new(),
            path => format!("{path}/"),
        };
        self.files
            .range(prefix.clone()..)
            .map_while(move |(at, file)| Some((at.strip_prefix(&prefix)?, at.as_str(), file)))
    }

    /// A file as it is listed. A skill's `SKILL.md` has the skill's name, description and other frontmatter.
    fn file(&self, at: &str, file: &File) -> Resource {
        let listed = |name: &str| {
            Resource::new(self.uri(at), name)
                .with_mime_type(file.mime_type())
                .with_size(file.bytes.len() as u64)
        };
        if at != SKILL_MD {
            return listed(file.name());
        }
        let mut listed = listed(self.entry.name()).with_description(self.entry.description());
        listed.meta = self.entry.meta();
        listed
    }

    /// The directory at a path, which contains `file`.
    fn directory(&self, at: &str, file: &File) -> Resource {
        let segment = at.split('/').count() - 1;
        let name = file.path.split('/').nth(segment).unwrap_or_default();
        Resource::new(self.uri(at), name).with_mime_type(mime::DIRECTORY)
    }

    fn uri(&self, path: &str) -> String {
        format!("{SCHEME}{}/{path}", self.entry.name())
    }
}

impl File {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn mime_type(&self) -> &'static str {
        if self.path == SKILL_MD {
            return mime::MARKDOWN;
        }
        mime::of(self.name(), &self.bytes)
    }
}

fn refused(skill: String, path: String, problem: &'static str) -> SkillError {
    SkillError::Path { skill, path, problem }
}

/// The path of a file that other files have as their directory, if there is one.
fn file_that_is_a_directory(files: &BTreeMap<String, File>) -> Option<String> {
    files.keys().find_map(|path| {
        let mut ends = path.match_indices('/');
        ends.find_map(|(end, _)| files.get(path.get(..end)?).map(|file| file.path.clone()))
    })
}
