//! Calls that are recorded without a client: a session is opened, its lists are read, and the calls are made.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::proxy::through;
use super::stdio::keep;
use super::{Recorder, Sender};
use crate::calls::ToolCall;
use crate::contract::{ContractError, opened};
use crate::probe::{Bench, Endpoint, Log, Revision};
use crate::sample;
use crate::target::Target;

/// What came of calls that were made for a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCalls {
    /// The revision that was used.
    pub revision: Revision,
    /// How many calls were made.
    pub made: usize,
    /// The tools that were not called: their arguments were not given, and cannot be made from their schema.
    pub need_arguments: Vec<String>,
    /// The calls that got no result, each with what came instead.
    pub failed: Vec<String>,
}

impl Recorder {
    /// Records these calls of a server, and its lists, in the newest of these revisions that it supports (of all if
    /// there are none). Each answer may take as long as `timeout`. A program is started once for each revision that is
    /// tried, and once for the calls.
    ///
    /// # Errors
    /// [`ContractError::Target`], also for a tool that the server does not have; [`ContractError::Revision`].
    pub async fn calls(
        &self,
        target: Target,
        calls: &[ToolCall],
        revisions: &[Revision],
        timeout: Duration,
    ) -> Result<RecordedCalls, ContractError> {
        let endpoint = Endpoint::from(target);
        let mut found = opened(&endpoint, revisions, timeout).await?;
        found.look(&[]).await;
        let known = found.has_tools(calls);
        found.end().await;
        known?;
        // What was tried to find the revision is not recorded.
        let watched = match &endpoint {
            Endpoint::Http(upstream) => Endpoint::Http(through(upstream.clone(), self.clone())),
            program => program.clone(),
        };
        let mut bench = Bench::new(watched, found.revision, timeout);
        let log = Arc::new(Log::default());
        bench.log = Some(log.clone());
        let mut recorded = RecordedCalls {
            revision: found.revision,
            made: 0,
            need_arguments: Vec::new(),
            failed: Vec::new(),
        };
        bench.learn(&[]).await;
        for call in calls {
            recorded.call(&mut bench, call).await;
        }
        // The end of a session is not recorded either: a recording is for both transports.
        let mut unwatched = Bench::new(endpoint, found.revision, timeout);
        unwatched.join(bench.session().map(str::to_owned));
        unwatched.end().await;
        bench.join(None);
        bench.end().await;
        if !bench.endpoint.is_http() {
            self.take_over(&log);
        }
        Ok(recorded)
    }

    /// Takes over what went to and from a program.
    fn take_over(&self, log: &Log) {
        let logged = log.read();
        for line in logged.talks.iter().flat_map(|talk| &talk.lines) {
            let sender = if line.is_sent { Sender::Client } else { Sender::Server };
            for message in line.messages.iter().flatten() {
                keep(self, sender, message.clone());
            }
        }
        if logged.is_cut {
            self.stray();
        }
    }
}

impl RecordedCalls {
    async fn call(&mut self, bench: &mut Bench, call: &ToolCall) {
        let arguments = call.arguments.clone().or_else(|| made(bench, &call.name));
        let Some(arguments) = arguments else {
            self.need_arguments.push(call.name.clone());
            return;
        };
        self.made += 1;
        let params = json!({"name": call.name, "arguments": arguments});
        let exchange = bench.ask("tools/call", params).await;
        if exchange.result().is_none() {
            self.failed.push(format!("{call}: {}", exchange.outcome()));
        }
    }
}

/// Arguments that the schema of a tool takes.
fn made(bench: &Bench, name: &str) -> Option<Value> {
    let tool = bench.items("tools/list").iter().find(|it| it.get("name") == Some(&json!(name)))?;
    let uri = bench.items("resources/list").first().and_then(|it| it.get("uri"));
    sample::arguments(tool.get("inputSchema")?, uri)
}
