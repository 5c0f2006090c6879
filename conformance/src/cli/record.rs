//! `record`: a proxy that keeps what it sees.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::{BoxError, RecordedFile, Recorder, Target, around, proxy};
use tokio::net::TcpListener;

use super::Verdict;
use super::server::HeaderArgs;

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The URL of the MCP endpoint of the server to record, such as http://127.0.0.1:3001/mcp.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    upstream: Option<String>,
    /// The address on which clients reach the proxy; the path of its MCP endpoint is /mcp.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4001")]
    listen: SocketAddr,
    #[command(flatten)]
    headers: HeaderArgs,
    /// The directory for the transcripts; it is created if it does not exist.
    #[arg(long, value_name = "DIRECTORY", default_value = "transcripts")]
    out: PathBuf,
    /// Write a separate transcript for each request, with the earlier steps whose values it uses.
    #[arg(long)]
    split: bool,
    /// The command that starts a server on stdin and stdout. The client uses stdin and stdout of this program.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl RecordArgs {
    pub(super) async fn run(&self) -> Result<Verdict, BoxError> {
        let recorder = Recorder::new(&self.out, self.split)
            .map_err(|error| format!("cannot write to {}: {error}", self.out.display()))?;
        let mut verdict = Verdict::Holds;
        if let Some((program, arguments)) = self.command.split_first() {
            tokio::select! {
                ended = around(program, arguments, recorder.clone()) => if let Err(error) = ended {
                    say(&format!("mcp-conformance: {error}"));
                    verdict = Verdict::Unreachable;
                },
                () = super::interrupted() => {}
            }
        } else {
            let upstream =
                self.headers.apply(Target::url(self.upstream.as_deref().unwrap_or_default())?)?;
            let listener = TcpListener::bind(self.listen)
                .await
                .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
            say(&format!("recording {upstream} at http://{}/mcp", listener.local_addr()?));
            tokio::select! {
                ended = proxy(listener, upstream, recorder.clone()) => ended?,
                () = super::interrupted() => {}
            }
        }
        for file in recorder.finish()? {
            say(&summary(&file));
        }
        match recorder.left_out() {
            0 => {}
            messages => say(&format!(
                "{messages} messages were left out: their sessions began before the recording, or a limit was reached"
            )),
        }
        Ok(verdict)
    }
}

/// What was written, and where it accepts more than what was recorded.
pub(super) fn summary(file: &RecordedFile) -> String {
    let mut text = format!("wrote {} ({} steps)", file.path.display(), file.steps);
    for loosened in &file.loosened {
        text.push_str(&format!(
            "\n  line {}, {}: not compared exactly ({})",
            loosened.line, loosened.path, loosened.reason
        ));
    }
    for left in &file.left_out {
        text.push_str(&format!("\n  left out: {left}"));
    }
    text
}

/// On stderr: stdout may be the server's.
fn say(text: &str) {
    // Nothing is left to be done if it is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}
