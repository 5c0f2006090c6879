//! What an operator is told: each foreign host and origin once, in bounds.

use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use serde_json::json;

use crate::common::{Raw, service, subscribe};

/// Counts the warnings of the library.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<usize>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("mcp_proto")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() == Level::WARN {
            *self.0.lock().unwrap() += 1;
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Warnings {
    pub(crate) fn count(&self) -> usize {
        *self.0.lock().unwrap()
    }
}

#[tokio::test]
async fn each_foreign_host_and_origin_is_warned_of_once() {
    let warnings = Warnings::default();
    let _here = subscribe(warnings.clone());
    let service = service();
    let raw = || Raw::modern("tools/list", json!({}));
    for _ in 0..3 {
        let host = raw().set("host", "evil.example").send(&service).await;
        assert_eq!(host.status, 403);
    }
    assert_eq!(warnings.count(), 1);
    for _ in 0..3 {
        let origin = raw().set("origin", "https://evil.example");
        assert_eq!(origin.send(&service).await.status, 403);
    }
    assert_eq!(warnings.count(), 2);
    // Other refusals are the client's business.
    raw().set("accept", "x/y").send(&service).await;
    assert_eq!(warnings.count(), 2);
    for index in 0..200 {
        let host = format!("evil-{index}.example");
        raw().set("host", &host).send(&service).await;
    }
    assert_eq!(warnings.count(), 64);
}
