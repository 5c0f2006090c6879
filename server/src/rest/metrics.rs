//! `GET /metrics`: the figures of the process as text.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use tokio::time::timeout;

use super::answer::{self, Failure, RestBody};
use super::{READY_TIME, Rest};
use crate::metrics::{CONTENT, render};

impl Rest {
    /// All metrics, in the text format of OpenMetrics, which Prometheus reads.
    pub(super) async fn metrics(&self) -> Result<Response<RestBody>, Failure> {
        if !self.config.metrics {
            return Err(Failure::new(
                StatusCode::NOT_FOUND,
                "nothing is at /metrics, as --metrics is off".to_owned(),
            ));
        }
        // A store that does not work must not hide the other figures.
        let store = self.service.store();
        let asked = async { (store.count().await.ok(), store.size().await.ok().flatten()) };
        let (universes, size) = timeout(READY_TIME, asked).await.unwrap_or_default();
        let text = render(universes, size, &self.mcp.usage());
        let text = text.map_err(|error| Failure::internal(&error))?;
        let mut response = answer::json_text(StatusCode::OK, text.into_bytes());
        let content = HeaderValue::from_static(CONTENT);
        response.headers_mut().insert(CONTENT_TYPE, content);
        Ok(response)
    }
}
