//! A pipe or a Unix socket that this process was started with, read and written by the runtime.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;

/// A duplicate of an open descriptor; non-blocking until it is dropped.
#[derive(Debug)]
pub(super) struct Descriptor(Option<Kind>);

#[derive(Debug)]
enum Kind {
    Reading(pipe::Receiver),
    Writing(pipe::Sender),
    Socket(UnixStream),
}

impl Descriptor {
    /// A descriptor to read from. `None` for anything but a pipe or a Unix socket, and outside of a runtime.
    pub(super) fn reading(open: &impl AsFd) -> Option<Self> {
        Self::open(open, |pipe| pipe::Receiver::from_owned_fd(pipe).map(Kind::Reading))
    }

    /// A descriptor to write to, under the same conditions.
    pub(super) fn writing(open: &impl AsFd) -> Option<Self> {
        Self::open(open, |pipe| pipe::Sender::from_owned_fd(pipe).map(Kind::Writing))
    }

    fn open(open: &impl AsFd, pipe: impl FnOnce(OwnedFd) -> io::Result<Kind>) -> Option<Self> {
        Handle::try_current().ok()?;
        let (file, metadata) = look(open).ok()?;
        // On a non-blocking stderr, lines of the log would be lost when it accepts none at once.
        let is_log = look(&io::stderr())
            .is_ok_and(|(_, log)| (log.dev(), log.ino()) == (metadata.dev(), metadata.ino()));
        let kind = metadata.file_type();
        let direct = match (kind.is_fifo(), kind.is_socket()) {
            _ if is_log => return None,
            (true, _) => pipe(file.into()),
            (_, true) => socket(file.into()),
            _ => return None,
        };
        direct.ok().map(|kind| Self(Some(kind)))
    }
}

/// A duplicate of a descriptor, and its metadata.
fn look(open: &impl AsFd) -> io::Result<(File, Metadata)> {
    let file = File::from(open.as_fd().try_clone_to_owned()?);
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

fn socket(descriptor: OwnedFd) -> io::Result<Kind> {
    let stream = StdStream::from(descriptor);
    // Fails for a socket of another family.
    stream.peer_addr()?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream).map(Kind::Socket)
}

impl Drop for Descriptor {
    /// Other users of the descriptor expect it to block.
    fn drop(&mut self) {
        let blocking = match self.0.take() {
            Some(Kind::Reading(pipe)) => pipe.into_blocking_fd().map(drop),
            Some(Kind::Writing(pipe)) => pipe.into_blocking_fd().map(drop),
            Some(Kind::Socket(stream)) => {
                stream.into_std().and_then(|stream| stream.set_nonblocking(false))
            }
            None => Ok(()),
        };
        if let Err(error) = blocking {
            tracing::debug!(%error, "a descriptor stays non-blocking");
        }
    }
}

impl AsyncRead for Descriptor {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Some(Kind::Reading(pipe)) => Pin::new(pipe).poll_read(context, buffer),
            Some(Kind::Socket(stream)) => Pin::new(stream).poll_read(context, buffer),
            // This process never reads from a pipe that it writes to.
            Some(Kind::Writing(_)) | None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Descriptor {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(Kind::Writing(pipe)) => Pin::new(pipe).poll_write(context, bytes),
            Some(Kind::Socket(stream)) => Pin::new(stream).poll_write(context, bytes),
            Some(Kind::Reading(_)) | None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
