//! The arguments of a login.

use std::env;
use std::io::Write as _;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mcp_conformance::{BoxError, LoggedIn, Login, LoginError};

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Log in first, at the authorization server that the server names, and check the login too.
    #[arg(long, value_enum, value_name = "HOW", requires = "url", conflicts_with = "token_env")]
    login: Option<How>,
    /// The client to log in as. `browser` registers one if none is given.
    #[arg(long, value_name = "ID", requires = "login")]
    client_id: Option<String>,
    /// The environment variable with the secret of the client, for `client-credentials`.
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The scopes to ask for, with spaces between them. By default those that the server names.
    #[arg(long, value_name = "SCOPES", requires = "login")]
    scope: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// As a program, with --client-id and --client-secret-env.
    ClientCredentials,
    /// As a person: prints a URL to open in a browser.
    Browser,
}

impl LoginArgs {
    /// How to log in at this URL, if that is wanted.
    pub(super) fn at(&self, url: &str, timeout: Duration) -> Result<Option<Login>, BoxError> {
        let Some(how) = self.login else {
            return Ok(None);
        };
        let login = match (how, &self.client_id, &self.client_secret_env) {
            (How::Browser, id, None) => Login::browser(url, id.clone()),
            (How::ClientCredentials, Some(id), Some(variable)) => {
                let secret = env::var(variable)
                    .map_err(|_| format!("the environment variable {variable} is not set"))?;
                Login::client_credentials(url, id, &secret)
            }
            (How::Browser, ..) => {
                return Err("--client-secret-env is for --login client-credentials".into());
            }
            (How::ClientCredentials, ..) => {
                let needed = "--login client-credentials needs --client-id and --client-secret-env";
                return Err(needed.into());
            }
        };
        Ok(Some(login.scope(self.scope.clone()).timeout(timeout)))
    }
}

/// Logs in. The URL for a browser is printed on standard error.
pub(super) async fn log_in(login: Login) -> Result<LoggedIn, LoginError> {
    let show = |url: &str| {
        // If standard error is closed, the login ends at its time limit.
        let _ = writeln!(std::io::stderr(), "open this URL to log in:\n{url}");
    };
    login.run(show).await
}
