//! A small client of both eras that keeps every rule, or breaks the one that it is given.

use std::collections::VecDeque;
use std::future::pending;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcp_conformance::{Decoder, Frame};
use serde_json::{Map, Value, json};

/// More than this of one answer is given up.
const MOST: usize = 4 * 1024 * 1024;
const STATE: [&str; 2] = ["requestState", "inputResponses"];

#[derive(Debug)]
pub(crate) enum Failed {
    /// The server refused: its status and its error.
    Refused(u16, Value),
    /// There is nothing to go on with.
    Lost,
}

type Outcome<T> = Result<T, Failed>;

pub(crate) struct Client {
    url: String,
    broken: &'static str,
    http: Http<HttpConnector, Full<Bytes>>,
    modern: bool,
    session: Option<HeaderValue>,
    next_id: u64,
}

impl Client {
    /// Connects to a server, lists its tools, calls them and leaves.
    pub(crate) async fn run(url: String, broken: &'static str) {
        let mut client = Self {
            url,
            broken,
            http: Http::builder(TokioExecutor::new()).build_http(),
            modern: true,
            session: None,
            next_id: 0,
        };
        let _ = client.all().await;
        if client.breaks("ends") {
            pending::<()>().await;
        }
    }

    fn breaks(&self, rule: &str) -> bool {
        self.broken.strip_prefix("client.") == Some(rule)
    }

    async fn all(&mut self) -> Outcome<()> {
        if !self.breaks("modern") && self.is_modern().await? {
            return self.use_tools().await;
        }
        if self.breaks("both-eras") {
            return Ok(());
        }
        self.modern = false;
        if self.breaks("initialize-first") {
            let _ = self.ask("tools/list", json!({})).await;
        }
        self.open().await?;
        let done = self.use_tools().await;
        if !self.breaks("session-end") {
            let _ = self.send(Method::DELETE, Bytes::new(), &[]).await;
        }
        done
    }

    async fn is_modern(&mut self) -> Outcome<bool> {
        match self.ask("server/discover", json!({})).await {
            Ok(_) => Ok(true),
            Err(Failed::Refused(400, error)) => {
                Ok(matches!(error["code"].as_i64(), Some(-32022..=-32020)))
            }
            Err(other) => Err(other),
        }
    }

    async fn open(&mut self) -> Outcome<()> {
        self.session = None;
        let mut info = json!({ "name": "small-client", "version": "1.0.0" });
        if self.breaks("initialize-params") {
            info = json!({ "name": "small-client" });
        }
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let result = self.ask("initialize", params).await?;
        if result["protocolVersion"] != "2025-11-25" && !self.breaks("unspoken-version") {
            return Err(Failed::Lost);
        }
        if !self.breaks("initialized") {
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            self.post(&message, &[]).await?;
        }
        Ok(())
    }

