//! All skills that a server has, by their paths and URIs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use mcp_proto::{Resource, ResourceContents};
use percent_encoding::percent_decode_str;

use crate::checked::{Checked, Kind, Skill};
use crate::content::Content;
use crate::error::{SkillError, SkillUriError, shown};
use crate::loading::{Loading, SkillsConfig};
use crate::path::{MAX_DEPTH, SCHEME};
use crate::wire::SkillEntry;
use crate::{folder, mime};

/// Skills at the time they were loaded. A clone shares them and is cheap; to serve the current content of a folder,
/// load it again and replace this value as a whole, so that no reader sees a mix of both.
///
/// A skill is at `skill://PATH/SKILL.md` and its files are below `skill://PATH`, with names percent-encoded where RFC
/// 3986 requires it. Its name is the last segment of its path; a name may repeat, a path may not. A URI is served if it
/// is, byte for byte, one that a skill lists; nothing is decoded or normalised, so the list cannot be bypassed. Every
/// beginning of such a URI that ends before a slash is a directory.
///
/// Skills may nest: if `a/b` is a skill in the folder of the skill `a`, the files of `a` include those of `a/b`, and
/// are completed where they have none of them. A `SKILL.md` in the folder of a skill, for which no skill was made, is
/// an ordinary file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Skills {
    by_path: Arc<BTreeMap<String, Checked>>,
}

impl Skills {
    /// The skills in the folder at `path`: itself if it has a `SKILL.md`, otherwise its sub-folders that have one, up
    /// to 16 levels deep. The path of a skill is that of its folder, such as `acme/billing/refunds`. Folders in a skill
    /// are not searched for further ones. At most 16,384 folders are searched.
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
        Ok(Self { by_path: Arc::new(loading.done()?) })
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
        Ok(Self { by_path: Arc::new(loading.done()?) })
    }

    /// How many skills there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Whether there are no skills.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Every skill in the order of the paths, for `skills/list`.
    pub fn list(&self) -> impl Iterator<Item = &SkillEntry> {
        self.by_path.values().map(|skill| &skill.entry)
    }

    /// The skills whose paths, as written in URIs, come after `path`, for the pages after the first. A skill at that
    /// path need not exist.
    pub fn after(&self, path: &str) -> impl Iterator<Item = &SkillEntry> {
        let rest = (Bound::Excluded(path), Bound::Unbounded);
        self.by_path.range::<str, _>(rest).map(|(_, skill)| &skill.entry)
    }

    /// The `SKILL.md` of every skill in the order of the paths, for `resources/list`. The other files are in the entry
    /// of their skill.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        self.resources_after(None)
    }

    /// The `SKILL.md` files of the skills whose paths come after `path`.
    pub(crate) fn resources_after(&self, path: Option<&str>) -> impl Iterator<Item = Resource> {
        let begin = path.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_path
            .range::<str, _>((begin, Bound::Unbounded))
            .filter_map(|(_, skill)| skill.resource())
    }

    /// Whether the file at `uri` is the same whenever it is read.
    pub(crate) fn is_fixed(&self, uri: &str) -> bool {
        let content = self.at(uri).and_then(|(skill, path)| skill.content(path));
        content.is_some_and(|content| content.fixed().is_some())
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
        if let Some(contents) = self.at(uri).and_then(|(skill, path)| skill.contents(path)) {
            return Ok(contents);
        }
        match self.directory(uri) {
            Ok(_) => Err(SkillUriError::NotAFile(shown(uri))),
            Err(_) => Err(not_found()),
        }
    }

    /// The direct children of the directory at `uri`, which is a folder of a skill or of several skills, in the order
    /// of their URIs, for `resources/directory/read`.
    ///
    /// # Errors
    ///
    /// [`SkillUriError::NotFound`], [`SkillUriError::NotADirectory`].
    pub fn directory(&self, uri: &str) -> Result<Vec<Resource>, SkillUriError> {
        let not_found = || SkillUriError::NotFound(shown(uri));
        let Some((skill, path)) = self.at(uri) else {
            let children = self.folders(uri);
            return if children.is_empty() { Err(not_found()) } else { Ok(children) };
        };
        match skill.kind(path) {
            Kind::Directory => Ok(skill.children(path)),
            Kind::File => Err(SkillUriError::NotADirectory(shown(uri))),
            Kind::Nothing => Err(not_found()),
        }
    }

    /// The URIs of the files that other skills do not have, or with other bytes, and of all that are generated.
    pub(crate) fn changed(&self, after: &Self) -> Vec<String> {
        let files = self.by_path.values().flat_map(Checked::files);
        let is_same = |uri: &str, content: &Content| {
            let now = after.at(uri).and_then(|(skill, path)| skill.content(path));
            content.fixed().is_some() && now == Some(content)
        };
        let changed = files.filter(|(uri, content)| !is_same(uri, content));
        let mut changed: Vec<_> = changed.map(|(uri, _)| uri).collect();
        changed.sort_unstable();
        // A nested skill has files in common with the one around it.
        changed.dedup();
        changed
    }

    /// The innermost skill that contains `uri`, and the path within it as written in the URI; empty for the skill's
    /// folder.
    fn at<'u>(&self, uri: &'u str) -> Option<(&Checked, &'u str)> {
        let rest = uri.strip_prefix(SCHEME)?;
        if let Some(skill) = self.by_path.get(rest) {
            return Some((skill, ""));
        }
        let ends = rest.match_indices('/').take(MAX_DEPTH);
        let around = ends.filter_map(|(end, _)| {
            let (path, below) = (rest.get(..end)?, rest.get(end + 1..)?);
            Some((self.by_path.get(path)?, below))
        });
        // A directory is written without a slash at its end, so that is not the skill's folder.
        around.last().filter(|(_, below)| !below.is_empty())
    }

    /// The folders at `uri` on the way to skills; none if it is not such a folder.
    fn folders(&self, uri: &str) -> Vec<Resource> {
        let Some(prefix) = uri.strip_prefix(SCHEME).map(|path| format!("{path}/")) else {
            return Vec::new();
        };
        let paths = self.by_path.range(prefix.clone()..).map(|(path, _)| path);
        let below = paths.map_while(|path| path.strip_prefix(&prefix));
        let children = below.map(|rest| rest.split('/').next().unwrap_or(rest));
        let children: BTreeSet<&str> = children.filter(|child| !child.is_empty()).collect();
        let folder = |child| {
            let name = percent_decode_str(child).decode_utf8_lossy();
            Resource::new(format!("{uri}/{child}"), name).with_mime_type(mime::DIRECTORY)
        };
        children.into_iter().map(folder).collect()
    }
}
