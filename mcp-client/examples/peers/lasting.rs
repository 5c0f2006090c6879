//! The steps that take a while: notifications of changes, logs, cancelled calls, tasks.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::LogLevel;
use mcp_proto_client::{CallOptions, Interest, ListenEvent, Started};
use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::{Peer, Step, check};
use crate::Error;

const COUNTER: &str = "peer://counter";
const RESEARCH: &str = "simulate-research-query";

/// How long a task is to be kept.
const TTL: Duration = Duration::from_secs(10);

impl Peer {
    pub(super) async fn updates(&self) -> Step {
        let first = self.client.list_resources().await.unwrap_or_default();
        let (tool, uri, times) = match first.first() {
            Some(_) if self.has("touch") => ("touch", COUNTER.to_owned(), 5),
            Some(first) if self.has("toggle-subscriber-updates") => {
                ("toggle-subscriber-updates", first.uri.clone(), 2)
            }
            _ => return Ok(false),
        };
        let mut listening = self.client.listen(Interest::new().resource(&uri)).await?;
        let said = self.client.call_tool(tool, json!({})).await?.text();
        for time in 1..=times {
            match listening.next().await {
                Some(ListenEvent::Notification(sent))
                    if sent.params.get("uri") == Some(&json!(uri)) => {}
                other => return Err(format!("received {other:?} as number {time}").into()),
            }
        }
        if tool == "touch" {
            let read = self.client.request("resources/read", json!({ "uri": uri })).await?;
            return check(
                read.pointer("/contents/0/text") == Some(&json!(said)),
                &read.to_string(),
            );
        }
        self.client.call_tool(tool, json!({})).await?;
        Ok(true)
    }

    pub(super) async fn list_changes(&self) -> Step {
        if !self.has("grow") {
            return Ok(false);
        }
        let before = self.client.list_tools().await?.len();
        let mut listening = self.client.listen(Interest::new().tools()).await?;
        self.client.call_tool("grow", json!({})).await?;
        let received = listening.next().await;
        let after = self.client.list_tools().await?.len();
        let is_sent = matches!(&received, Some(ListenEvent::Notification(sent)) if sent.method == "notifications/tools/list_changed");
        check(is_sent && after == before + 1, &format!("{before} and {after} tools, {received:?}"))
    }

    pub(super) async fn log(&self) -> Step {
        let tools = ["log", "toggle-simulated-logging"];
        let Some(tool) = tools.into_iter().find(|tool| self.has(tool)) else {
            return Ok(false);
        };
        match self.client.set_log_level(LogLevel::Debug).await {
            // FastMCP 1 does not support levels and logs everything.
            Err(error) if error.code() == Some(-32601) => {}
            set => set?,
        }
        let mut sent = self.client.notifications();
        self.client.call_tool(tool, json!({})).await?;
        loop {
            match sent.recv().await {
                Ok(sent) if sent.method == "notifications/message" => break,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(closed) => return Err(closed.into()),
            }
        }
        if tool != "log" {
            self.client.call_tool(tool, json!({})).await?;
        }
        Ok(true)
    }

    pub(super) async fn cancel(&self) -> Step {
        if self.has(RESEARCH) {
            let Started::Task(task) = self.research(false).await? else {
                return Ok(false);
            };
            task.cancel().await?;
            let status = task.status().await?.status;
            return check(status == "cancelled", &status);
        }
        if !self.has("slow") {
            return Ok(false);
        }
        let count = self.client.call_tool("cancelled", json!({})).await?.text();
        let expected = (count.parse::<u64>()? + 1).to_string();
        let running = Arc::new(Notify::new());
        let begun = Arc::clone(&running);
        let options = CallOptions::default().with_progress(move |_| begun.notify_one());
        tokio::select! {
            done = self.client.call_tool_with("slow", json!({}), &options) => {
                return Err(format!("it was over: {done:?}").into());
            }
            // The call is dropped here, while it runs.
            () = running.notified() => {}
        }
        self.eventually("cancelled", &expected).await
    }

    async fn research(&self, is_ambiguous: bool) -> Result<Started, Error> {
        let arguments = json!({ "topic": "python", "ambiguous": is_ambiguous });
        Ok(self.client.start_tool(RESEARCH, arguments, Some(TTL)).await?)
    }

    pub(super) async fn task(&self) -> Step {
        let (started, expected) = match (self.has("work"), self.has(RESEARCH)) {
            (true, _) => (self.client.start_tool("work", json!({}), Some(TTL)).await?, "worked"),
            (_, true) => (self.research(true).await?, "Clarification"),
            _ => return Ok(false),
        };
        match started {
            Started::Task(task) => {
                let result = task.result().await?.to_string();
                check(result.contains(expected), &result)
            }
            Started::Done(_) => Ok(false),
        }
    }
}
