//! The arguments that name a server, and what goes with each request to it.

use std::env;

use clap::Args;
use mcp_conformance::{BoxError, Target};

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    headers: HeaderArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PlaceArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp. Without a path, transcripts say where the
    /// endpoint is.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A server on pipes: its program and arguments, quoted as in a shell. It is started for each transcript and era, and
    /// again for each `initialize`; what transcripts say of HTTP itself fails.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HeaderArgs {
    /// A header to send with every request, such as "X-Tenant: a". May be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Send the value of this environment variable as the bearer token.
    #[arg(long, value_name = "VARIABLE")]
    token_env: Option<String>,
}

impl ServerArgs {
    pub(crate) fn target(&self) -> Result<Target, BoxError> {
        match (&self.place.url, &self.place.command) {
            (Some(url), _) => self.headers.apply(Target::url(url)?),
            (None, command) => {
                if !self.headers.is_empty() {
                    return Err("a server on pipes gets no headers; give --header and --token-env with --url".into());
                }
                let words = command.as_deref().and_then(shlex::split);
                let mut words = words
                    .ok_or("--command has a quote that does not end")?
                    .into_iter();
                let program = words.next().ok_or("--command names no program")?;
                Ok(Target::command(program, words))
            }
        }
    }
}

impl HeaderArgs {
    pub(crate) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.token_env.is_none()
    }

    /// The target with these headers. What is wrong is said without the values.
    pub(crate) fn apply(&self, mut target: Target) -> Result<Target, BoxError> {
        for header in &self.headers {
            let (name, value) = header
                .split_once(':')
                .ok_or("--header has no colon; one looks like \"X-Tenant: a\"")?;
            target = target.header(name.trim(), value.trim())?;
        }
        if let Some(name) = &self.token_env {
            let token = env::var(name)
                .map_err(|_| format!("--token-env: there is no environment variable {name}"))?;
            target = target.header("authorization", &format!("Bearer {}", token.trim()))?;
        }
        Ok(target)
    }
}
