//! A client that has subscribed, in either era, over pipes and HTTP.

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcp_proto::Era;
use mcp_proto::client::Client;
use mcp_proto::http::EventReader;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::harness::HANG;

/// A client that has subscribed, and what it hears.
pub(super) struct Listener {
    /// For questions beside it.
    pub(super) client: Client,
    heard: UnboundedReceiver<Value>,
}

impl Listener {
    /// Over pipes in both eras, over HTTP in the modern one.
    pub(super) async fn of(client: Client, uri: &str) -> Self {
        let (hear, heard) = mpsc::unbounded_channel();
        let mut notifications = client.notifications();
        tokio::spawn(async move {
            // Ends when one is lost, too: that is found out.
            while let Ok(notification) = notifications.recv().await {
                let _gone = hear.send(Value::Object(notification.params));
            }
        });
        let mut listener = Self { client, heard };
        match listener.client.era() {
            Era::Legacy => {
                let asked = json!({ "uri": uri });
                let subscribed = listener.client.request("resources/subscribe", asked).await;
                subscribed.unwrap();
            }
            Era::Modern => {
                let asked = json!({ "notifications": { "resourceSubscriptions": [uri] } });
                let client = listener.client.clone();
                tokio::spawn(async move {
                    let listening = client.request_within("subscriptions/listen", asked, 10 * HANG);
                    drop(listening.await);
                });
                let acknowledged = listener.next().await;
                assert_eq!(
                    acknowledged["notifications"]["resourceSubscriptions"],
                    json!([uri])
                );
            }
        }
        listener
    }

    /// In the legacy era over HTTP: a session of its own whose GET stream is open.
    pub(super) async fn over_get(client: Client, url: &str, uri: &str) -> Self {
        let session = Session::open(url).await;
        let mut events = session.send(Method::GET, None).await;
        let (hear, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut reader = EventReader::new(1 << 20);
            while let Some(Ok(frame)) = events.body_mut().frame().await {
                let data = frame.into_data().unwrap_or_default();
                for event in reader.push(&data).unwrap() {
                    // An event without data is there to be resumed from.
                    if let Ok(mut told) = serde_json::from_str::<Value>(&event.data) {
                        let _gone = hear.send(told["params"].take());
                    }
                }
            }
        });
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": { "uri": uri } });
        let answer = session.send(Method::POST, Some(asked)).await;
        let answer = answer.into_body().collect().await.unwrap().to_bytes();
        let answer = String::from_utf8(answer.to_vec()).unwrap();
        assert!(answer.contains("\"result\""), "{answer}");
        Self { client, heard }
    }

    /// The params of the next notification.
    pub(super) async fn next(&mut self) -> Value {
        let heard = tokio::time::timeout(HANG, self.heard.recv()).await;
        heard.expect("nothing is told").expect("it still listens")
    }

    /// What the next message says, of an update of this URI.
    pub(super) async fn message(&mut self, uri: &str) -> Value {
        let mut update = self.next().await;
        assert_eq!(update["uri"], uri, "{update}");
        update["_meta"]["chat-server/message"].take()
    }
}

/// A session of the legacy era over HTTP.
struct Session {
    http: HyperClient<HttpConnector, Full<Bytes>>,
    url: String,
    id: Option<String>,
}

impl Session {
    async fn open(url: &str) -> Self {
        let mut session = Self {
            http: HyperClient::builder(TokioExecutor::new()).build_http(),
            url: url.to_owned(),
            id: None,
        };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = session.send(Method::POST, Some(initialize)).await;
        let id = answer.headers()["mcp-session-id"].to_str().unwrap();
        session.id = Some(id.to_owned());
        answer.into_body().collect().await.unwrap();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        session.send(Method::POST, Some(initialized)).await;
        session
    }

    async fn send(
        &self,
        method: Method,
        message: Option<Value>,
    ) -> Response<hyper::body::Incoming> {
        let accept = match method {
            Method::GET => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header("accept", accept)
            .header("content-type", "application/json");
        if let Some(id) = &self.id {
            request = request
                .header("mcp-session-id", id)
                .header("mcp-protocol-version", "2025-11-25");
        }
        let body = message.map_or(Bytes::new(), |message| Bytes::from(message.to_string()));
        let request = request.body(Full::new(body)).unwrap();
        let response = tokio::time::timeout(HANG, self.http.request(request)).await;
        let response = response.unwrap().unwrap();
        assert!(response.status().is_success(), "{response:?}");
        response
    }
}
