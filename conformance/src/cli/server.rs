//! The arguments that name a server, and what goes with each request to it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Contract, ContractError, Revision, Target, ToolCall};

/// One server, and what goes with each request to it.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    address: AddressArgs,
    #[command(flatten)]
    headers: HeaderArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct AddressArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The command that starts a server on stdin and stdout, quoted as in a shell. It may be started several times.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

/// How a server may be asked.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Use only this revision of the protocol, such as 2025-11-25. Repeatable. By default `check` uses every revision
    /// that the server supports, and `fuzz` the newest with sessions and the newest without.
    #[arg(long, value_name = "DATE")]
    pub(crate) revision: Vec<Revision>,
    /// Allow calls of this tool, although it is not annotated as read-only; with arguments if they cannot be made from
    /// its schema, such as 'add={"a":1,"b":2}'. Repeatable.
    #[arg(long, value_name = "TOOL[=ARGUMENTS]", value_parser = |text: &str| text.parse::<ToolCall>())]
    call: Vec<ToolCall>,
    /// Allow the calls in this file: lines such as {"name":"add","arguments":{"a":1,"b":2}}, or a transcript.
    #[arg(long, value_name = "FILE")]
    calls: Option<PathBuf>,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

impl AskArgs {
    /// The calls that are allowed by name.
    pub(crate) fn named(&self) -> Result<Vec<ToolCall>, BoxError> {
        let mut calls = self.call.clone();
        if let Some(path) = &self.calls {
            calls.extend(ToolCall::read(path)?);
        }
        Ok(calls)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

/// How a server is asked what it offers.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Read live servers in this revision of the protocol. Repeatable; of several, and by default of all, the newest
    /// that the server supports is used.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

impl ReadArgs {
    pub(crate) async fn contract(&self, target: Target) -> Result<Contract, ContractError> {
        let timeout = Duration::from_secs(self.timeout);
        Contract::of(target, &self.revision, timeout).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct HeaderArgs {
    /// Send this header with every request, such as "X-Tenant: a". Repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Send a bearer token with every request: the value of this environment variable.
    #[arg(long, value_name = "VARIABLE")]
    token_env: Option<String>,
}

impl ServerArgs {
    pub(crate) fn target(&self) -> Result<Target, BoxError> {
        let Some(url) = &self.address.url else {
            if !self.headers.is_empty() {
                return Err(
                    "--header and --token-env work only with --url: a server on stdin and stdout gets no HTTP headers"
                        .into(),
                );
            }
            return command(self.address.command.as_deref().unwrap_or_default());
        };
        self.headers.target(url)
    }

    pub(crate) fn headers(&self) -> &HeaderArgs {
        &self.headers
    }
}

impl HeaderArgs {
    fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.token_env.is_none()
    }

    /// The server at a URL, with these headers.
    pub(crate) fn target(&self, url: &str) -> Result<Target, BoxError> {
        self.apply(Target::url(url)?)
    }

    /// The same server, with another user's token in an environment variable.
    pub(crate) fn target_of_another(&self, url: &str, variable: &str) -> Result<Target, BoxError> {
        let token = |name: &str| env::var(name).ok();
        let own = self.token_env.as_deref().and_then(token);
        if own.is_some() && own == token(variable) {
            return Err(format!(
                "{variable} has the same token as --token-env; use the token of another user"
            )
            .into());
        }
        let names_a_caller = |header: &&String| {
            let name = header.split_once(':').map_or("", |(name, _)| name.trim());
            name.eq_ignore_ascii_case("authorization")
        };
        let other = Self {
            headers: self.headers.iter().filter(|it| !names_a_caller(it)).cloned().collect(),
            token_env: Some(variable.to_owned()),
        };
        other.target(url)
    }

    /// The target with these headers. Errors do not contain the values.
    pub(crate) fn apply(&self, mut target: Target) -> Result<Target, BoxError> {
        for header in &self.headers {
            let (name, value) = header
                .split_once(':')
                .ok_or("--header has no colon; one looks like \"X-Tenant: a\"")?;
            target = target.header(name.trim(), value.trim())?;
        }
        if let Some(name) = &self.token_env {
            let token = env::var(name)
                .map_err(|_| format!("the environment variable {name} for the token is not set"))?;
            target = target.header("authorization", &format!("Bearer {}", token.trim()))?;
        }
        Ok(target)
    }
}

/// The server that a command starts.
pub(crate) fn command(command: &str) -> Result<Target, BoxError> {
    let (program, arguments) = words(command)?;
    Ok(Target::command(program, arguments))
}

/// The program and the arguments in a command.
pub(crate) fn words(command: &str) -> Result<(String, Vec<OsString>), BoxError> {
    let words = shlex::split(command).unwrap_or_default();
    let mut words = words.into_iter();
    let program = words.next().ok_or("the command is empty or its quotes do not match")?;
    Ok((program, words.map(Into::into).collect()))
}
