//! One broken request, and what the server does then.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::judge::{Oracle, Reading, Violation, judge};
use super::template::Template;
use crate::probe::{Bench, CLOSED, Exchange, Raw, Stop};
use crate::shorten::shorten;

/// How long a stream that stays open is listened to.
const LISTEN: Duration = Duration::from_millis(400);

/// What is wrong, and the exchange that shows it.
#[derive(Debug, Clone)]
pub(super) struct Breach {
    pub(super) oracle: Oracle,
    pub(super) seen: String,
    pub(super) exchange: Exchange,
}

impl Breach {
    fn new((oracle, seen): Violation, exchange: &Exchange) -> Self {
        Self { oracle, seen, exchange: exchange.clone() }
    }
}

/// Sends the request, then a good one, which must be answered as before.
pub(super) async fn trial(bench: &mut Bench, raw: &Raw, template: &Template) -> Option<Breach> {
    let modern = bench.revision.is_modern();
    let reading = Reading::of(&raw.body, modern);
    if bench.endpoint.is_http() {
        let listens = raw.method == http::Method::GET || reading.listens();
        let patience = if listens { LISTEN } else { bench.patience };
        let exchange = bench.raw_within(raw.clone(), patience).await;
        if let Some(seen) = judge(raw, &reading, &exchange, true) {
            return Some(Breach::new(seen, &exchange));
        }
        let ends_session = raw.method == http::Method::DELETE;
        return still_good(bench, template, ends_session)
            .await
            .map(|seen| Breach::new(seen, &exchange));
    }
    on_pipes(bench, raw, &reading, template).await
}

/// The good request that stands for the template: a notification has no answer.
fn good(bench: &Bench, template: &Template, id: Value) -> Value {
    if !template.is_notification {
        return template.with_id(id);
    }
    bench.message_with(id, bench.revision.ping(), json!({}))
}

/// The response without its id.
pub(super) fn content(exchange: &Exchange) -> Option<Value> {
    let mut response = exchange.response()?.clone();
    response.as_object_mut()?.remove("id");
    Some(response)
}

/// Asks the good request.
pub(super) async fn ask(bench: &mut Bench, template: &Template) -> Exchange {
    let id = bench.next_id();
    let message = good(bench, template, id.into());
    bench.send(&message).await
}

async fn still_good(
    bench: &mut Bench,
    template: &Template,
    ends_session: bool,
) -> Option<Violation> {
    if ends_session && bench.session().is_some() {
        // That is what it may do.
        let fresh = bench.another().await;
        bench.end().await;
        *bench = fresh;
    }
    let exchange = ask(bench, template).await;
    compared(template, &exchange)
}

/// What is wrong with the answer to a good request.
fn compared(template: &Template, exchange: &Exchange) -> Option<Violation> {
    let Some(answer) = content(exchange) else {
        let seen = format!("the next valid request got {}", exchange.outcome());
        return Some((Oracle::Dead, seen));
    };
    let expected = template.expected.as_ref()?;
    if *expected == answer {
        return None;
    }
    let shown = |value: &Value| shorten(&value.to_string(), 200);
    let seen = format!(
        "the answer to {} was {} before the broken request, and is {} after it",
        template.name(),
        shown(expected),
        shown(&answer)
    );
    Some((Oracle::Changed, seen))
}

/// The same for a program: the good request goes right behind, and what comes before its answer belongs to the broken
/// one.
async fn on_pipes(
    bench: &mut Bench,
    raw: &Raw,
    reading: &Reading,
    template: &Template,
) -> Option<Breach> {
    let (patience, next) = (bench.patience, bench.next_id());
    let after = json!(format!("after-{next}"));
    let follower = good(bench, template, after.clone()).to_string();
    let mut exchange =
        Exchange { sent: String::from_utf8_lossy(&raw.body).into_owned(), ..Exchange::default() };
    let started = bench.process();
    let process = match started {
        Ok(process) => process,
        Err(error) => {
            let seen = format!("the program cannot be started: {error}");
            return Some(Breach::new((Oracle::Ended, seen), &exchange));
        }
    };
    let own = reading.message.as_ref().and_then(|it| it.get("id"));
    let own = own.filter(|_| reading.is_certain && !reading.listens());
    let is_after = |it: &Value| it.get("method").is_none() && it.get("id") == Some(&after);
    let is_enough = |it: &Exchange| {
        it.messages.iter().any(is_after)
            && (own.is_none() || it.messages.iter().any(|it| answers(it, own)))
    };
    let mut has_ended = !process.write(&raw.body, patience).await
        || !process.write(follower.as_bytes(), patience).await;
    if !has_ended {
        match process.gather(&mut exchange, Instant::now() + patience, false, is_enough).await {
            Ok(()) => {}
            Err(Stop::Late) => {
                exchange.broken = Some(format!("no answer within {} s", patience.as_secs_f64()));
            }
            Err(Stop::Problem(problem)) if problem == CLOSED => has_ended = true,
            Err(Stop::Problem(problem)) => exchange.broken = Some(problem),
        }
    }
    let answer = exchange.messages.extract_if(.., |it| is_after(it)).last();
    let lines = exchange.received.split_inclusive('\n');
    let lines = lines.filter(|it| !serde_json::from_str(it).is_ok_and(|it| is_after(&it)));
    exchange.received = lines.collect();
    if has_ended || process.has_ended() {
        let seen = "the program has exited, or no longer reads its stdin".to_owned();
        return Some(Breach::new((Oracle::Ended, seen), &exchange));
    }
    let mut of_own = exchange.clone();
    if let Some(own) = own {
        let is_other = |it: &Value| it.get("method").is_none() && !answers(it, Some(own));
        of_own.messages.retain(|it| !is_other(it));
        if of_own.response().is_some() {
            of_own.broken = None;
        }
    }
    if let Some(seen) = judge(raw, reading, &of_own, false) {
        return Some(Breach::new(seen, &exchange));
    }
    let good = Exchange {
        messages: answer.into_iter().collect(),
        broken: exchange.broken.clone(),
        ..Exchange::default()
    };
    compared(template, &good).map(|seen| Breach::new(seen, &exchange))
}

/// Whether a message answers the request with this id, or reports that the id could not be read.
fn answers(message: &Value, id: Option<&Value>) -> bool {
    let is_response = message.get("method").is_none();
    let own = message.get("id");
    is_response && (own == id || own.is_none_or(Value::is_null) && message.get("error").is_some())
}
