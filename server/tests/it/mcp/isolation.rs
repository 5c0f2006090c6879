//! A thousand calls at once, all with the same id: each gets its own answer.

use futures_util::stream::{self, StreamExt as _};
use serde_json::json;

use crate::harness::{Era, Local, Wire};

const CALLS: usize = 1_000;
/// The most connections at once.
const AT_ONCE: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_with_the_same_id_get_a_thousand_answers() {
    let server = Local::start().await;
    let client = server.client;
    let mut ids = Vec::new();
    for n in 0..50 {
        ids.push(client.create("u", json!({"time": n})).await);
    }
    for era in Era::BOTH {
        // One session for all, and one of its own for every other call.
        let shared = Wire::new(client, era).await;
        let calls = (0..CALLS).map(|n| {
            let (id, shared) = (ids[n % ids.len()].clone(), shared.clone());
            async move {
                let mcp = if n % 2 == 0 { shared } else { Wire::new(client, era).await };
                let universe = json!({"universeId": id});
                let answer = mcp.call("get_universe_state", universe).await.json();
                assert_eq!(answer["id"], 1, "{answer}");
                let time = answer["result"]["structuredContent"]["time"].as_f64();
                assert_eq!(time, Some((n % 50) as f64), "{answer}");
            }
        });
        stream::iter(calls).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    }
}
