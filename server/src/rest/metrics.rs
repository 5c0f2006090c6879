//! `GET /metrics`: the figures of the process as text, in the format that was asked for.
//!
//! The older text format of Prometheus is the default, as with other programs: collectors that know no other ask for
//! nothing. A program that accepts OpenMetrics, such as Prometheus, gets that.

use std::collections::HashMap;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode, request};
use tokio::time::timeout;

use super::answer::{self, Answer, Failure};
use super::{READY_TIME, Rest};
use crate::metrics::render;

const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Rest {
    /// All metrics.
    pub(super) async fn metrics(&self, head: &request::Parts) -> Answer {
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
        let (text, content) =
            if wants_open(&head.headers) { (text, OPEN) } else { (plain(&text), PLAIN) };
        let mut response = answer::json_text(StatusCode::OK, text.into_bytes());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content));
        Ok(response)
    }
}

/// Whether OpenMetrics is accepted, and liked no less than the older format.
fn wants_open(headers: &HeaderMap) -> bool {
    let (mut open, mut plain) = (0.0, 0.0);
    for value in headers.get_all(ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
            let quality: f64 = quality.unwrap_or(1.0);
            if media.eq_ignore_ascii_case("application/openmetrics-text") {
                open = quality.max(open);
            } else if media.eq_ignore_ascii_case("text/plain") {
                plain = quality.max(plain);
            }
        }
    }
    open > 0.0 && open >= plain
}

/// The same figures in the older format: a family has the name of its samples, and what a program is, is a gauge.
fn plain(text: &str) -> String {
    let kinds: HashMap<&str, &str> = text.lines().filter_map(kind).collect();
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let (mark, what) = (words.next(), words.next());
        match (mark, what, words.next(), words.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => continue,
            (Some("#"), Some(what @ ("HELP" | "TYPE")), Some(name), Some(rest)) => {
                let (ending, kind) = match kinds.get(name) {
                    Some(&"counter") => ("_total", "counter"),
                    Some(&"info") => ("_info", "gauge"),
                    Some(&kind) => ("", kind),
                    None => ("", rest),
                };
                let rest = if what == "TYPE" { kind } else { rest };
                plain.extend(["# ", what, " ", name, ending, " ", rest]);
            }
            _ => plain.push_str(line),
        }
        plain.push('\n');
    }
    plain
}

/// The name of a family and its kind, in the line that says it.
fn kind(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("# TYPE ")?.split_once(' ')
}
