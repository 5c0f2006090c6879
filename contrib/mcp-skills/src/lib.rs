//! Skills: folders of instructions for models, served as resources (extension `io.modelcontextprotocol/skills`,
//! SEP-2640). Loaded skills are checked once and never change. No request reads from a disk.
//!
//! [`Skills`] are loaded from a folder or made in code, [`SkillsExt::skills`] adds them to a server. With the feature
//! `client`, `SkillsClient` reads the skills of a server.

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

mod checked;
#[cfg(feature = "client")]
mod client;
mod content;
mod error;
mod folder;
mod frontmatter;
mod loading;
mod mime;
mod path;
mod served;
mod skills;
mod wire;
mod yaml;

pub use checked::{MAX_SKILL_BYTES, MAX_SKILL_FILES, Skill};
#[cfg(feature = "client")]
pub use client::SkillsClient;
pub use error::{SkillError, SkillUriError};
pub use loading::SkillsConfig;
pub use served::{EXTENSION_SKILLS, ServedSkills, SkillsExt};
pub use skills::Skills;
pub use wire::{SkillEntry, SkillFiles, SkillResource};
