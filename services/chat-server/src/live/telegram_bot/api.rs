//! Requests to the Bot API over HTTP. The token is part of every URL, so URLs are never shown or logged.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// How long connecting may take.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// How long Telegram waits for updates, in seconds.
const WAIT_SECONDS: u64 = 25;

/// How long an answer may take beyond that.
const GRACE: Duration = Duration::from_secs(30);

/// The largest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// How many updates to request at once: together with their chats they fit into one batch of the index.
const UPDATES: usize = 100;

/// The API with one token.
pub(super) struct Api {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// The address before the name of a method.
    base: String,
}

/// Why a request failed, without the token.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) problem: String,
    /// How long Telegram asks clients to wait.
    pub(super) retry_after: Option<Duration>,
    /// Telegram's number for it, as those of HTTP; 0 if it is not Telegram that says so.
    pub(super) code: i64,
    /// Whether nothing was done: Telegram has refused it (4xx), or was not reached.
    pub(super) is_refusal: bool,
}

impl Failed {
    /// The texts of an error and of its sources.
    pub(super) fn of(error: &dyn Error) -> Self {
        let mut problem = error.to_string();
        let mut behind = error.source();
        while let Some(error) = behind {
            problem = format!("{problem}: {error}");
            behind = error.source();
        }
        Self::because(problem)
    }

    /// In words.
    pub(super) fn because(problem: String) -> Self {
        Self { problem, retry_after: None, code: 0, is_refusal: false }
    }
}

impl Api {
    pub(super) fn new(base_url: &str, token: &str) -> Result<Self, Failed> {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-');
        if token.is_empty() || !token.chars().all(fine) {
            return Err(Failed::because(
                "the first line of the token's file is not a token of a bot".to_owned(),
            ));
        }
        let base = format!("{}/bot{token}/", base_url.trim_end_matches('/'));
        let _: Uri =
            base.parse().map_err(|_| Failed::because(format!("{base_url:?} is not a URL")))?;
        // Certificates are the system's; without any, plain HTTP still works, as to a proxy on this machine.
        let builder = HttpsConnectorBuilder::new().with_native_roots();
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECT_TIME));
        let connector = builder
            .map_err(|error| Failed::of(&error))?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector), base })
    }

    /// The updates from `offset` on, as soon as there are some, or an empty list after a while. The offset confirms to
    /// Telegram that those before it are stored.
    pub(super) async fn updates(&self, offset: Option<i64>) -> Result<Vec<Value>, Failed> {
        let question = json!({
            "offset": offset,
            "limit": UPDATES,
            "timeout": WAIT_SECONDS,
            "allowed_updates": ["message", "edited_message", "channel_post", "edited_channel_post", "message_reaction"],
        });
        let time = Duration::from_secs(WAIT_SECONDS) + GRACE;
        match self.ask("getUpdates", &question, time).await? {
            Value::Array(updates) => Ok(updates),
            _ => Err(Failed::because("the answer is not a list".to_owned())),
        }
    }

    /// The result of a method.
    pub(super) async fn ask(
        &self,
        method: &str,
        question: &Value,
        time: Duration,
    ) -> Result<Value, Failed> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{method}", self.base))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(question.to_string())))
            .map_err(|error| Failed::of(&error))?;
        let answer = async {
            let response = self
                .client
                .request(request)
                .await
                .map_err(|error| Failed { is_refusal: error.is_connect(), ..Failed::of(&error) })?;
            let status = response.status();
            let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await;
            let body = body.map_err(|error| Failed::of(&*error))?.to_bytes();
            Ok((status, body))
        };
        let late = || Failed::because("no answer in time".to_owned());
        let (status, body) = tokio::time::timeout(time, answer).await.map_err(|_| late())??;
        // For example from a gateway with its own error page.
        let mut answer: Value = serde_json::from_slice(&body)
            .map_err(|_| Failed::because(format!("HTTP {status}, and the answer is not JSON")))?;
        match answer.get_mut("result").map(Value::take) {
            Some(result) if answer.get("ok") == Some(&Value::Bool(true)) => Ok(result),
            _ => Err(refused(&answer)),
        }
    }
}

/// The error of a request that Telegram refused.
fn refused(answer: &Value) -> Failed {
    let code = answer.get("error_code").and_then(Value::as_i64).unwrap_or_default();
    let words = answer.get("description").and_then(Value::as_str).unwrap_or("no description");
    let seconds = answer.pointer("/parameters/retry_after").and_then(Value::as_u64);
    Failed {
        problem: format!("{code} {words}"),
        retry_after: seconds.map(Duration::from_secs),
        code,
        is_refusal: (400..500).contains(&code),
    }
}
