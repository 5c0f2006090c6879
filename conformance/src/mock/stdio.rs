//! The mock server on stdin and stdout.

use std::collections::BTreeMap;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};

use super::recording::Used;
use super::{Mock, Reply, read};
use crate::child::{MAX_LINE, next_line};
use crate::record::era_of;
use crate::transcript::Era;

impl Mock {
    /// Answers the lines of `input` on `output` until `input` ends. A line has at most
    /// [`MAX_EVENT_BYTES`](crate::sse::MAX_EVENT_BYTES).
    ///
    /// # Errors
    ///
    /// `output` cannot be written.
    pub async fn lines(
        &self,
        mut input: impl AsyncBufRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> std::io::Result<()> {
        let mut asked: BTreeMap<Era, Used> = BTreeMap::new();
        while let Some(line) = next_line(&mut input, MAX_LINE).await {
            let reply = match read(&line) {
                _ if line.trim_ascii().is_empty() => continue,
                Err(error) => Reply::of(400, error),
                Ok(message) if message.get("method").is_none() || message.get("id").is_none() => {
                    continue;
                }
                Ok(message) => {
                    let era = era_of(&message, None);
                    if message.get("method").is_some_and(|it| it == "initialize") {
                        asked.remove(&era);
                    }
                    self.reply(era, asked.entry(era).or_default(), &message)
                }
            };
            for message in reply.before.iter().chain(&reply.answer) {
                output.write_all(format!("{message}\n").as_bytes()).await?;
            }
            output.flush().await?;
        }
        Ok(())
    }
}
