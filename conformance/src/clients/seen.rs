//! What the servers received from a client.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use super::scene::Scene;
use crate::probe::Exchange;

/// The member of `_meta` by which a request of 2026-07-28 is known.
pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// One request over HTTP, and its answer in short.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The body as JSON.
    pub(super) message: Option<Value>,
    /// Whether it came to the other origin, to which the server of [`Scene::Redirects`] points.
    pub(super) elsewhere: bool,
    pub(super) status: u16,
    pub(super) answer: String,
    /// How many bytes of an answer without an end were taken.
    pub(super) taken: u64,
}

/// How a run of the client ended.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    /// By itself: how.
    Itself(String),
    /// It was ended after this time.
    Late(Duration),
}

/// What came of one scene.
#[derive(Debug)]
pub(super) struct SceneRun {
    pub(super) requests: Vec<ReceivedRequest>,
    pub(super) ended: Ended,
}

/// All scenes that were played.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<(Scene, SceneRun)>);

impl Runs {
    pub(super) fn add(&mut self, scene: Scene, seen: SceneRun) {
        self.0.push((scene, seen));
    }

    pub(super) fn of(&self, scene: Scene) -> Option<&SceneRun> {
        let run = self.0.iter().find(|(played, _)| *played == scene);
        run.map(|(_, seen)| seen)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (Scene, &SceneRun)> {
        self.0.iter().map(|(scene, seen)| (*scene, seen))
    }
}

impl SceneRun {
    /// The requests of a method of the protocol, in their order.
    pub(super) fn calls<'s>(
        &'s self,
        method: &'s str,
    ) -> impl Iterator<Item = &'s ReceivedRequest> {
        self.requests.iter().filter(move |request| request.rpc() == Some(method))
    }
}

impl ReceivedRequest {
    /// The method of the message, if it is a request or a notification.
    pub(super) fn rpc(&self) -> Option<&str> {
        self.message.as_ref()?.get("method")?.as_str()
    }

    pub(super) fn id(&self) -> Option<&Value> {
        self.message.as_ref()?.get("id")
    }

    pub(super) fn param(&self, name: &str) -> Option<&Value> {
        self.message.as_ref()?.get("params")?.get(name)
    }

    /// A member of `params._meta`.
    pub(super) fn meta(&self, name: &str) -> Option<&Value> {
        self.param("_meta")?.get(name)
    }

    /// Whether it is a message of 2026-07-28.
    pub(super) fn is_modern(&self) -> bool {
        self.meta(META_VERSION).is_some()
    }

    /// Whether it answers the server.
    pub(super) fn is_response(&self) -> bool {
        let has = |name| self.message.as_ref().and_then(|it| it.get(name)).is_some();
        !has("method") && (has("result") || has("error"))
    }

    /// The text of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// As reports show it.
    pub(super) fn exchange(&self) -> Exchange {
        let mut sent = format!("{} {}\n", self.method, self.path);
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            sent.push_str(&format!("{name}: {value}\n"));
        }
        sent.push('\n');
        sent.push_str(&String::from_utf8_lossy(&self.body));
        Exchange {
            sent,
            status: Some(self.status),
            received: self.answer.clone(),
            ..Exchange::default()
        }
    }
}
