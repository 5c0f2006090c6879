//! The steps of the client with a server, in the order of the columns.

#[path = "lasting.rs"]
mod lasting;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, fs};

use mcp_proto_client::{CallOptions, Client, ClientError};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::Error;

/// Whether the server offers what a step is about; an error is a step that failed.
type Step = Result<bool, Error>;

/// The text that the model of this client returns, and that is written and echoed.
pub(crate) const SAID: &str = "moons and other small bodies";

const PROGRESS: &str = "trigger-long-running-operation";
/// How long a step may take, including everything that it waits for. `server-everything` sends a message every 5 s.
const LIMIT: Duration = Duration::from_secs(60);

/// A connected server.
pub(crate) struct Peer {
    client: Client,
    tools: BTreeSet<String>,
    root: PathBuf,
}

impl Peer {
    pub(crate) async fn new(client: Client, root: PathBuf) -> Result<Self, Error> {
        let tools = client.list_tools().await?.into_iter();
        let tools = tools.map(|tool| tool.name).collect();
        Ok(Self { client, tools, root })
    }

    /// All steps, in the order of the columns.
    pub(crate) async fn steps(&self) -> Vec<Step> {
        let steps: [Pin<Box<dyn Future<Output = Step> + '_>>; 12] = [
            Box::pin(self.list()),
            Box::pin(self.call()),
            Box::pin(self.progress()),
            Box::pin(self.updates()),
            Box::pin(self.list_changes()),
            Box::pin(self.log()),
            Box::pin(self.cancel()),
            Box::pin(self.task()),
            Box::pin(self.elicit()),
            Box::pin(self.sample()),
            Box::pin(self.roots()),
            Box::pin(self.close()),
        ];
        let mut outcomes = Vec::new();
        for step in steps {
            let outcome = timeout(LIMIT, step).await;
            outcomes.push(outcome.unwrap_or_else(|late| Err(late.into())));
        }
        outcomes
    }

    fn has(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    /// Calls the first of these tools that exists, and expects `expected` in its text.
    async fn says(&self, calls: &[(&str, Value)], expected: &str) -> Step {
        let Some((tool, arguments)) = calls.iter().find(|(tool, _)| self.has(tool)) else {
            return Ok(false);
        };
        let said = self.client.call_tool(tool, arguments.clone()).await?.text();
        check(said.contains(expected), &said)
    }

    async fn close(&self) -> Step {
        match self.client.close().await {
            Err(ClientError::Timeout(_)) => {
                Err("it did not end by itself, and ended when it was asked to".into())
            }
            closed => Ok(closed.map(|()| true)?),
        }
    }

    async fn list(&self) -> Step {
        let server = self.client.server().await?;
        if server.can("resources") {
            self.client.list_resource_templates().await?;
            for resource in self.client.list_resources().await?.iter().take(1) {
                let read = self.client.read_resource(&resource.uri).await?;
                check(!read.contents.is_empty(), "a resource without contents")?;
            }
        }
        if server.can("prompts") {
            self.client.list_prompts().await?;
        }
        check(!self.tools.is_empty(), "no tools")
    }

    async fn call(&self) -> Step {
        if !self.has("write_file") {
            return self.says(&[("echo", json!({ "message": SAID }))], SAID).await;
        }
        let path = self.root.join("said.txt");
        // The server asks for the roots by itself, and knows the folder some time after the handshake.
        self.roots().await?;
        let arguments = json!({ "path": path, "content": SAID });
        self.client.call_tool("write_file", arguments).await?;
        let written = fs::read_to_string(&path)?;
        check(written == SAID, &written)
    }

    async fn progress(&self) -> Step {
        let calls = [("count", json!({})), (PROGRESS, json!({ "duration": 1, "steps": 3 }))];
        let Some((tool, arguments)) = calls.into_iter().find(|(tool, _)| self.has(tool)) else {
            return Ok(false);
        };
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&recorded);
        let options = CallOptions::default().with_progress(move |report| {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).push(report.progress);
        });
        self.client.call_tool_with(tool, arguments, &options).await?;
        let recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
        check(*recorded == [1.0, 2.0, 3.0], &format!("reports {recorded:?}"))
    }

    /// Calls the tool until its answer has the expected text.
    async fn eventually(&self, tool: &str, expected: &str) -> Step {
        loop {
            let said = self.client.call_tool(tool, json!({})).await?.text();
            if said.contains(expected) {
                return Ok(true);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn elicit(&self) -> Step {
        let calls = [("ask", json!({})), ("trigger-elicitation-request", json!({}))];
        self.says(&calls, "Alice").await
    }

    async fn sample(&self) -> Step {
        let asked = json!({ "prompt": "Say something.", "maxTokens": 100 });
        self.says(&[("sample", json!({})), ("trigger-sampling-request", asked)], SAID).await
    }

    async fn roots(&self) -> Step {
        let tools = ["get-roots-list", "list_allowed_directories"];
        let Some(tool) = tools.into_iter().find(|tool| self.has(tool)) else {
            return Ok(false);
        };
        self.eventually(tool, &self.root.display().to_string()).await
    }
}

/// A step has succeeded, or something unexpected was seen.
fn check(is_so: bool, seen: &(impl fmt::Display + ?Sized)) -> Step {
    is_so.then_some(true).ok_or_else(|| format!("saw {seen:.200}").into())
}
