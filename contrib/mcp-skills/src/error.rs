//! Errors of skills: skills that cannot be served, and requests for files that do not exist.

use std::io;
use std::path::PathBuf;

/// Why skills cannot be served; found while they are loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A file or a folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The name is not one that the Agent Skills specification allows.
    #[error(
        "{name:?} is not a name for a skill: use 1 to 64 lowercase letters, digits and single hyphens between them, and name the folder so"
    )]
    Name {
        /// The name, which is also that of the skill's folder.
        name: String,
    },
    /// A skill's folder has no `SKILL.md`.
    #[error("skill {skill:?}: the file {found:?} must be a regular file named SKILL.md")]
    NoSkillFile {
        /// The skill.
        skill: String,
        /// What was found instead.
        found: String,
    },
    /// `SKILL.md` does not begin with frontmatter, or the frontmatter is invalid.
    #[error("skill {skill:?}: SKILL.md: {problem}")]
    Frontmatter {
        /// The skill.
        skill: String,
        /// What is wrong, and what would be valid.
        problem: String,
    },
    /// A file's path cannot be served.
    #[error("skill {skill:?}: the path {path:?} cannot be served: {problem}")]
    Path {
        /// The skill.
        skill: String,
        /// The path below its folder.
        path: String,
        /// The rule that it breaks.
        problem: &'static str,
    },
    /// A symbolic link leads out of the skill's folder.
    #[error(
        "skill {skill:?}: the link {path:?} leads out of the skill's folder; put a copy there instead"
    )]
    Link {
        /// The skill.
        skill: String,
        /// The link's path below its folder.
        path: String,
    },
    /// One skill has too many files or folders.
    #[error("skill {skill:?}: more than {max} {what}")]
    TooMany {
        /// The skill.
        skill: String,
        /// `files` or `folders`.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// The files of one skill are too large in total.
    #[error("skill {skill:?}: its files have more than {max} bytes together")]
    TooLarge {
        /// The skill.
        skill: String,
        /// The limit in bytes.
        max: u64,
    },
    /// Two skills have the same path, and so the same URI.
    #[error("two skills are at {skill:?}; paths must differ")]
    Duplicate {
        /// Their path.
        skill: String,
    },
    /// A skill has some of the files of a skill in one of its folders, or others beside them.
    #[error(
        "skill {skill:?}: its folder of the skill {inner:?} must have the same files as that skill, or none: then they are added"
    )]
    Nested {
        /// The skill.
        skill: String,
        /// The skill in its folder.
        inner: String,
    },
    /// Too many folders were searched for skills.
    #[error("{}: more than {max} folders; skills are looked for in all of them", path.display())]
    TooManyFolders {
        /// The folder whose skills were to be loaded.
        path: PathBuf,
        /// The limit.
        max: usize,
    },
    /// There are more skills than [`SkillsConfig::max_skills`](crate::SkillsConfig::max_skills).
    #[error("more than {max} skills; SkillsConfig::max_skills can be raised")]
    TooManySkills {
        /// The limit.
        max: usize,
    },
    /// All skills together are larger than [`SkillsConfig::max_bytes`](crate::SkillsConfig::max_bytes).
    #[error(
        "the skills have more than {max} bytes together; SkillsConfig::max_bytes can be raised"
    )]
    AllTooLarge {
        /// The limit in bytes.
        max: u64,
    },
}

/// A request for something that does not exist or is of another kind: −32602 on the wire (SEP-2640, *Error Handling*).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillUriError {
    /// No skill has its `SKILL.md` at this URI.
    #[error("no skill is served at {0:?}; skills/list gives the URIs of all of them")]
    NotASkill(String),
    /// Neither a file nor a directory of a skill is at this URI.
    #[error(
        "nothing of a skill is served at {0:?}; URIs are exactly those of the skill's resources"
    )]
    NotFound(String),
    /// A file, but a directory was requested.
    #[error("{0:?} is a file, not a directory resource; read it with resources/read")]
    NotADirectory(String),
    /// A directory, but a file was requested.
    #[error("{0:?} is a directory resource; read it with resources/directory/read")]
    NotAFile(String),
}

/// A client's URI as quoted in an error: at most 200 characters.
pub(crate) fn shown(uri: &str) -> String {
    let mut rest = uri.chars();
    let mut shown: String = rest.by_ref().take(200).collect();
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}
