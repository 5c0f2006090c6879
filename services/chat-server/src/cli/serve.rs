//! `chat-server mcp`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use service_host::{EndpointArgs, Host, log_to_stderr, stop_signal};
use tokio_util::sync::CancellationToken;

use super::PROGRAM;
use super::error::CliError;
use super::paths::{Paths, close};
use crate::chat_service::Mode;
use crate::mcp;

/// How long a connection may take to send a request.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// How long running requests may continue after the signal, or after the client has closed its input.
const DRAIN: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    endpoint: EndpointArgs,
}

impl ServeArgs {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        if self.endpoint.is_open() {
            return Err("other machines can reach that address: say who may call, with a file of tokens (--token-file \
                        or --auth-token-file), an authorization server (--oauth-issuer), or --allow-anyone, or listen \
                        on a loopback address"
                .into());
        }
        log_to_stderr("warn");
        let stop = stop_signal()?;
        let service = paths.open(Mode::Runs).await?;
        let server = mcp::server(service.clone())?;
        // The sources continue until the last request is answered.
        let over = CancellationToken::new();
        let sources = tokio::spawn({
            let (service, over) = (service.clone(), over.clone());
            async move { service.run(&over).await }
        });
        let served = host().run(server, &self.endpoint, PROGRAM, stop).await;
        over.cancel();
        if tokio::time::timeout(DRAIN, sources).await.is_err() {
            tracing::warn!("a source did not stop in time");
        }
        close(&service).await;
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The bounds under which `chat-server mcp` serves: 30 s for a connection to send a request, at most
/// [`mcp::MAX_REQUESTS`] requests at once, 5 s for running requests at the end.
pub fn host() -> Host {
    let mut host = Host::default();
    host.http.budget.calls =
        mcp_proto::budget::Bound { total: mcp::MAX_REQUESTS, share: mcp::MAX_REQUESTS };
    host.http.body_timeout = CONNECTION_TIMEOUT;
    host.serve.header_timeout = CONNECTION_TIMEOUT;
    host.serve.shutdown_deadline = DRAIN;
    host.stdio.max_calls = mcp::MAX_REQUESTS;
    host.stdio.drain_time = DRAIN;
    host
}
