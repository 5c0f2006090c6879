//! A proxy around a server on stdio: what comes on stdin goes to the server, what it says goes to stdout.

use std::ffi::OsString;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use super::session::era_of;
use super::{Key, Recorder, Sender, modern};
use crate::child::{MAX_LINE, next_line, piped, too_long};
use crate::serving::BoxError;
use crate::transcript::Era;

/// Starts the server and passes lines both ways until one side ends; returns what the server exited with, if it did.
///
/// # Errors
///
/// The server cannot be started, or a line is longer than 16 MiB.
pub async fn around(
    program: &OsString,
    arguments: &[OsString],
    recorder: Recorder,
) -> Result<Option<i32>, BoxError> {
    let mut child = piped(program, arguments)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let input = child.stdin.take().ok_or("it has no stdin")?;
    let output = child.stdout.take().ok_or("it has no stdout")?;
    let outgoing =
        tokio::spawn(pass(output, tokio::io::stdout(), recorder.clone(), Sender::Server));
    // Once the client closes, so does the server's stdin, which asks it to end. A server that ends first does not wait
    // for the client.
    let incoming = tokio::spawn(pass(tokio::io::stdin(), input, recorder, Sender::Client));
    let passed = outgoing.await?;
    incoming.abort();
    passed?;
    Ok(child.wait().await?.code())
}

async fn pass(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    recorder: Recorder,
    side: Sender,
) -> Result<(), BoxError> {
    let mut from = BufReader::new(from);
    while let Some(line) = next_line(&mut from, MAX_LINE).await {
        if let Some(problem) = too_long(&line) {
            return Err(problem.into());
        }
        // Kept before it is passed on, so that an answer never stands before its request.
        if let Ok(message) = serde_json::from_slice::<Value>(&line) {
            keep(&recorder, side, message);
        }
        to.write_all(&line).await?;
        to.flush().await?;
    }
    Ok(())
}

/// A process serves one client, which may use both eras.
pub(super) fn keep(recorder: &Recorder, side: Sender, message: Value) {
    let legacy = Key::Sessionless;
    if side == Sender::Client {
        let (key, era) = match era_of(&message, None) {
            Era::Modern => (modern(&message), Era::Modern),
            Era::Legacy => (legacy, Era::Legacy),
        };
        recorder.with(&key, era, false, |session| session.client(&message, &Vec::new()));
    } else {
        recorder.server_message(message);
    }
}
