//! How often each caller may call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tower_layer::Layer;

use crate::context::Context;
use crate::locked::Locked as _;
use crate::service::{Call, Next, from_fn, named_by};
use crate::tool::{RATE_LIMIT, ToolError};

/// Of so many callers it is known when they called. Beyond that, the eighth with the most calls left is forgotten at
/// once, so that a new caller costs little.
const MAX_CALLERS: usize = 10_000;

/// A layer that lets each caller use tools, prompts and resources at most `calls` times at once, and then once more
/// each `time / calls`. A call above that is refused with the code `RATE_LIMIT`, a sentence that says in how many
/// seconds one is allowed again, and the same as `retryAfterSeconds` among the details. Other requests, such as lists,
/// are not limited.
///
/// A caller is the [`Principal`](crate::Principal), or else the address (for IPv6 its /64 prefix), or else the session.
/// Without any of them, all callers are one. Each layer counts for itself:
/// [`layer_on`](crate::ServerBuilder::layer_on) gives a tool a limit of its own. Each round of a modern call that asks
/// its client counts.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::{Context, Server, Tool, layers};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder("office", "1.0.0", ())
///     .tool(Tool::new("print", "Prints a page."), async || "printed")
///     .layer(layers::rate_limit(2, Duration::from_secs(60)))
///     .build()?;
/// let mut answers = Vec::new();
/// for caller in ["ada", "ada", "ada", "bob"] {
///     let call = Request::new(1, "tools/call", json!({ "name": "print" }));
///     let answer = server.handle(call, Context::test().with_principal(caller)).await;
///     answers.push(answer.outcome.unwrap().to_value()["content"][0]["text"].to_string());
/// }
/// assert_eq!(answers[1], r#""printed""#);
/// assert!(answers[2].contains("try again in 30 s"));
/// assert_eq!(answers[3], r#""printed""#);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn rate_limit(calls: u32, time: Duration) -> impl Layer<Next, Service = Next> + Send + Sync {
    let rate = Arc::new(Rate { each: time / calls.max(1), time, callers: Mutex::default() });
    from_fn(move |call: Call, next: Next| {
        let wait = named_by(&call.method).and_then(|_| rate.wait(&call.context));
        async move {
            let Some(wait) = wait else {
                return next.run(call).await;
            };
            let seconds = wait.as_millis().div_ceil(1000);
            let problem = format!(
                "more than {calls} calls in {time:?}, the limit for one caller: try again in {seconds} s"
            );
            let error = ToolError::new(RATE_LIMIT, problem);
            call.fail(error.with_data(json!({ "retryAfterSeconds": seconds })))
        }
    })
}

struct Rate {
    /// The time that one call costs.
    each: Duration,
    time: Duration,
    /// When the calls of each caller will be paid for.
    callers: Mutex<HashMap<Option<Arc<str>>, Instant>>,
}

impl Rate {
    /// Counts a call, or says how long its caller has to wait for it.
    fn wait(&self, context: &Context) -> Option<Duration> {
        let named = context.client.as_ref().and_then(|client| client.text());
        let caller = context.principal().map(Arc::from).or(named).or_else(|| context.peer.clone());
        let mut callers = self.callers.locked();
        let now = Instant::now();
        let paid = callers.get(&caller).map_or(now, |paid| now.max(*paid)) + self.each;
        let wait = paid.duration_since(now).saturating_sub(self.time);
        if !wait.is_zero() {
            return Some(wait);
        }
        if callers.len() == MAX_CALLERS && !callers.contains_key(&caller) {
            let mut all: Vec<_> = callers.values().copied().collect();
            let (_, &mut most_left, _) = all.select_nth_unstable(MAX_CALLERS / 8);
            callers.retain(|_, paid| *paid > most_left);
        }
        callers.insert(caller, paid);
        None
    }
}
