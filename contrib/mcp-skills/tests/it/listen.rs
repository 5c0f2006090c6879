//! A `subscriptions/listen` request and the messages of its stream.

use http_body_util::BodyExt as _;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::ResponseBody;
use serde_json::{Value, json};

use crate::common::{PATIENCE, Raw, messages};

pub(crate) fn listen(id: i32, filter: &Value) -> Raw {
    Raw::modern_id(id, "subscriptions/listen", json!({ "notifications": filter }))
}

pub(crate) async fn open(service: &StreamableHttpService, raw: Raw) -> ResponseBody {
    let reply = service.handle(raw.request()).await;
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    reply.into_body()
}

/// The next message of a stream.
pub(crate) async fn next(stream: &mut ResponseBody) -> Value {
    let frame = tokio::time::timeout(PATIENCE, stream.frame()).await.unwrap();
    let data = frame.unwrap().unwrap().into_data().unwrap();
    messages(&data).remove(0)
}
