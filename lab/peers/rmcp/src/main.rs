//! A small server on rmcp, to be called by `mcp-client/examples/peers.rs`: over stdio, or over HTTP with `--http`.

// Log messages, sampling and the subscriptions of the older revisions are deprecated there, and what is to be tried.
#![expect(deprecated, reason = "the older revisions need them")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

const COUNTER: &str = "peer://counter";
const TOOLS: [&str; 10] =
    ["echo", "count", "log", "touch", "grow", "slow", "cancelled", "ask", "sample", "work"];

/// What all sessions share.
#[derive(Default)]
struct Shared {
    counter: AtomicU64,
    cancelled: AtomicU64,
    extra: AtomicU64,
    sessions: Mutex<Vec<Peer<RoleServer>>>,
    listens: Mutex<Vec<SubscriptionSink>>,
    tasks: TaskManager,
}

#[derive(Clone, Default)]
struct Small(Arc<Shared>);

type Answer<T> = Result<T, ErrorData>;

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Asks the client, who answers in another round.
fn round(request: InputRequest) -> CallToolResponse {
    let requests = InputRequests::from_iter([("answer".to_owned(), request)]);
    InputRequiredResult::new(Some(requests), Some("asked".to_owned())).into()
}

fn form() -> ElicitRequestParams {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".to_owned(),
        requested_schema: serde_json::from_value(schema).expect("a schema"),
    }
}

impl Small {
    /// Notifies every session and every listener.
    async fn notify_all(&self, is_list: bool, is_modern: bool) {
        let sessions = self.0.sessions.lock().expect("sessions").clone();
        for peer in sessions {
            // The client may have gone.
            let _ = if is_list {
                peer.notify_tool_list_changed().await
            } else {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(COUNTER)).await
            };
        }
        if !is_modern {
            return;
        }
        // A listener is acknowledged before its handler runs, so what happens in between would be missed.
        for _ in 0..100 {
            let listens = self.0.listens.lock().expect("listens").clone();
            let mut is_heard = false;
            for sink in listens {
                is_heard |= if is_list {
                    sink.notify_tool_list_changed().await.is_ok()
                } else {
                    sink.notify_resource_updated(COUNTER).await.is_ok()
                };
            }
            if is_heard {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn progress(&self, context: &RequestContext<RoleServer>, step: u32) -> Answer<()> {
        let Some(token) = context.meta.get_progress_token() else {
            return Ok(());
        };
        let report = ProgressNotificationParam::new(token, f64::from(step)).with_total(3.0);
        context.peer.notify_progress(report).await.map_err(internal)
    }
}

impl ServerHandler for Small {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp-peer", "3.11.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListToolsResult> {
        let mut sessions = self.0.sessions.lock().expect("sessions");
        if context.protocol_version().is_none_or(|it| it < ProtocolVersion::V_2026_07_28)
            && sessions.is_empty()
        {
            sessions.push(context.peer);
        }
        let schema = json!({"type": "object", "properties": {"message": {"type": "string"}}});
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let extra = (0..self.0.extra.load(Ordering::Relaxed)).map(|it| format!("extra_{it}"));
        let names = TOOLS.map(str::to_owned).into_iter().chain(extra);
        let tools = names.map(|name| Tool::new(name, "Of the small server.", Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListResourcesResult> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(COUNTER, "counter")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<ReadResourceResponse> {
        let value = self.0.counter.load(Ordering::Relaxed).to_string();
        Ok(ReadResourceResult::new(vec![ResourceContents::text(value, request.uri)]).into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        *self.0.sessions.lock().expect("sessions") = vec![context.peer];
        Ok(())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        self.0.listens.lock().expect("listens").push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<GetTaskResult> {
        self.0.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        self.0.tasks.cancel_task(&request.task_id)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CallToolResponse> {
        let is_modern =
            context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28);
        let answer = request.input_responses.as_ref().and_then(|answers| answers.get("answer"));
        match request.name.as_ref() {
            "echo" => {
                let message = request.arguments.as_ref().and_then(|it| it.get("message"));
                Ok(text(message.and_then(Value::as_str).unwrap_or_default()))
            }
            "count" => {
                for step in 1..=3 {
                    self.progress(&context, step).await?;
                }
                Ok(text("counted to 3"))
            }
            "log" => {
                let told = LoggingMessageNotificationParam::new(
                    LoggingLevel::Warning,
                    json!("logged by the small server"),
                );
                context.peer.notify_logging_message(told).await.map_err(internal)?;
                Ok(text("logged"))
            }
            "touch" => {
                for _ in 0..5 {
                    self.0.counter.fetch_add(1, Ordering::Relaxed);
                    self.notify_all(false, is_modern).await;
                }
                Ok(text(self.0.counter.load(Ordering::Relaxed).to_string()))
            }
            "grow" => {
                self.0.extra.fetch_add(1, Ordering::Relaxed);
                self.notify_all(true, is_modern).await;
                Ok(text("grown"))
            }
            "slow" => {
                self.progress(&context, 1).await?;
                tokio::select! {
                    () = context.ct.cancelled() => { self.0.cancelled.fetch_add(1, Ordering::Relaxed); }
                    () = tokio::time::sleep(Duration::from_secs(60)) => {}
                }
                Ok(text("done"))
            }
            "cancelled" => Ok(text(self.0.cancelled.load(Ordering::Relaxed).to_string())),
            "ask" => {
                let name = match (is_modern, answer) {
                    (true, None) => {
                        return Ok(round(InputRequest::Elicitation(ElicitRequest::new(form()))));
                    }
                    (true, Some(answer)) => answer["content"]["name"].clone(),
                    (false, _) => {
                        let answer =
                            context.peer.create_elicitation(form()).await.map_err(internal)?;
                        answer.content.map(|content| content["name"].clone()).unwrap_or_default()
                    }
                };
                Ok(text(format!("Hello, {}!", name.as_str().unwrap_or("stranger"))))
            }
            "sample" => {
                let asked = CreateMessageRequestParams::new(
                    vec![SamplingMessage::user_text("Say something.")],
                    100,
                );
                let said = match (is_modern, answer) {
                    (true, None) => {
                        return Ok(round(InputRequest::CreateMessage(CreateMessageRequest::new(
                            asked,
                        ))));
                    }
                    (true, Some(answer)) => answer.clone(),
                    (false, _) => {
                        let said = context.peer.create_message(asked).await.map_err(internal)?;
                        serde_json::to_value(said).map_err(internal)?
                    }
                };
                Ok(text(format!(
                    "The model said: {}",
                    said["content"]["text"].as_str().unwrap_or_default()
                )))
            }
            "work" if context.client_capabilities().is_some_and(|it| it.supports_tasks()) => {
                let options = TaskOptions::new().with_poll_interval_ms(100);
                let task = self.0.tasks.spawn(options, |_| {
                    Box::pin(async {
                        tokio::time::sleep(Duration::from_millis(500)).await;
                        Ok(CallToolResult::success(vec![ContentBlock::text("worked")]))
                    })
                });
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            "work" => Ok(text("worked")),
            other => Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let small = Small::default();
    if std::env::args().nth(1).as_deref() != Some("--http") {
        small.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(small.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?)
}
