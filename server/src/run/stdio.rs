//! Serving MCP on stdin and stdout: over a store of its own, or through the server that holds the data directory.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use mcp_proto::stdio;
use tokio::io::{AsyncRead, ReadBuf, stdin, stdout};

use super::{RunError, join, open, share, stop_signal};
use crate::config::{Arguments, Config, StoreKind};
use crate::mcp;
use crate::store::sqlite::OpenError;

pub(super) async fn run(arguments: &Arguments, config: &Config) -> Result<(), RunError> {
    let input = UntilStopped {
        input: stdin(),
        stop: Some(Box::pin(stop_signal()?)),
    };
    let service = match open(arguments).await {
        Err(RunError::Open(OpenError::InUse { .. })) => {
            return join::run(arguments, config, input).await;
        }
        opened => opened?,
    };
    let server = mcp::server(service, None)?;
    let shared = match arguments.store {
        StoreKind::Embedded => share::start(&arguments.data_dir, server.clone(), config.stdio),
        StoreKind::Memory => None,
    };
    stdio::serve(server, input, stdout(), config.stdio).await?;
    drop(shared);
    Ok(())
}

/// An input that ends when the process is told to stop, so that running calls get the time they get at its end.
pub(super) struct UntilStopped<R> {
    input: R,
    /// `None` once it has resolved.
    stop: Option<BoxFuture<'static, ()>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilStopped<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let stopped = match &mut self.stop {
            Some(stop) => stop.as_mut().poll(context).is_ready(),
            None => true,
        };
        if stopped {
            self.stop = None;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.input).poll_read(context, buffer)
    }
}
