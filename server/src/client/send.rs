//! `send`

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Args;
use http::Method;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};
use tokio::sync::mpsc;

use super::connection::path_of;
use super::{ClientError, Common, Connection, Result};
use crate::commands::MAX_COMMANDS;
use crate::store::UniverseId;

/// An example of a command.
const EXAMPLE: &str = r#"{"type":"tick","dt":86400}"#;

/// The number of commands that are read ahead.
const AHEAD: usize = 16;

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// The universe's id.
    id: UniverseId,

    /// A command as JSON, such as '{"type":"tick","dt":86400}'; or a file with commands, - for stdin, one after
    /// another. An array of commands is applied as a whole or not at all.
    #[arg(required = true, value_name = "COMMAND|FILE|-")]
    commands: Vec<String>,

    /// Applies all commands or none of them; at most 1,000.
    #[arg(long)]
    atomic: bool,

    /// Only if the universe is at this revision and no other commands come in between.
    #[arg(long, value_name = "N")]
    expect: Option<u64>,

    /// An idempotency key: within 24 hours the same commands under the same key are applied once. The second command
    /// has KEY.2, and so on.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    #[command(flatten)]
    pub(super) common: Common,
}

/// A command, or the error in its place.
type SentText = Result<Box<RawValue>>;

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::open(&self.common, dir).await?;
        let sent = self.send(&mut connection).await;
        connection.close().await?;
        sent.map(|()| ExitCode::SUCCESS)
    }

    async fn send(&self, connection: &mut Connection) -> Result<()> {
        let mut given = read_all(self.commands.clone());
        if self.atomic {
            let mut commands = Vec::new();
            while let Some(command) = given.recv().await {
                commands.push(command?);
                if commands.len() > MAX_COMMANDS {
                    let problem = format!("--atomic takes at most {MAX_COMMANDS} commands");
                    return Err(ClientError::Given(problem));
                }
            }
            let body = serde_json::to_vec(&commands).map_err(io::Error::from)?;
            self.post(connection, body, self.expect, 1).await?;
            return Ok(());
        }
        let mut expect = self.expect;
        let mut number = 0;
        while let Some(command) = given.recv().await {
            number += 1;
            let body = command?.get().as_bytes().to_vec();
            let revision = self.post(connection, body, expect, number).await;
            let revision = revision.map_err(|error| match (error, number) {
                (ClientError::Refused { status, problem }, 2..) => ClientError::Refused {
                    status,
                    problem: format!("command {number}: {problem}; those before it are done"),
                },
                (error, _) => error,
            })?;
            expect = expect.and(revision);
        }
        Ok(())
    }

    /// Sends a body and prints the answer. Returns the new revision.
    async fn post(
        &self,
        connection: &mut Connection,
        body: Vec<u8>,
        expect: Option<u64>,
        number: usize,
    ) -> Result<Option<u64>> {
        let path = format!("{}/commands?result=changes", path_of(&self.id));
        let expect = expect.map(|revision| format!("\"{revision}\""));
        let key = self.key.as_ref().map(|key| match number {
            1 => key.clone(),
            number => format!("{key}.{number}"),
        });
        let headers = [("if-match", expect), ("idempotency-key", key)];
        let headers: Vec<_> =
            headers.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let reply = connection.ask(Method::POST, &path, &headers, Bytes::from(body)).await?;
        let answer: Value = connection.read(&reply.body)?;
        self.common.show(&answer, || describe(&answer))?;
        Ok(answer.get("revision").and_then(Value::as_u64))
    }
}

/// An answer in words.
fn describe(answer: &Value) -> String {
    let number = |member: &str| answer.get(member).cloned().unwrap_or_default();
    let mut line = format!("revision {}, time {} s", number("revision"), number("time"));
    let families = |at: &str| answer.pointer(at).and_then(Value::as_object).cloned();
    let mut names = Vec::new();
    for (family, entities) in families("/changes").unwrap_or_default() {
        if family == "removed" || family == "omitted" {
            continue;
        }
        for id in entities.as_object().into_iter().flatten().map(|(id, _)| id) {
            names.push(format!("{family}/{id}"));
        }
    }
    for (family, ids) in families("/changes/removed").unwrap_or_default() {
        for id in ids.as_array().into_iter().flatten().filter_map(Value::as_str) {
            names.push(format!("-{family}/{id}"));
        }
    }
    for (family, count) in families("/changes/omitted").unwrap_or_default() {
        names.push(format!("{count} more of {family}"));
    }
    if !names.is_empty() {
        line = format!("{line}; {}", names.join(", "));
    }
    let warnings = answer.get("warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten() {
        let text = |member: &str| warning.get(member).and_then(Value::as_str).unwrap_or("");
        line = format!("{line}\n  warning: {}: {}", text("path"), text("message"));
    }
    line
}

/// Reads the commands, a few ahead of their consumer, on a thread that may block.
fn read_all(sources: Vec<String>) -> mpsc::Receiver<SentText> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        for source in sources {
            let goes_on = match source.as_str() {
                "-" => read("stdin", io::stdin().lock(), &sender),
                text if text.trim_start().starts_with(['{', '[']) => {
                    read("the command", text.as_bytes(), &sender)
                }
                name => match File::open(name) {
                    Ok(file) => read(name, BufReader::new(file), &sender),
                    Err(error) => {
                        let problem = format!(
                            "{name:?} is not a command as JSON, such as {EXAMPLE}, and no file that can be read: {error}"
                        );
                        sender.blocking_send(Err(ClientError::Given(problem))).is_ok_and(|()| false)
                    }
                },
            };
            if !goes_on {
                return;
            }
        }
    });
    receiver
}

/// Reads one value after another. Returns whether to continue.
fn read(name: &str, source: impl Read, sender: &mpsc::Sender<SentText>) -> bool {
    for value in Deserializer::from_reader(source).into_iter::<Box<RawValue>>() {
        let given = value.map_err(|problem| {
            ClientError::Given(format!(
                "{name}: {problem}; commands as JSON were expected, such as {EXAMPLE}"
            ))
        });
        let is_wrong = given.is_err();
        if sender.blocking_send(given).is_err() || is_wrong {
            return false;
        }
    }
    true
}
