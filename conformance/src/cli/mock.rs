//! `mock`: a server that answers what was recorded.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::{BoxError, Mock};
use tokio::io::BufReader;
use tokio::net::TcpListener;

use super::Verdict;

#[derive(Debug, Args)]
pub(crate) struct MockArgs {
    /// Transcripts, or directories with them.
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// The address on which clients reach the server; the path of its MCP endpoint is /mcp.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4002")]
    listen: SocketAddr,
    /// Answer on stdin and stdout instead.
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
}

impl MockArgs {
    pub(super) async fn run(&self) -> Result<Verdict, BoxError> {
        let mock = Mock::read(&self.paths)?;
        if self.stdio {
            mock.lines(BufReader::new(tokio::io::stdin()), tokio::io::stdout()).await?;
            return Ok(Verdict::Holds);
        }
        let listener = TcpListener::bind(self.listen)
            .await
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        let (count, address) = (mock.len(), listener.local_addr()?);
        // Nothing is left to be done if stderr is closed.
        let _ =
            writeln!(std::io::stderr(), "serving {count} recorded answers at http://{address}/mcp");
        tokio::select! {
            ended = mock.serve(listener) => ended?,
            () = super::interrupted() => {}
        }
        Ok(Verdict::Holds)
    }
}
