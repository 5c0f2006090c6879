//! A skill before and after its checks. Skills from folders and from code both pass [`Checked::new`].

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::content::Content;
use crate::error::SkillError;
use crate::path::{self, SCHEME};
use crate::wire::{SkillEntry, SkillFiles, SkillResource};
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
///
/// Each is made for a path: its name, after other segments if skills are ordered in folders, such as
/// `acme/billing/refunds`. The path is unique, the name need not be. All paths, of skills and of files, have `/`
/// between the segments, at most 16 of them and 1024 bytes, none beginning with a dot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Skill {
    pub(crate) path: String,
    /// By their paths below the skill's folder.
    pub(crate) files: Vec<(String, Content)>,
}

impl Skill {
    /// A skill whose `SKILL.md` is built from its name, a description of what it does and when to use it, and Markdown.
    pub fn new(path: impl Into<String>, description: &str, body: &str) -> Self {
        let path = path.into();
        let skill_md = frontmatter::write(path::name(&path), description, body);
        Self::from_markdown(path, skill_md)
    }

    /// A skill with a complete `SKILL.md`, including frontmatter. Static bytes, as of `include_bytes!`, are not copied.
    pub fn from_markdown(path: impl Into<String>, skill_md: impl Into<Bytes>) -> Self {
        Self { path: path.into(), files: Vec::new() }.with_file(SKILL_MD, skill_md)
    }

    /// A skill whose Markdown is generated whenever it is read. It is listed without digests (`"dynamic"`), and some
    /// hosts do not load such skills.
    pub fn generated(
        path: impl Into<String>,
        description: &str,
        body: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        let path = path.into();
        let begin = frontmatter::write(path::name(&path), description, "");
        let skill_md = move || format!("{begin}{}", body());
        Self { path, files: Vec::new() }.with_generated_file(SKILL_MD, skill_md)
    }

    /// The same with another file, by its path below the skill's folder.
    pub fn with_file(mut self, path: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        self.files.push((path.into(), Content::Fixed(bytes.into())));
        self
    }

    /// The same with a file that is generated whenever it is read, which must not block. The whole skill is then listed
    /// without digests, as by [`Skill::generated`].
    pub fn with_generated_file<B: Into<Bytes>>(
        mut self,
        path: impl Into<String>,
        bytes: impl Fn() -> B + Send + Sync + 'static,
    ) -> Self {
        let generate = Arc::new(move || bytes().into());
        self.files.push((path.into(), Content::Generated(generate)));
        self
    }

    /// The bytes of its files that are kept.
    pub(crate) fn size(&self) -> u64 {
        self.files.iter().filter_map(|(_, content)| content.fixed()).map(|it| it.len() as u64).sum()
    }
}

/// A skill that can be served.
#[derive(Debug, PartialEq)]
pub(crate) struct Checked {
    pub(crate) entry: SkillEntry,
    /// The URI of its folder, with a slash at its end.
    root: String,
    /// By their paths as written in their URIs.
    files: BTreeMap<String, File>,
}

#[derive(Debug, PartialEq)]
struct File {
    /// Its path, not encoded.
    path: String,
    content: Content,
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
        let size = skill.size();
        let Skill { path: at, files } = skill;
        let name = path::name(&at);
        if !path::is_name(name) {
            return Err(SkillError::Name { name: name.to_owned() });
        }
        if let Some(problem) = path::problem(&at) {
            return Err(refused(at.clone(), at, problem));
        }
        if files.len() > MAX_SKILL_FILES {
            return Err(SkillError::TooMany { skill: at, what: "files", max: MAX_SKILL_FILES });
        }
        if size > MAX_SKILL_BYTES {
            return Err(SkillError::TooLarge { skill: at, max: MAX_SKILL_BYTES });
        }
        let mut by_path = BTreeMap::new();
        for (path, content) in files {
            if let Some(problem) = path::problem(&path) {
                return Err(refused(at, path, problem));
            }
            let file = File { path, content };
            if let Some(first) = by_path.insert(path::encode(&file.path), file) {
                return Err(refused(at, first.path, "it is there twice"));
            }
        }
        if let Some(path) = file_that_is_a_directory(&by_path) {
            return Err(refused(at, path, "it is both a file and a directory"));
        }
        let Some(skill_md) = by_path.get(SKILL_MD) else {
            return Err(SkillError::NoSkillFile { skill: at, found: SKILL_MD.to_owned() });
        };
        let frontmatter = match frontmatter::read(name, &skill_md.content.read()) {
            Ok(fields) => fields,
            Err(problem) => {
                return Err(SkillError::Frontmatter { skill: at, problem });
            }
        };
        let root = format!("{SCHEME}{}/", path::encode_skill(&at));
        let others = by_path.iter().filter(|(path, _)| *path != SKILL_MD);
        // All of them, or none if one has no digest.
        let resources: Option<Vec<_>> = [(SKILL_MD, skill_md)]
            .into_iter()
            .chain(others.map(|(path, file)| (path.as_str(), file)))
            .map(|(path, file)| {
                let bytes = file.content.fixed()?;
                Some(SkillResource {
                    uri: format!("{root}{path}"),
                    digest: format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes))),
                    size: bytes.len() as u64,
                })
            })
            .collect();
        let resources = resources.map_or(SkillFiles::Dynamic, SkillFiles::Listed);
        Ok(Self {
            entry: SkillEntry { uri: format!("{root}{SKILL_MD}"), frontmatter, resources },
            root,
            files: by_path,
        })
    }

    /// Its files by their URIs.
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, &Content)> {
        self.files.iter().map(|(path, file)| (self.uri(path), &file.content))
    }

    /// The file at a path as written in a URI.
    pub(crate) fn content(&self, path: &str) -> Option<&Content> {
        self.files.get(path).map(|file| &file.content)
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
        let (uri, bytes) = (self.uri(path), file.content.read());
        let mut contents = match std::str::from_utf8(&bytes) {
            Ok(text) => ResourceContents::text(uri, text),
            Err(_) => ResourceContents::blob(uri, &bytes),
        };
        contents.mime_type = Some(file.mime_type(&bytes).to_owned());
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
            let bytes = file.content.fixed();
            let mime_type = file.mime_type(bytes.map_or(&[], |bytes| bytes));
            let listed = Resource::new(self.uri(at), name).with_mime_type(mime_type);
            match bytes {
                Some(bytes) => listed.with_size(bytes.len() as u64),
                None => listed,
            }
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
        format!("{}{path}", self.root)
    }
}

impl File {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn mime_type(&self, bytes: &[u8]) -> &'static str {
        if self.path == SKILL_MD {
            return mime::MARKDOWN;
        }
        mime::of(self.name(), bytes)
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