    async fn use_tools(&mut self) -> Outcome<()> {
        if self.breaks("speaks") {
            return Ok(());
        }
        let mut tools = Vec::new();
        let mut params = json!({});
        loop {
            let mut page = self.ask("tools/list", params).await?;
            tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].take() {
                Value::String(cursor) if self.breaks("cursor") => {
                    params = json!({ "cursor": cursor.trim_end_matches('=') })
                }
                Value::String(cursor) => params = json!({ "cursor": cursor }),
                _ => break,
            }
        }
        for tool in &tools {
            let usable = !tool.to_string().contains("no token");
            if usable || self.breaks("unusable-tool") {
                self.call(tool["name"].as_str().unwrap_or_default()).await?;
            }
        }
        if self.breaks("state-leak") {
            self.ask("tools/list", json!({ "requestState": "old" })).await?;
        }
        Ok(())
    }

    async fn call(&mut self, name: &str) -> Outcome<()> {
        let mut params =
            json!({ "name": name, "arguments": { "text": "hello", "region": "north sea" } });
        for _ in 0..3 {
            let mut result = match self.ask("tools/call", params.clone()).await {
                Err(Failed::Refused(404, _)) if !self.modern && !self.breaks("session-lost") => {
                    Box::pin(self.open()).await?;
                    continue;
                }
                other => other?,
            };
            if result["resultType"] != "input_required" {
                return Ok(());
            }
            let questions = result["inputRequests"].as_object().cloned().unwrap_or_default();
            let answer = json!({ "action": "accept", "content": { "name": "Anna" } });
            let answers: Map<String, Value> =
                questions.into_iter().map(|(key, _)| (key, answer.clone())).collect();
            params[STATE[1]] = answers.into();
            params[STATE[0]] = result[STATE[0]].take();
            if self.breaks("rounds") {
                params[STATE[0]] = json!("another");
            }
        }
        Err(Failed::Lost)
    }

    /// A request, and its result.
    async fn ask(&mut self, method: &str, mut params: Value) -> Outcome<Value> {
        self.next_id += u64::from(!self.breaks("request-id"));
        let mut headers = Vec::new();
        if self.modern {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "small-client", "version": "1.0.0" },
            });
            if !self.breaks("meta") {
                meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
            }
            params["_meta"] = meta;
            if !self.breaks("method-header") {
                headers.push(("mcp-method", method.to_owned()));
            }
            if let (false, Some(name)) = (self.breaks("name-header"), params["name"].as_str()) {
                headers.push(("mcp-name", name.to_owned()));
            }
            if let (false, Some(region)) =
                (self.breaks("parameter-header"), params["arguments"]["region"].as_str())
            {
                headers.push(("mcp-param-region", region.to_owned()));
            }
        }
        let version = if self.breaks("frame") { "1.0" } else { "2.0" };
        let message =
            json!({ "jsonrpc": version, "id": self.next_id, "method": method, "params": params });
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = self.post(&message, &headers).await?;
        if method == "initialize" {
            self.session = response.headers().get("mcp-session-id").cloned();
        }
        let status = response.status().as_u16();
        let answer = self.answer(response).await?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(Failed::Refused(status, answer["error"].clone())),
        }
    }

    /// The answer to the last request, in whatever form it comes.
    async fn answer(&mut self, response: Response<Incoming>) -> Outcome<Value> {
        let media = response.headers().get("content-type").and_then(|it| it.to_str().ok());
        let streams = media.is_some_and(|it| it.starts_with("text/event-stream"));
        if !streams {
            let body = response.into_body().collect().await.map_err(|_| Failed::Lost)?;
            return match serde_json::from_slice(&body.to_bytes()) {
                Ok(answer) => Ok(answer),
                Err(_) if self.breaks("garbage") => pending().await,
                Err(_) => Err(Failed::Lost),
            };
        }
        if self.breaks("event-stream") {
            return Err(Failed::Lost);
        }
        let mut last_event = None;
        if let Some(answer) = self.events(response, &mut last_event).await? {
            return Ok(answer);
        }
        let (false, Some(last)) = (self.breaks("resume"), last_event) else {
            return Err(Failed::Lost);
        };
        let response = self.send(Method::GET, Bytes::new(), &[("last-event-id", &last)]).await?;
        let answer = self.events(response, &mut None).await?;
        answer.ok_or(Failed::Lost)
    }

    async fn events(
        &mut self,
        response: Response<Incoming>,
        last: &mut Option<String>,
    ) -> Outcome<Option<Value>> {
        let mut body = response.into_body();
        let mut decoder = Decoder::default();
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Failed::Lost)?;
            let Some(data) = frame.data_ref() else {
                continue;
            };
            read += data.len();
            if self.breaks("endless") {
                continue;
            }
            if read > MOST {
                return Err(Failed::Lost);
            }
            let mut frames = VecDeque::new();
            decoder.push(data, &mut frames).map_err(|_| Failed::Lost)?;
            for frame in frames {
                let Frame::Event(event) = frame else { continue };
                *last = event.id.or_else(|| last.take());
                if event.data.is_empty() {
                    continue;
                }
                let message: Value = serde_json::from_str(&event.data).map_err(|_| Failed::Lost)?;
                if message.get("method").is_some() {
                    self.asked(&message).await?;
                } else if message["id"] == self.next_id || self.breaks("wrong-id") {
                    return Ok(Some(message));
                }
            }
        }
        Ok(None)
    }

    /// Answers the server.
    async fn asked(&mut self, message: &Value) -> Outcome<()> {
        let Some(id) = message.get("id") else {
            return Ok(());
        };
        let unknown = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "Method not found" } });
        let answer = match message["method"].as_str() {
            Some("ping") if self.breaks("ping") => return Ok(()),
            Some("ping") => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            _ if self.breaks("unknown-request") => {
                json!({ "jsonrpc": "2.0", "id": id, "result": {} })
            }
            _ => unknown,
        };
        self.post(&answer, &[]).await.map(drop)
    }

    async fn post(
        &mut self,
        message: &Value,
        headers: &[(&str, &str)],
    ) -> Outcome<Response<Incoming>> {
        self.send(Method::POST, message.to_string().into(), headers).await
    }

    async fn send(
        &mut self,
        method: Method,
        body: Bytes,
        headers: &[(&str, &str)],
    ) -> Outcome<Response<Incoming>> {
        let accept = match () {
            () if self.breaks("accept") => "application/json",
            () if self.breaks("resume-accept") && method == Method::GET => "application/json",
            () => "application/json, text/event-stream",
        };
        let content = if self.breaks("content-type") { "text/plain" } else { "application/json" };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header("accept", accept)
            .header("content-type", content);
        let version = match self.modern {
            true if !self.breaks("modern-version-header") => Some("2026-07-28"),
            false if self.session.is_some() && !self.breaks("version-header") => Some("2025-11-25"),
            _ => None,
        };
        for (name, value) in
            version.map(|version| ("mcp-protocol-version", version)).iter().chain(headers)
        {
            request = request.header(*name, *value);
        }
        if let (false, Some(session)) = (self.breaks("session-header"), &self.session) {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Full::new(body)).map_err(|_| Failed::Lost)?;
        let response = self.http.request(request).await.map_err(|_| Failed::Lost)?;
        let location = response.headers().get("location").and_then(|it| it.to_str().ok());
        if let (true, Some(location)) = (self.breaks("redirect"), location) {
            let request =
                Request::post(location).body(Full::default()).map_err(|_| Failed::Lost)?;
            return self.http.request(request).await.map_err(|_| Failed::Lost);
        }
        Ok(response)
    }
}
