//! The smallest request that still fails in the same way.

use serde_json::{Value, json};

use super::template::Template;
use super::trial::{Breach, ask, content, trial};
use super::{Failed, Oracle, paths, safety};
use crate::probe::{Bench, Raw};

/// How many smaller requests are tried over HTTP.
const TRIES: usize = 200;
/// The same on stdio, where each is a process.
const TRIES_ON_PIPES: usize = 60;
/// The same where each failure takes as long as the timeout.
const TRIES_OF_SILENCE: usize = 15;

/// What is left of a request, and how it fails.
pub(super) struct Shrunk {
    pub(super) raw: Raw,
    pub(super) breach: Breach,
}

/// Nothing if the request does not fail on a fresh session or process.
pub(super) async fn shrink(bench: &Bench, failed: &Failed) -> Option<Shrunk> {
    let oracle = failed.breach.oracle;
    let tries = match oracle {
        Oracle::NoAnswer => TRIES_OF_SILENCE,
        Oracle::Dead if !bench.endpoint.is_http() => TRIES_OF_SILENCE,
        _ if bench.endpoint.is_http() => TRIES,
        _ => TRIES_ON_PIPES,
    };
    let mut search = Search {
        bench,
        template: &failed.template,
        oracle,
        tries,
        best: Shrunk { raw: failed.mutated.raw.clone(), breach: failed.breach.clone() },
    };
    if !search.keeps(failed.mutated.raw.clone()).await {
        return None;
    }
    search.heads().await;
    match serde_json::from_slice::<Value>(&search.best.raw.body) {
        Ok(message) => search.tree(message).await,
        Err(_) => search.bytes().await,
    }
    Some(search.best)
}

struct Search<'a> {
    bench: &'a Bench,
    template: &'a Template,
    oracle: Oracle,
    tries: usize,
    best: Shrunk,
}

impl Search<'_> {
    /// Whether this one fails too; then it is the best.
    async fn keeps(&mut self, raw: Raw) -> bool {
        if self.tries == 0 || !safety::is_safe(self.bench, &raw.body) {
            return false;
        }
        self.tries -= 1;
        let mut bench = self.bench.another().await;
        let mut template = self.template.clone();
        if self.oracle == Oracle::Changed {
            template.expected = content(&ask(&mut bench, &template).await);
        }
        let breach = trial(&mut bench, &raw, &template).await;
        bench.end().await;
        let breach = breach.filter(|breach| breach.oracle == self.oracle);
        match breach {
            Some(breach) => {
                self.best = Shrunk { raw, breach };
                true
            }
            None => false,
        }
    }

    /// Headers as a good request has them, or left out.
    async fn heads(&mut self) {
        if !self.bench.endpoint.is_http() {
            return;
        }
        let good = self.bench.framed(&self.template.with_id(json!(1)));
        let method = good.method.clone();
        let headers = Raw {
            headers: good.headers,
            method: self.best.raw.method.clone(),
            ..self.best.raw.clone()
        };
        let _ = self.keeps(headers.clone()).await;
        let _ = self.keeps(Raw { method, ..headers }).await;
        let mut index = 0;
        while index < self.best.raw.headers.len() {
            let mut fewer = self.best.raw.clone();
            fewer.headers.remove(index);
            if !self.keeps(fewer).await {
                index += 1;
            }
        }
    }

    /// Members left out, values made simple.
    async fn tree(&mut self, mut message: Value) {
        loop {
            let mut smaller = false;
            for path in paths::all(&message) {
                if message.pointer(&path).is_none() {
                    continue;
                }
                for candidate in candidates(&message, &path) {
                    let mut raw = self.best.raw.clone();
                    raw.body = candidate.to_string().into();
                    if raw.body.len() < self.best.raw.body.len() && self.keeps(raw).await {
                        message = candidate;
                        smaller = true;
                        break;
                    }
                }
                if self.tries == 0 {
                    return;
                }
            }
            if !smaller {
                return;
            }
        }
    }

    /// Pieces left out, the large ones first.
    async fn bytes(&mut self) {
        let mut size = self.best.raw.body.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < self.best.raw.body.len() {
                let mut raw = self.best.raw.clone();
                let mut body = raw.body.to_vec();
                let end = (start + size).min(body.len());
                body.drain(start..end);
                raw.body = body.into();
                if !self.keeps(raw).await {
                    start += size;
                }
                if self.tries == 0 {
                    return;
                }
            }
            size /= 2;
        }
    }
}

/// The message with less at one place.
fn candidates(message: &Value, path: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut without = message.clone();
    paths::remove(&mut without, path);
    all.push(without);
    let with = |value: Value| {
        let mut changed = message.clone();
        paths::set(&mut changed, path, value);
        changed
    };
    match message.pointer(path) {
        Some(Value::String(text)) if text.chars().count() > 1 => {
            let half = text.chars().count() / 2;
            all.push(with(text.chars().take(half).collect::<String>().into()));
            all.push(with(text.chars().skip(half).collect::<String>().into()));
        }
        Some(Value::Array(items)) if items.len() > 1 => {
            let half = items.len() / 2;
            all.push(with(items.iter().take(half).cloned().collect()));
            all.push(with(items.iter().skip(half).cloned().collect()));
            all.push(with(json!([])));
        }
        Some(Value::Object(members)) if !members.is_empty() => all.push(with(json!({}))),
        _ => {}
    }
    all
}
