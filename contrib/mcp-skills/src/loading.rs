//! Skills while they are loaded: within bounds, and completed by the skills in their folders.

use std::collections::BTreeMap;

use crate::checked::{Checked, Skill};
use crate::error::SkillError;
use crate::path;

/// The bounds of [`Skills`](crate::Skills). Those of each skill are fixed:
/// [`MAX_SKILL_FILES`](crate::MAX_SKILL_FILES) in at most 512 folders, [`MAX_SKILL_BYTES`](crate::MAX_SKILL_BYTES), and
/// 64 KiB of frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsConfig {
    /// The largest total size of the files of all skills as they are given, in bytes. They are kept in memory. 64 MiB
    /// by default.
    pub max_bytes: u64,
    /// The most skills. 1024 by default.
    pub max_skills: usize,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { max_bytes: 64 * 1024 * 1024, max_skills: 1024 }
    }
}

/// Skills that are being loaded, by their paths.
pub(crate) struct Loading {
    by_path: BTreeMap<String, Skill>,
    bytes: u64,
    config: SkillsConfig,
}

impl Loading {
    pub(crate) fn new(config: SkillsConfig) -> Self {
        Self { by_path: BTreeMap::new(), bytes: 0, config }
    }

    pub(crate) fn add(&mut self, skill: Skill) -> Result<(), SkillError> {
        if self.by_path.len() >= self.config.max_skills {
            return Err(SkillError::TooManySkills { max: self.config.max_skills });
        }
        let path = skill.path.clone();
        if self.by_path.contains_key(&path) {
            return Err(SkillError::Duplicate { skill: path });
        }
        self.bytes += skill.size();
        if self.bytes > self.config.max_bytes {
            return Err(SkillError::AllTooLarge { max: self.config.max_bytes });
        }
        self.by_path.insert(path, skill);
        Ok(())
    }

    /// The skills, checked, by their paths as written in URIs.
    pub(crate) fn done(mut self) -> Result<BTreeMap<String, Checked>, SkillError> {
        self.complete()?;
        let skills = self.by_path.into_values().map(|skill| {
            let path = path::encode_skill(&skill.path);
            Ok((path, Checked::new(skill)?))
        });
        skills.collect()
    }

    /// Gives each skill the files of the skills in its folder: from its point of view they are its own (SEP-2640,
    /// *Resources*).
    fn complete(&mut self) -> Result<(), SkillError> {
        let paths: Vec<_> = self.by_path.keys().cloned().collect();
        // What is in a folder comes after it. The innermost goes first, so that its files reach all around it.
        for path in paths.into_iter().rev() {
            let mut ends = path.rmatch_indices('/');
            let outer = ends.find_map(|(end, _)| {
                let outer = path.get(..end).filter(|outer| self.by_path.contains_key(*outer))?;
                Some((outer, path.get(end + 1..)?))
            });
            let (Some((outer, below)), Some(skill)) = (outer, self.by_path.get(&path)) else {
                continue;
            };
            let below = format!("{below}/");
            let files = skill.files.iter();
            let files: BTreeMap<_, _> =
                files.map(|(file, content)| (format!("{below}{file}"), content.clone())).collect();
            let Some(outer) = self.by_path.get_mut(outer) else {
                continue;
            };
            let there = outer.files.iter().filter(|(file, _)| file.starts_with(&below));
            let there: BTreeMap<_, _> = there.cloned().collect();
            if there.is_empty() {
                outer.files.extend(files);
            } else if there != files {
                return Err(SkillError::Nested { skill: outer.path.clone(), inner: path });
            }
        }
        Ok(())
    }
}
