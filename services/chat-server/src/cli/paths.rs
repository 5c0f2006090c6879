//! Where configuration and index are (XDG base directories).

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{Asked, CliError};
use crate::chat_service::{ChatService, Failure, Mode};
use crate::config::Config;
use crate::index::{Index, Options};

/// A configuration to begin with.
const MINIMAL: &str = "\
[[source]]
id = \"whatsapp\"
kind = \"whatsapp-export\"
path = \"~/chats/WhatsApp Chat with Ann.zip\"";

/// Where configuration and index are.
#[derive(Debug, Clone, Args)]
pub(super) struct Paths {
    /// The configuration; by default $XDG_CONFIG_HOME/chat-server/config.toml, which is
    /// ~/.config/chat-server/config.toml.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where the index is kept; by default what the configuration says, or $XDG_DATA_HOME/chat-server, which is
    /// ~/.local/share/chat-server.
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Paths {
    /// The file of the configuration.
    pub(super) fn file(&self) -> Result<PathBuf, CliError> {
        match &self.config {
            Some(file) => Ok(file.clone()),
            None => Ok(directory("XDG_CONFIG_HOME", ".config")?.join("config.toml")),
        }
    }

    /// The configuration.
    pub(super) fn config(&self) -> Result<Config, CliError> {
        let file = self.file()?;
        if !file.exists() {
            return Err(format!(
                "there is no configuration at {}: `chat-server import FILE` creates one from an export; or write one there, or name \
                 another with --config. A minimal one:\n\n\
                 {MINIMAL}\n",
                file.display()
            )
            .into());
        }
        Ok(Config::read(&file)?)
    }

    /// The chat service with the privacy rules of the configuration.
    pub(super) async fn open(&self, mode: Mode) -> Result<ChatService, CliError> {
        self.open_with(&self.config()?, mode).await
    }

    /// The same, with another configuration.
    pub(super) async fn open_with(
        &self,
        config: &Config,
        mode: Mode,
    ) -> Result<ChatService, CliError> {
        let dir = match self.data_dir.as_ref().or(config.data_dir.as_ref()) {
            Some(dir) => dir.clone(),
            None => directory("XDG_DATA_HOME", ".local/share")?,
        };
        let open = move || Index::open(&dir, Options::default());
        let index = tokio::task::spawn_blocking(open).await??;
        let service = ChatService::new(config, index, mode);
        service.recall().await;
        Ok(service)
    }

    /// The answer of the stored chats to a question.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&ChatService) -> Result<T, Failure>,
    ) -> Result<T, CliError> {
        let service = self.open(Mode::Reads).await?;
        let answer = question(&service).await;
        close(&service).await;
        Ok(answer.map_err(Asked)?)
    }
}

/// Commits queued batches and closes the index.
pub(super) async fn close(service: &ChatService) {
    let index = service.index().clone();
    // Closing logs its own errors.
    let _ = tokio::task::spawn_blocking(move || index.close()).await;
}

/// The program's folder in one of the user's standard directories. A path that is not absolute is ignored.
fn directory(variable: &str, below_home: &str) -> Result<PathBuf, CliError> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    let base = match set.filter(|dir| dir.is_absolute()) {
        Some(dir) => dir,
        None => std::env::home_dir()
            .filter(|home| !home.as_os_str().is_empty())
            .map(|home| home.join(Path::new(below_home)))
            .ok_or_else(|| format!("there is no home directory: set HOME or {variable}"))?,
    };
    Ok(base.join("chat-server"))
}
