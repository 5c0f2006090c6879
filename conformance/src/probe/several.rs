//! Several requests at once, and subscriptions, which last.

use std::time::Duration;

use futures_util::future::join_all;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::bench::{Bench, Endpoint};
use super::exchange::{Exchange, NOT_JSON, QUIET, Watched, is_like_a_message};
use super::http::{self, Raw};
use super::incoming::Incoming;
use crate::sse::Frame;

impl Bench {
    /// Sends several requests at once; an exchange for each.
    pub(crate) async fn together(&mut self, messages: &[Value]) -> Vec<Exchange> {
        let patience = self.patience;
        if let Endpoint::Http(target) = &self.endpoint {
            let sent = messages.iter().map(|message| self.framed(message));
            return join_all(sent.map(|raw| http::send(target, raw, patience))).await;
        }
        let process = match self.process() {
            Ok(process) => process,
            Err(error) => return vec![Exchange::failed(error.to_string())],
        };
        let lines: Vec<_> = messages.iter().map(Value::to_string).collect();
        if !process.write(lines.join("\n").as_bytes(), patience).await {
            return vec![Exchange::failed("the program does not read, or has ended")];
        }
        let mut all = Exchange::default();
        let is_own = |it: &Value, request: &Value| {
            it.get("method").is_none() && it.get("id") == request.get("id")
        };
        let has_answer =
            |it: &Exchange, request| it.messages.iter().any(|message| is_own(message, request));
        let is_enough = |it: &Exchange| messages.iter().all(|request| has_answer(it, request));
        // What did not come is seen in the exchanges.
        let _ = process.gather(&mut all, Instant::now() + patience, false, is_enough).await;
        let is_broken =
            |it: &str| is_like_a_message(it) && serde_json::from_str::<IgnoredAny>(it).is_err();
        let broken = all.received.lines().any(is_broken).then(|| NOT_JSON.to_owned());
        let own = |(sent, request): (String, &Value)| {
            let is_own =
                |line: &&str| serde_json::from_str(line).is_ok_and(|it| is_own(&it, request));
            let received: String = all.received.split_inclusive('\n').filter(is_own).collect();
            let messages =
                received.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
            let broken = broken.clone().filter(|_| received.is_empty());
            Exchange { sent, received, messages, broken, ..Exchange::default() }
        };
        lines.into_iter().zip(messages).map(own).collect()
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
        let Some(mut open) = open.filter(|_| exchange.is_acknowledged()) else {
            return;
        };
        let mut quiet = JoinSet::new();
        quiet.spawn(async move {
            let mut is_quiet = true;
            let watched = timeout(most, async {
                while let Ok(Some(frame)) = open.next().await {
                    match frame {
                        Frame::Comment(_) => return Watched::Comment,
                        Frame::Event(_) => is_quiet = false,
                    }
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
    pub(crate) async fn listen(
        &mut self,
        id: Value,
        filter: Value,
    ) -> (Exchange, Option<Incoming>) {
        let params = json!({ "notifications": filter });
        self.listen_with(id, params).await
    }

    /// The same with these params.
    pub(crate) async fn listen_with(
        &mut self,
        id: Value,
        params: Value,
    ) -> (Exchange, Option<Incoming>) {
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
        open: Option<Incoming>,
        within: Duration,
    ) {
        if let Some(mut open) = open {
            open.exchange.received.clear();
            // How it ended is not judged here.
            let _ = open.read(within, |_| false).await;
            self.keep(&[], &open.exchange);
            exchange.received.push_str(&open.exchange.received);
            exchange.messages = open.exchange.messages;
            return;
        }
        let end = Instant::now() + within;
        let Ok(process) = self.process() else { return };
        while let Ok(Some(line)) = timeout_at(end, process.next()).await {
            exchange.received.push_str(&String::from_utf8_lossy(&line));
            exchange.messages.extend(serde_json::from_slice::<Value>(&line));
        }
    }
}
