//! `record`: a proxy that keeps what it sees.

use std::ffi::OsString;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{
    BoxError, RecordedCalls, RecordedFile, Recorder, Revision, Target, ToolCall, around, proxy,
};
use tokio::net::TcpListener;

use super::Verdict;
use super::diff::unreachable;
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
    /// Record these calls, without a client: lines such as {"name":"add","arguments":{"a":1,"b":2}}, or a transcript.
    /// Arguments that are left out are made from the tool's schema.
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    calls: Option<PathBuf>,
    /// Make the calls in this revision of the protocol. Repeatable; of several, and by default of all, the newest that
    /// the server supports is used.
    #[arg(long, value_name = "DATE", requires = "calls")]
    revision: Vec<Revision>,
    /// Wait at most this many seconds for the answer to each call.
    #[arg(long, value_name = "SECONDS", default_value = "10", requires = "calls", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// The command that starts a server on stdin and stdout. The client uses stdin and stdout of this program.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl RecordArgs {
    pub(super) async fn run(&self, out: impl Write) -> Result<Verdict, BoxError> {
        let recorder = Recorder::new(&self.out, self.split)
            .map_err(|error| format!("cannot write to {}: {error}", self.out.display()))?;
        let mut verdict = Verdict::Holds;
        if let Some(calls) = &self.calls {
            match self.make(&ToolCall::read(calls)?, &recorder).await {
                Ok(made) => say(&told(&made)),
                Err(error) => return unreachable(error, out),
            }
        } else if let Some((program, arguments)) = self.command.split_first() {
            tokio::select! {
                ended = around(program, arguments, recorder.clone()) => if let Err(error) = ended {
                    say(&format!("mcp-conformance: {error}"));
                    verdict = Verdict::Unreachable;
                },
                () = super::interrupted() => {}
            }
        } else {
            let upstream = self.upstream()?;
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

    fn upstream(&self) -> Result<Target, BoxError> {
        self.headers.target(self.upstream.as_deref().ok_or("no server was given; use --upstream")?)
    }

    async fn make(&self, calls: &[ToolCall], to: &Recorder) -> Result<RecordedCalls, BoxError> {
        let timeout = Duration::from_secs(self.timeout);
        let target = match self.command.split_first() {
            Some((program, arguments)) => Target::command(program, arguments),
            None => self.upstream()?,
        };
        Ok(to.calls(target, calls, &self.revision, timeout).await?)
    }
}

/// What came of the calls.
fn told(made: &RecordedCalls) -> String {
    let mut text = format!("made {} calls in {}", made.made, made.revision);
    for name in &made.need_arguments {
        text.push_str(&format!("\n  not called: {name} needs arguments"));
    }
    for failed in &made.failed {
        text.push_str(&format!("\n  without a result: {failed}"));
    }
    text
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
