//! The Unix socket of a data directory, by which other processes reach the server that holds it.
//!
//! The protocol there is MCP in lines, after a first line that is private to these processes and compared byte for
//! byte: one that [joins](join), one that [asks for the directory](ask_for_directory), one that asks for its
//! [care](care), or one that continues in [HTTP](rest).

pub(crate) mod wire;

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// The socket's name in the data directory.
pub const SOCKET: &str = "universe.sock";

/// The longest time that a working holder may take to answer a first line.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Connects to the server that holds the directory, and returns the stream once the server has accepted this process.
///
/// # Errors
/// The operating system's error, a refusal by the holder, or a timeout.
pub(crate) async fn join(dir: &Path) -> io::Result<UnixStream> {
    let mut stream = greet(dir, wire::JOIN).await?;
    wire::accepted(&mut stream, ANSWER_TIME).await?;
    Ok(stream)
}

/// Connects to the server that holds the directory, for a request about the care of the data. `None` if there is no
/// server.
///
/// # Errors
/// As for [`join`].
pub(crate) async fn care(dir: &Path) -> io::Result<Option<UnixStream>> {
    if_any(dir, wire::CARE).await
}

/// Connects to the server that holds the directory, for HTTP requests. `None` if there is no server.
///
/// # Errors
/// As for [`join`].
pub(crate) async fn rest(dir: &Path) -> io::Result<Option<UnixStream>> {
    if_any(dir, wire::REST).await
}

async fn if_any(dir: &Path, line: &[u8]) -> io::Result<Option<UnixStream>> {
    let mut stream = match greet(dir, line).await {
        Ok(stream) => stream,
        Err(error) if is_nobody(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    wire::accepted(&mut stream, ANSWER_TIME).await?;
    Ok(Some(stream))
}

/// Whether the error means that no server listens.
fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Asks the holder to release the directory and returns whether it will.
///
/// # Errors
/// No answer came in time.
pub(crate) async fn ask_for_directory(dir: &Path) -> io::Result<bool> {
    let mut stream = greet(dir, wire::HANDOVER).await?;
    match wire::accepted(&mut stream, ANSWER_TIME).await {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        Err(error) => Err(error),
    }
}

async fn greet(dir: &Path, line: &[u8]) -> io::Result<UnixStream> {
    let greeted = async {
        let mut stream = UnixStream::connect(dir.join(SOCKET)).await?;
        stream.write_all(line).await?;
        Ok(stream)
    };
    timeout(ANSWER_TIME, greeted).await?
}
