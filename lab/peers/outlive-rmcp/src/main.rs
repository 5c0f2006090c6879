//! A client on rmcp, driven by `cargo xtask outlive`: each line of JSON on stdin is an order, and one line answers it.
//!
//! `--era legacy|modern`, then `--url URL` or the command of a server behind `--`.

// Subscriptions of the older revisions are deprecated there, and what is to be tried.
#![expect(deprecated, reason = "the older revisions need them")]

use std::error::Error;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ProtocolVersion, ResourceUpdatedNotificationParam,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};

/// How long a client waits until it listens again.
const PAUSE: Duration = Duration::from_millis(200);
/// The most bytes of an answer that are passed on; its length is always reported.
const MAX_TEXT: usize = 4_000_000;

/// What arrived besides answers.
#[derive(Default)]
struct Seen {
    updates: u64,
    listening: Option<bool>,
    trouble: String,
}

#[derive(Clone, Default)]
struct Handler(Arc<Mutex<Seen>>);

impl Handler {
    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.0.lock().expect("no thread panics while it holds the lock"))
    }

    /// Listens, and does so again whenever that ends.
    async fn keep_listening(self, peer: Peer<RoleClient>, uri: String) {
        loop {
            if let Err(error) = self.listen(&peer, &uri).await {
                self.with(|seen| seen.trouble = told(&error));
            }
            self.with(|seen| seen.listening = Some(false));
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn listen(&self, peer: &Peer<RoleClient>, uri: &str) -> Result<(), rmcp::ServiceError> {
        let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
        let mut subscription = peer.listen(filter).await?;
        self.with(|seen| seen.listening = Some(true));
        while subscription.next().await?.is_some() {
            self.with(|seen| seen.updates += 1);
        }
        Ok(())
    }
}

impl ClientHandler for Handler {
    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.with(|seen| seen.updates += 1);
    }
}

type Client = RunningService<RoleClient, Handler>;
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let handler = Handler::default();
    let client = match connect(&words, handler.clone()).await {
        Ok(client) => client,
        Err(error) => {
            println!("{}", json!({ "ok": false, "error": told(&*error) }));
            return Err(error);
        }
    };
    let version = client.peer_info().map(|server| server.protocol_version.to_string());
    println!("{}", json!({ "ok": true, "version": version }));
    let is_modern = words.contains(&"modern");
    let mut orders = BufReader::new(stdin()).lines();
    while let Some(line) = orders.next_line().await? {
        let answer = obey(&serde_json::from_str(&line)?, is_modern, &client, &handler).await;
        println!(
            "{}",
            answer.unwrap_or_else(|error| json!({ "ok": false, "error": told(&*error) }))
        );
    }
    Ok(())
}

async fn connect(words: &[&str], handler: Handler) -> Result<Client, Failure> {
    let ["--era", era, target @ ..] = words else {
        return Err("give --era first".into());
    };
    let lifecycle = match *era {
        "modern" => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    };
    Ok(match target {
        ["--url", url] => {
            let transport = StreamableHttpClientTransport::from_uri(*url);
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
        ["--", program, arguments @ ..] => {
            let mut command = tokio::process::Command::new(program);
            command.args(arguments);
            let process = TokioChildProcess::builder(command).stderr(Stdio::null());
            let (transport, _no_stderr) = process.spawn()?;
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
        _ => return Err("give --url URL, or -- and a command".into()),
    })
}

async fn obey(
    order: &Value,
    is_modern: bool,
    client: &Client,
    handler: &Handler,
) -> Result<Value, Failure> {
    let text = |name: &str| order[name].as_str().unwrap_or_default().to_owned();
    match order["do"].as_str() {
        Some("call") => {
            let mut call = CallToolRequestParams::new(text("name"));
            call.arguments = order["arguments"].as_object().cloned();
            let result = client.call_tool(call).await?;
            let text = result.content.first().and_then(|block| block.as_text());
            let text = text.map(|block| block.text.as_str()).unwrap_or_default();
            let end = text.floor_char_boundary(MAX_TEXT);
            let is_error = result.is_error.unwrap_or(false);
            let (text, length) = (&text[..end], text.len());
            Ok(json!({ "ok": true, "isError": is_error, "length": length, "text": text }))
        }
        Some("subscribe") if is_modern => {
            let peer = client.peer().clone();
            tokio::spawn(handler.clone().keep_listening(peer, text("uri")));
            Ok(json!({ "ok": true }))
        }
        Some("subscribe") => {
            client.subscribe(SubscribeRequestParams::new(text("uri"))).await?;
            Ok(json!({ "ok": true }))
        }
        Some("look") => Ok(handler.with(|seen| {
            let Seen { updates, listening, trouble } = seen;
            json!({ "ok": true, "updates": updates, "listening": listening, "trouble": trouble })
        })),
        _ => Err("an unknown order".into()),
    }
}

/// An error with its causes, in one line.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.lines().next().unwrap_or_default().to_owned()
}
