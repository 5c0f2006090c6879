//! All skills that a server has, by their names and URIs.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use mcp_proto::{Resource, ResourceContents};

use crate::checked::{Checked, Kind, Skill};
use crate::error::{SkillError, SkillUriError, shown};
use crate::folder;
use crate::path::SCHEME;
use crate::wire::SkillEntry;

/// The bounds of [`Skills`]. Those of each skill are fixed: [`MAX_SKILL_FILES`](crate::MAX_SKILL_FILES) in at most 512
/// folders, [`MAX_SKILL_BYTES`](crate::MAX_SKILL_BYTES), and 64 KiB of frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsConfig {
    /// The largest total size of the files of all skills, in bytes. They are kept in memory. 64 MiB by default.
    pub max_bytes: u64,
    /// The most skills. 1024 by default.
    pub max_skills: usize,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { max_bytes: 64 * 1024 * 1024, max_skills: 1024 }
    }
}

/// Skills at the time they were loaded. A clone shares them and is cheap; to serve the current content of a folder,
/// load it again and replace this value as a whole, so that no reader sees a mix of both.
///
/// The skill `name` is at `skill://name/SKILL.md` and its files are below `skill://name`, with names percent-encoded
/// where RFC 3986 requires it. A URI is served if it is, byte for byte, one that [`SkillEntry::resources`] lists;
/// nothing is decoded or normalised, so the list cannot be bypassed. A directory's URI is the prefix of a file's URI
/// before a slash. A `SKILL.md` deeper in a skill is an ordinary file; it makes a separate skill only in a separate
/// folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Skills {
    by_name: Arc<BTreeMap<String, Checked>>,
}

impl Skills {
    /// The skills in the folder at `path`: its direct sub-folders with a `SKILL.md`, or itself if it has one. Other
    /// sub-folders are ignored.
    ///
    /// Hidden files and folders, whose names begin with a dot, are left out, and so are empty folders. A symbolic link
    /// inside a skill is followed if its target is in the skill's own folder, and is an error otherwise; a skill's
    /// folder may itself be a link. Reading blocks: do it before serving, or in `spawn_blocking`.
    ///
    /// # Errors
    ///
    /// One for the first skill that cannot be served, with the rule that it breaks.
    pub fn folder(path: impl AsRef<Path>) -> Result<Self, SkillError> {
        Self::folder_with(path, SkillsConfig::default())
    }

    /// The same with these bounds.
    ///
    /// # Errors
    ///
    /// As [`Skills::folder`].
    pub fn folder_with(path: impl AsRef<Path>, config: SkillsConfig) -> Result<Self, SkillError> {
        let mut loading = Loading::new(config);
        for folder in folder::find(path.as_ref(), config.max_skills)? {
            loading.add(folder::load(&folder)?)?;
        }
        Ok(loading.done())
    }

    /// Skills that are made in code.
    ///
    /// # Errors
    ///
    /// One for the first skill that cannot be served, with the rule that it breaks.
    pub fn from_skills(skills: impl IntoIterator<Item = Skill>) -> Result<Self, SkillError> {
        Self::from_skills_with(skills, SkillsConfig::default())
    }

    /// The same with these bounds.
    ///
    /// # Errors
    ///
    /// As [`Skills::from_skills`].
    pub fn from_skills_with(
        skills: impl IntoIterator<Item = Skill>,
        config: SkillsConfig,
    ) -> Result<Self, SkillError> {
        let mut loading = Loading::new(config);
        for skill in skills {
            loading.add(skill)?;
        }
        Ok(loading.done())
    }

    /// How many skills there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are no skills.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Every skill in the order of the names, for `skills/list`.
    pub fn list(&self) -> impl Iterator<Item = &SkillEntry> {
        self.by_name.values().map(|skill| &skill.entry)
    }

    /// The skills whose names come after `name`, for the pages after the first. A skill of that name need not exist.
    pub fn after(&self, name: &str) -> impl Iterator<Item = &SkillEntry> {
        let rest = (Bound::Excluded(name), Bound::Unbounded);
        self.by_name.range::<str, _>(rest).map(|(_, skill)| &skill.entry)
    }

