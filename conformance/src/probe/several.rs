//! Several requests at once, and subscriptions, which last.

use std::time::Duration;

use futures_util::future::join_all;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::bench::{Bench, Endpoint};
use super::exchange::{Exchange, QUIET, Watched};
use super::http::{self, Raw};
use crate::target::Body;

impl Bench {
    /// Sends several requests at once; an exchange for each.
    pub(crate) async fn together(&mut self, messages: &[Value]) -> Vec<Exchange> {
        let patience = self.patience;
        if let Endpoint::Http(target) = &self.endpoint {
            let sent = messages.iter().map(|message| self.framed(message));
            return join_all(sent.map(|raw| http::send(target, raw, patience))).await;
        }
        let unsent = |problem: String| Exchange { broken: Some(problem), ..Exchange::default() };
        let process = match self.process() {
            Ok(process) => process,
            Err(error) => return vec![unsent(error.to_string())],
        };
        let lines: Vec<_> = messages.iter().map(Value::to_string).collect();
        if !process.write(lines.join("\n").as_bytes(), patience).await {
            return vec![unsent("the program does not read, or has ended".to_owned())];
        }
        let mut exchanges: Vec<Exchange> =
            lines.into_iter().map(|sent| Exchange { sent, ..Exchange::default() }).collect();
        let end = Instant::now() + patience;
        while exchanges.iter().any(|it| it.messages.is_empty()) {
            let Ok(Some(line)) = timeout_at(end, process.next()).await else {
                break;
            };
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                continue;
            };
            let id = message.get("id");
            let is_own = |request: &Value| request.get("id") == id;
            let index = messages.iter().position(is_own);
            let index = index.filter(|_| message.get("method").is_none());
            let own = index.and_then(|index| exchanges.get_mut(index));
            if let Some(exchange) = own {
                exchange.received.push_str(&String::from_utf8_lossy(&line));
                exchange.messages.push(message);
            }
        }
        exchanges
    }

    /// Sends a request whose answer may be a stream that stays open: its head, and what comes at once.
    pub(crate) async fn head(&mut self, raw: Raw) -> Exchange {
        match &self.endpoint {
            Endpoint::Http(target) => {
                let exchange = http::hold(target, raw, self.patience, QUIET).await.0;
                self.keep(&[], &exchange);
                exchange
            }
            Endpoint::Command(..) => self.raw(raw).await,
        }
    }

    /// Opens a subscription by this filter, and watches it for at most `most` during other requests. A server may end
    /// one to which nothing can come.
    pub(crate) async fn watch(&mut self, filter: Value, most: Duration) {
        let (exchange, open) = self.listen(json!("quiet"), filter).await;
        let Some(mut body) = open.filter(|_| exchange.is_acknowledged()) else {
            return;
        };
        let mut quiet = JoinSet::new();
        quiet.spawn(async move {
            let mut is_quiet = true;
            let watched = timeout(most, async {
                while let Some(Ok(frame)) = body.frame().await {
                    let mut lines = frame.data_ref().map(|data| data.split(|byte| *byte == b'\n'));
                    if lines.as_mut().is_some_and(|lines| lines.any(|line| line.starts_with(b":")))
                    {
                        return Watched::Comment;
                    }
                    is_quiet = false;
                }
                Watched::Ended
            });
            match watched.await {
                Ok(watched) => watched,
                Err(_) if is_quiet => Watched::Silent(exchange),
                Err(_) => Watched::Events,
            }
        });
        self.quiet = Some(quiet);
    }

    /// Opens a subscription, which lasts as long as the returned body.
    pub(crate) async fn listen(&mut self, id: Value, filter: Value) -> (Exchange, Option<Body>) {
        let params = json!({ "notifications": filter });
        self.listen_with(id, params).await
    }

    /// The same with these params.
    pub(crate) async fn listen_with(
        &mut self,
        id: Value,
        params: Value,
    ) -> (Exchange, Option<Body>) {
        let raw = self.framed(&self.message_with(id, "subscriptions/listen", params));
        match &self.endpoint {
            Endpoint::Http(target) => {
                let sent = raw.body.clone();
                let held = http::hold(target, raw, self.patience, self.patience).await;
                self.keep(&sent, &held.0);
                held
            }
            Endpoint::Command(..) => (self.raw(raw).await, None),
        }
    }

    /// Reads an open subscription for this long, and adds the messages to the exchange.
    pub(crate) async fn collect(
        &mut self,
        exchange: &mut Exchange,
        open: Option<Body>,
        within: Duration,
    ) {
        let end = Instant::now() + within;
        if let Some(mut body) = open {
            let before = exchange.received.len();
            // How it ended is not judged here.
            let _ = http::read(exchange, &mut body, end, |_| false).await;
            let more = exchange.received.split_off(before);
            let more = Exchange { received: more, ..exchange.clone() };
            self.keep(&[], &more);
            exchange.received.push_str(&more.received);
            return;
        }
        let Ok(process) = self.process() else { return };
        while let Ok(Some(line)) = timeout_at(end, process.next()).await {
            exchange.received.push_str(&String::from_utf8_lossy(&line));
            exchange.messages.extend(serde_json::from_slice::<Value>(&line));
        }
    }
}
