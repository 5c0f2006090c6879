//! A harmless request that a server serves, and by which it is known whether the server is still there.

use serde_json::json;

use super::bench::Bench;
use super::exchange::{Exchange, NOT_JSON};

impl Bench {
    /// The method of a harmless request: one that is answered with a result, if there is any.
    pub(crate) fn plain(&self) -> &'static str {
        self.plain.unwrap_or(self.revision.ping())
    }

    /// Finds it, once the lists are known. Not every server has `ping`.
    pub(crate) async fn find_plain(&mut self) {
        let ping = self.revision.ping();
        let is_served = if self.revision.is_modern() {
            self.greeting.result().is_some()
        } else {
            self.ask(ping, json!({})).await.result().is_some()
        };
        let list = self.answered().next();
        self.plain = is_served.then_some(ping).or(list);
    }

    /// What shows that the session or the program is gone: how the request is answered now that was answered before.
    pub(crate) async fn gone(&mut self) -> Option<Exchange> {
        let message = self.message(self.plain?, json!({}));
        let exchange = self.raw(self.framed(&message)).await;
        (exchange.result().is_none() && !exchange.is_busy()).then_some(exchange)
    }

    /// Whether the server still answers, be it with an error.
    pub(crate) async fn is_alive(&mut self) -> bool {
        let message = self.message(self.plain(), json!({}));
        let exchange = self.raw(self.framed(&message)).await;
        let is_refused = exchange.status.is_some_and(|status| (300..500).contains(&status));
        let is_malformed = exchange.broken.as_deref() == Some(NOT_JSON);
        let is_answered = is_malformed || exchange.response().is_some();
        (is_answered && exchange.status.is_none_or(|it| it < 500)) || is_refused
    }
}