    /// The `SKILL.md` of every skill in the order of the names, for `resources/list`. The other files are in the entry
    /// of their skill.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        self.resources_after(None)
    }

    /// The `SKILL.md` files of the skills whose names come after `name`.
    pub(crate) fn resources_after(&self, name: Option<&str>) -> impl Iterator<Item = Resource> {
        let begin = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_name
            .range::<str, _>((begin, Bound::Unbounded))
            .filter_map(|(_, skill)| skill.resource())
    }

    /// Whether the file of a skill is at `uri`.
    pub(crate) fn has_file(&self, uri: &str) -> bool {
        self.at(uri).is_some_and(|(skill, path)| skill.kind(path) == Kind::File)
    }

    /// The skill whose `SKILL.md` is at `uri`, for `skills/get`.
    ///
    /// # Errors
    ///
    /// [`SkillUriError::NotASkill`] for every other URI.
    pub fn get(&self, uri: &str) -> Result<&SkillEntry, SkillUriError> {
        self.at(uri)
            .map(|(skill, _)| &skill.entry)
            .filter(|entry| entry.uri == uri)
            .ok_or_else(|| SkillUriError::NotASkill(shown(uri)))
    }

    /// The contents of the file at `uri`, for `resources/read`: text if its bytes are UTF-8, else Base64; with its
    /// media type in both cases.
    ///
    /// # Errors
    ///
    /// [`SkillUriError::NotFound`], [`SkillUriError::NotAFile`].
    pub fn read(&self, uri: &str) -> Result<ResourceContents, SkillUriError> {
        let not_found = || SkillUriError::NotFound(shown(uri));
        let (skill, path) = self.at(uri).ok_or_else(not_found)?;
        skill.contents(path).ok_or_else(|| match skill.kind(path) {
            Kind::Directory => SkillUriError::NotAFile(shown(uri)),
            _ => not_found(),
        })
    }

    /// The direct children of the directory at `uri`, at most [`MAX_SKILL_FILES`](crate::MAX_SKILL_FILES), in the order
    /// of their URIs, for `resources/directory/read`.
    ///
    /// # Errors
    ///
    /// [`SkillUriError::NotFound`], [`SkillUriError::NotADirectory`].
    pub fn directory(&self, uri: &str) -> Result<Vec<Resource>, SkillUriError> {
        let not_found = || SkillUriError::NotFound(shown(uri));
        let (skill, path) = self.at(uri).ok_or_else(not_found)?;
        match skill.kind(path) {
            Kind::Directory => Ok(skill.children(path)),
            Kind::File => Err(SkillUriError::NotADirectory(shown(uri))),
            Kind::Nothing => Err(not_found()),
        }
    }

    /// The skill that contains `uri`, and the path within it as written in the URI; empty for the skill's folder.
    fn at<'u>(&self, uri: &'u str) -> Option<(&Checked, &'u str)> {
        let rest = uri.strip_prefix(SCHEME)?;
        let (name, path) = match rest.split_once('/') {
            // A directory is written without a slash at its end, so this is not the skill's folder.
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (rest, ""),
        };
        Some((self.by_name.get(name)?, path))
    }
}

/// Skills that are being loaded, within bounds.
struct Loading {
    by_name: BTreeMap<String, Checked>,
    bytes: u64,
    config: SkillsConfig,
}

impl Loading {
    fn new(config: SkillsConfig) -> Self {
        Self { by_name: BTreeMap::new(), bytes: 0, config }
    }

    fn add(&mut self, skill: Skill) -> Result<(), SkillError> {
        if self.by_name.len() >= self.config.max_skills {
            return Err(SkillError::TooManySkills { max: self.config.max_skills });
        }
        let name = skill.name.clone();
        if self.by_name.contains_key(&name) {
            return Err(SkillError::Duplicate { name });
        }
        let skill = Checked::new(skill)?;
        self.bytes += skill.size();
        if self.bytes > self.config.max_bytes {
            return Err(SkillError::AllTooLarge { max: self.config.max_bytes });
        }
        self.by_name.insert(name, skill);
        Ok(())
    }

    fn done(self) -> Skills {
        Skills { by_name: Arc::new(self.by_name) }
    }
}
