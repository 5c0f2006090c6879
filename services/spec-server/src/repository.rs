//! Which repository is meant.

use std::path::PathBuf;

use clap::Args;

use crate::project::{Project, ProjectError};

/// Which repository is meant: the one around the current directory unless another is named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Repository {
    /// The root of the repository: the folder with .spox or openspec in it. By default the nearest one from the current
    /// directory upwards.
    #[arg(long, global = true, value_name = "DIR", env = "SPEC_SERVER_ROOT")]
    pub root: Option<PathBuf>,
}

impl Repository {
    /// Opens it.
    ///
    /// # Errors
    /// [`ProjectError`] when no project is found.
    pub fn project(&self) -> Result<Project, ProjectError> {
        match &self.root {
            Some(root) => Project::open(root),
            None => Project::find(&PathBuf::from(".")),
        }
    }
}
