//! Joining the server that holds the data directory, and taking its place when it ends.
//!
//! A desktop client starts a server process of its own. The first one holds the directory; the others relay their lines
//! to it. When it ends, because its client was closed, one of the others becomes the holder and the rest relay to that
//! one. Their clients notice nothing but an error for what was running at that moment: the handshake is repeated for
//! them.

mod lines;

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, Stdout, stdout};
use tokio::time::Instant;

use super::{RunError, open, share};
use crate::config::{Arguments, Config};
use crate::mcp;
use crate::store::sqlite::OpenError;
use lines::{Line, Lines, lines, write_line};

/// How long to look for a holder that answers: one may be starting or ending just now.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// The most running requests that are remembered; when the holder ends, they are told so.
const MAX_REMEMBERED: usize = 1_024;

/// The longest answer that is passed on, in bytes. A state is told twice in one, once with its quotes escaped.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// Which side of a relay ended.
enum End {
    /// The client has no more to say.
    Client,
    /// The holder is gone.
    Holder,
}

/// What of a JSON-RPC message a relay looks at.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// `notifications/cancelled`, as far as a relay looks at it.
#[derive(Deserialize)]
struct Cancelled {
    params: CancelledParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: Value,
}

/// The client's side, which outlives every holder.
struct Client<R> {
    lines: Lines<R>,
    output: Stdout,
    /// The client's `initialize` and `notifications/initialized`, to be repeated to the next holder.
    handshake: [Option<Bytes>; 2],
    /// The ids, as JSON text, of requests without an answer.
    running: HashSet<String>,
    max_line_bytes: usize,
}

/// Relays until the client ends.
pub(super) async fn run<R>(arguments: &Arguments, config: &Config, input: R) -> Result<(), RunError>
where
    R: AsyncRead + Unpin,
{
    let max_line_bytes = config.stdio.max_line_bytes;
    let mut client = Client {
        lines: lines(input, max_line_bytes),
        output: stdout(),
        handshake: [None, None],
        running: HashSet::new(),
        max_line_bytes,
    };
    let mut patience = Instant::now() + PATIENCE;
    loop {
        match share::connect(&arguments.data_dir).await {
            Ok(stream) => {
                tracing::info!(dir = %arguments.data_dir.display(), "joined the server that holds the data directory");
                let (reader, writer) = stream.into_split();
                match client.relay(reader, writer).await? {
                    End::Client => return Ok(()),
                    End::Holder => patience = Instant::now() + PATIENCE,
                }
            }
            Err(error) if Instant::now() > patience => {
                return Err(RunError::Join {
                    dir: arguments.data_dir.display().to_string(),
                    socket: share::SOCKET.to_owned(),
                    error,
                });
            }
            Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
        }
        match open(arguments).await {
            Ok(service) => {
                tracing::info!(dir = %arguments.data_dir.display(), "took over the data directory");
                let server = mcp::server(service, None)?;
                let _shared = share::start(&arguments.data_dir, server.clone(), config.stdio);
                let (near, far) = tokio::io::duplex(64 * 1024);
                let (reader, writer) = tokio::io::split(far);
                let serving = tokio::spawn(mcp_proto::stdio::serve(
                    server,
                    reader,
                    writer,
                    config.stdio,
                ));
                let (reader, writer) = tokio::io::split(near);
                client.relay(reader, writer).await?;
                serving.abort();
                return Ok(());
            }
            // Somebody else was quicker, or the holder lives on.
            Err(RunError::Open(OpenError::InUse { .. })) => {}
            Err(error) => return Err(error),
        }
    }
}

impl<R: AsyncRead + Unpin> Client<R> {
    /// Passes lines both ways until one side ends.
    async fn relay(
        &mut self,
        reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> Result<End, RunError> {
        let mut answers = lines(reader, MAX_ANSWER_BYTES);
        let end = if self
            .repeat_handshake(&mut answers, &mut writer)
            .await
            .is_ok()
        {
            self.pass(&mut answers, &mut writer).await?
        } else {
            End::Holder
        };
        if matches!(end, End::Holder) {
            self.tell_running().await?;
        }
        Ok(end)
    }

    async fn pass(
        &mut self,
        answers: &mut Lines<impl AsyncRead + Unpin>,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Result<End, RunError> {
        loop {
            tokio::select! {
                answer = answers.next() => match answer {
                    Some(Ok(Line::Text(line))) => {
                        self.answered(&line);
                        write_line(&mut self.output, &line).await?;
                    }
                    Some(Ok(Line::TooLong) | Err(_)) | None => return Ok(End::Holder),
                },
                asked = self.lines.next() => match asked {
                    Some(Ok(Line::Text(line))) => {
                        self.asked(&line);
                        if write_line(writer, &line).await.is_err() {
                            return Ok(End::Holder);
                        }
                    }
                    Some(Ok(Line::TooLong)) => self.tell_too_long().await?,
                    Some(Err(error)) => return Err(error.into()),
                    None => {
                        // The holder lets what is running finish, and then ends the stream.
                        let _gone = writer.shutdown().await;
                        while let Some(Ok(Line::Text(line))) = answers.next().await {
                            write_line(&mut self.output, &line).await?;
                        }
                        return Ok(End::Client);
                    }
                },
            }
        }
    }

    /// Introduces the client to a new holder as it introduced itself to the first; it has had its answer.
    async fn repeat_handshake(
        &self,
        answers: &mut Lines<impl AsyncRead + Unpin>,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), std::io::Error> {
        let [Some(initialize), initialized] = &self.handshake else {
            return Ok(());
        };
        let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        write_line(writer, initialize).await?;
        answers.next().await.ok_or_else(gone)?.map_err(|_| gone())?;
        match initialized {
            Some(initialized) => write_line(writer, initialized).await,
            None => Ok(()),
        }
    }

    fn asked(&mut self, line: &Bytes) {
        let Ok(envelope) = serde_json::from_slice::<Envelope>(line) else {
            return;
        };
        match envelope.method.as_deref() {
            Some("initialize") => self.handshake = [Some(line.clone()), None],
            Some("notifications/initialized") => self.handshake[1] = Some(line.clone()),
            Some("notifications/cancelled") => {
                // It gets no answer any more.
                if let Ok(cancelled) = serde_json::from_slice::<Cancelled>(line) {
                    self.running
                        .remove(&cancelled.params.request_id.to_string());
                }
            }
            _ => {}
        }
        if let (Some(id), Some(_)) = (envelope.id, envelope.method)
            && self.running.len() < MAX_REMEMBERED
        {
            self.running.insert(id.to_string());
        }
    }

    fn answered(&mut self, line: &[u8]) {
        let Ok(envelope) = serde_json::from_slice::<Envelope>(line) else {
            return;
        };
        if let (Some(id), None) = (envelope.id, envelope.method) {
            self.running.remove(&id.to_string());
        }
    }

    async fn tell_too_long(&mut self) -> Result<(), RunError> {
        let max = self.max_line_bytes;
        tracing::warn!(max, "a line was longer than allowed and was dropped");
        let message = format!("the line is longer than {max} bytes");
        let line =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": message}});
        write_line(&mut self.output, line.to_string().as_bytes()).await?;
        Ok(())
    }

    /// The holder went with these requests unanswered: whether they were done, nobody here knows.
    async fn tell_running(&mut self) -> Result<(), RunError> {
        for id in std::mem::take(&mut self.running) {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"the server process that \
                 held the universes ended before it answered; read the universe to see whether the request was \
                 done, and send it again if not\"}}}}"
            );
            write_line(&mut self.output, line.as_bytes()).await?;
        }
        Ok(())
    }
}
