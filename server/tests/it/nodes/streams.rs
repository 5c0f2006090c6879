//! Calls of the handshake revisions on several servers: one runs a call, and any other reads its stream, answers what
//! it asks, cancels it and ends its session.

use hyper::body::Incoming;
use serde_json::{Value, json};

use super::sessions::next;
use super::{node, until};
use crate::engines::urls;
use crate::harness::wire::LEGACY;
use crate::harness::{Client, Feed, Reply};

/// A client of a session that can be asked.
struct Asked {
    session: String,
}

impl Asked {
    async fn new(at: Client) -> Self {
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "0"},
        });
        let opened = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = at.call("POST", "/mcp", &ACCEPT, &opened).await;
        let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        Self { session }
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let own = ("mcp-session-id", self.session.as_str());
        ACCEPT.into_iter().chain([own]).collect()
    }

    /// Asks for a universe to be deleted, which the server asks about in turn.
    async fn delete(&self, at: Client, id: &str, universe: &str) -> Feed<Incoming> {
        let params = json!({"name": "delete_universe", "arguments": {"universeId": universe}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let response = at.open_with("POST", "/mcp", &self.headers(), &call).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Feed::new(response.into_body())
    }

    async fn send(&self, at: Client, message: &Value) -> Reply {
        at.call("POST", "/mcp", &self.headers(), message).await
    }

    /// Says yes or no to a question.
    async fn answer(&self, at: Client, question: &Value, yes: bool) {
        let result = json!({"action": "accept", "content": {"delete": yes}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(self.send(at, &answer).await.status, 202);
    }

    async fn resume(&self, at: Client, last: &str) -> Feed<Incoming> {
        let mut headers = self.headers();
        headers.push(("last-event-id", last));
        let response = at.open("GET", "/mcp", &headers).await;
        assert_eq!(response.status(), 200);
        Feed::new(response.into_body())
    }
}

const ACCEPT: [(&str, &str); 1] = [("accept", "application/json, text/event-stream")];

/// What a stream still says.
async fn rest(stream: &mut Feed<Incoming>) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some((message, _)) = next(stream).await {
        all.push(message);
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_one_is_read_answered_and_cancelled_at_the_other() {
    for url in urls() {
        let (a, b) = (node(&url).await, node(&url).await);
        let universes =
            [a.client.create("u", json!({})).await, a.client.create("v", json!({})).await];
        let client = Asked::new(a.client).await;
        // Asked at one, answered at the other.
        let mut here = client.delete(a.client, "1", &universes[0]).await;
        let (question, first) = next(&mut here).await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        client.answer(b.client, &question, false).await;
        let (answer, _) = next(&mut here).await.unwrap();
        assert!(answer.to_string().contains("nothing was deleted"), "{answer}");
        // Read again from the question on, at both.
        for node in [&a, &b] {
            let mut again = client.resume(node.client, &first).await;
            assert_eq!(rest(&mut again).await, std::slice::from_ref(&answer));
        }
        // Begun at one, gone on with at the other, and back.
        let mut here = client.delete(a.client, "2", &universes[0]).await;
        let (question, asked) = next(&mut here).await.unwrap();
        drop(here);
        let mut there = client.resume(b.client, &asked).await;
        client.answer(b.client, &question, true).await;
        let said = rest(&mut there).await;
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["result"]["structuredContent"]["deleted"], universes[0]);
        let mut back = client.resume(a.client, &asked).await;
        assert_eq!(rest(&mut back).await, said);

        // Cancelled at the other: it ends without an answer, and leaves nothing to resume.
        let mut here = client.delete(a.client, "3", &universes[1]).await;
        let (_, asked) = next(&mut here).await.unwrap();
        let mut there = client.resume(b.client, &asked).await;
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "3"}});
        assert_eq!(client.send(b.client, &cancelled).await.status, 202);
        assert_eq!(rest(&mut there).await, Vec::<Value>::new());
        assert_eq!(rest(&mut here).await, Vec::<Value>::new());

        // The end of the session at the other ends what runs.
        let mut here = client.delete(a.client, "4", &universes[1]).await;
        next(&mut here).await.unwrap();
        let headers = client.headers();
        let ended = b.client.call("DELETE", "/mcp", &headers, &Value::Null).await;
        assert_eq!(ended.status, 204);
        assert_eq!(rest(&mut here).await, Vec::<Value>::new());
        let left = a.client.get(&format!("/universes/{}", universes[1])).await;
        assert_eq!(left.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_outlives_its_server_whether_that_ends_well_or_not() {
    for url in urls() {
        let (mut a, b) = (node(&url).await, node(&url).await);
        let mut c = node(&url).await;
        let id = b.client.create("u", json!({})).await;
        let client = Asked::new(b.client).await;
        let mut asked = Vec::new();
        for (call, node) in [("a", &a), ("c", &c)] {
            let mut here = client.delete(node.client, call, &id).await;
            let (question, first) = next(&mut here).await.unwrap();
            client.answer(b.client, &question, false).await;
            assert_eq!(rest(&mut here).await.len(), 1);
            asked.push(first);
        }
        a.stop().await;
        // What was said is written a moment later: one that is killed must have been given it.
        until(async || {
            let headers = [client.headers(), vec![("last-event-id", asked[1].as_str())]].concat();
            let response = b.client.open("GET", "/mcp", &headers).await;
            response.status() == 200 && next(&mut Feed::new(response.into_body())).await.is_some()
        })
        .await;
        c.kill().await;
        for (call, first) in ["a", "c"].iter().zip(&asked) {
            let said = rest(&mut client.resume(b.client, first).await).await;
            assert_eq!((said.len(), said[0]["id"].as_str()), (1, Some(*call)), "{said:?}");
        }
    }
}
