//! Commands of the program other than serving.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

use crate::{care, client};

/// A verb.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum Verb {
    /// What people do with universes.
    #[command(flatten)]
    Client(Box<client::Verb>),
    /// Care of the data.
    #[command(flatten)]
    Care(care::Verb),
    /// Shows the value of every option and its source: a flag, the environment, the file or the default.
    CheckConfig {
        /// Writes JSON instead of text for people.
        #[arg(long)]
        json: bool,
    },
    /// Writes the completions of a shell to stdout.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the manual page to stdout, or into a directory with a page for each verb.
    Man {
        /// The directory.
        dir: Option<PathBuf>,
    },
}
