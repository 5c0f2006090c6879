//! The chat server on the exports below `services/chat-server/tests/fixtures`.

use std::ffi::OsString;
use std::path::Path;

use crate::process::Server;
use crate::{Result, root, target};

/// A server that transcripts need, or clients are turned on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chat {
    /// As transcripts call it; `None` for the one that any will do for.
    pub(crate) fixture: Option<&'static str>,
    config: &'static str,
}

/// All of them; the first is the one without anything special.
pub(crate) const SERVERS: [Chat; 2] = [
    Chat {
        fixture: None,
        config: "chats.toml",
    },
    Chat {
        fixture: Some("telegram-only"),
        config: "telegram-only.toml",
    },
];

impl Chat {
    /// What it is started with, before the choice of a transport. Each index has one process that writes, so each
    /// transport has its own, named by `data`.
    pub(crate) fn arguments(&self, data: &str) -> Vec<OsString> {
        let fixtures = root().join("services/chat-server/tests/fixtures");
        let data = target()
            .join("chat")
            .join(format!("{data}-{}", self.config));
        vec![
            "mcp".into(),
            "--config".into(),
            fixtures.join(self.config).into(),
            "--data-dir".into(),
            data.into(),
        ]
    }

    /// Starts it on a port of its own choice.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub(crate) fn start(&self, binary: &Path) -> Result<Server> {
        let mut arguments = self.arguments("http");
        arguments.extend(["--listen", "127.0.0.1:0"].map(OsString::from));
        Server::start(binary, &arguments)
    }
}
