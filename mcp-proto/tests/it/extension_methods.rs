//! Methods and notifications of extensions: declared, answered and taken in both eras, over HTTP and stdio.

use std::sync::{Arc, Mutex};

use mcp_proto::scopes::Guarded;
use mcp_proto::{
    BuildError, Context, RequestError, Scopes, Server, ServerBuilder, StreamableHttpService,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::common::{Raw, every_client, open_session, refused};

const ID: &str = "com.example/notes";

#[derive(Deserialize)]
struct Search {
    words: Vec<String>,
}

#[derive(Serialize)]
struct Found {
    found: String,
    era: String,
    #[serde(rename = "_meta")]
    meta: Value,
}

async fn search(_: Seen, asked: Search, context: Context) -> Result<Found, RequestError> {
    match asked.words.as_slice() {
        [] => Err(RequestError::not_found("nothing was asked for")),
        words => Ok(Found {
            found: words.join(" "),
            era: format!("{:?}", context.era()),
            meta: json!({"com.example/took": 1}),
        }),
    }
}

type Seen = Arc<Mutex<Vec<(u32, bool)>>>;

#[derive(Deserialize)]
struct Note {
    number: u32,
}

#[expect(clippy::needless_pass_by_value, reason = "handlers own what they get")]
fn seen(seen: Seen, note: Note, context: Context) {
    assert!(note.number != 13, "a handler that panics");
    let knows = context.client_info.is_some();
    seen.lock().unwrap().push((note.number, knows));
}

fn builder(seen_notes: &Seen) -> ServerBuilder<Seen> {
    Server::builder("s", "1", Arc::clone(seen_notes))
        .extension_method(ID, "notes/search", search)
        .extension_notification(ID, "notifications/notes/seen", seen)
}

#[tokio::test]
async fn a_method_is_declared_and_answered_in_both_eras() {
    let server = builder(&Seen::default()).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let params = json!({"words": ["green", "tea"], "_meta": {"com.example/x": 1}});
        let answer = client.request("notes/search", params).await.unwrap();
        assert_eq!(answer["found"], "green tea", "{name}");
        assert!(name.ends_with(answer["era"].as_str().unwrap()), "{name}");
        assert_eq!(answer["_meta"]["com.example/took"], 1, "{name}");
        let is_modern = name.ends_with("Modern");
        assert_eq!(answer.get("resultType").is_some(), is_modern, "{name}");
        let info = answer["_meta"].get("io.modelcontextprotocol/serverInfo");
        assert_eq!(info.is_some(), is_modern, "{name}");
        let error = refused(client.request("notes/search", json!({"words": ["a", 5]})).await);
        assert_eq!(error.code, -32602, "{name}");
        assert!(error.message.starts_with("params/words/1: "), "{}", error.message);
        let error = refused(client.request("notes/search", json!({"words": []})).await);
        assert!(error.message.contains("nothing was asked for"), "{name}");
        let error = refused(client.request("notes/other", json!({})).await);
        assert_eq!(error.code, -32601, "{name}");
    }
    drop(clients);
    served.ended().await;
    let service = StreamableHttpService::new(server);
    let discovered = Raw::modern("server/discover", json!({})).send(&service).await;
    let told = &discovered.result()["capabilities"]["extensions"][ID];
    assert_eq!(*told, json!({}));
    let opened = Raw::initialize("2025-11-25").send(&service).await.result();
    assert_eq!(opened["capabilities"]["extensions"][ID], json!({}));
}

#[tokio::test]
async fn notifications_reach_their_handler_and_broken_ones_harm_nobody() {
    let seen = Seen::default();
    let server = builder(&seen).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (number, (_, client)) in (0..).zip(&clients) {
        let method = "notifications/notes/seen";
        for params in [json!({"number": "x"}), json!({"number": 13}), json!({"number": number})] {
            client.notify(method, params).await.unwrap();
        }
        client.notify("notifications/notes/other", json!({})).await.unwrap();
        // What was sent before it has been read.
        client.request("notes/search", json!({"words": ["x"]})).await.unwrap();
    }
    drop(clients);
    served.ended().await;
    let seen = seen.lock().unwrap().clone();
    let numbers: Vec<_> = seen.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    // Of a session, and of what the notification itself says.
    assert!(seen[0].1 && seen[1].1, "{seen:?}");
}

#[tokio::test]
async fn callers_need_the_scopes_of_a_method() {
    let notes = Seen::default();
    let guard = |method: &str| Guarded::Method(method.to_owned());
    let server = builder(&notes)
        .require_scopes(guard("notes/search"), Scopes::of(["notes"]))
        .require_scopes(guard("notifications/notes/seen"), Scopes::of(["notes"]));
    let service = StreamableHttpService::new(server.build().unwrap());
    let session = open_session(&service).await;
    for (scopes, status) in [("notes", 200), ("other", 403)] {
        let params = json!({"words": ["x"]});
        for raw in [
            Raw::modern("notes/search", params.clone()),
            Raw::legacy(&session, "notes/search", &params),
        ] {
            let mut request = raw.request();
            request.extensions_mut().insert(Scopes::of([scopes]));
            assert_eq!(service.handle(request).await.status().as_u16(), status);
        }
        let raw = Raw::notification("notifications/notes/seen", &json!({"number": 1}));
        let mut request = raw.set("mcp-session-id", &session).request();
        request.extensions_mut().insert(Scopes::of([scopes]));
        assert_eq!(service.handle(request).await.status().as_u16(), 202);
    }
    assert_eq!(notes.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_result_that_is_not_an_object_is_an_internal_error() {
    let server = Server::builder("s", "1", ()).extension_method(
        ID,
        "notes/count",
        async |(), _: Map<String, Value>, _| Ok(5),
    );
    let service = StreamableHttpService::new(server.build().unwrap());
    let answer = Raw::modern("notes/count", json!({})).send(&service).await;
    assert_eq!(answer.refusal().1, -32603);
}

#[test]
fn names_that_are_not_an_extensions_own_are_refused() {
    let server = || Server::builder("s", "1", Seen::default());
    for (built, wanted) in [
        (server().extension_method(ID, "search", search), "needs a prefix"),
        (server().extension_method(ID, "notes/", search), "needs a prefix"),
        (server().extension_method(ID, "tools/search", search), "prefix of MCP's own"),
        (server().extension_method(ID, "notifications/notes/x", search), "prefix of MCP's own"),
        (server().extension_method("notes", "notes/search", search), "needs an identifier"),
        (server().extension_notification(ID, "notes/seen", seen), "needs a prefix"),
        (
            server().extension_notification(ID, "notifications/tools/seen", seen),
            "prefix of MCP's own",
        ),
        (
            builder(&Seen::default()).extension_method(ID, "notes/search", search),
            "another handler has the same method",
        ),
    ] {
        let error = built.build().unwrap_err();
        assert!(matches!(&error, BuildError::Server(text) if text.contains(wanted)), "{error}");
    }
    let settings = Map::from_iter([("depth".to_owned(), json!(3))]);
    builder(&Seen::default()).extension(ID, settings).build().unwrap();
}
