//! State between calls without sessions: handles that the server keeps, and those that it seals.

use std::time::Duration;

use mcp_proto::budget::Bound;
use mcp_proto::jsonrpc::Request;
use mcp_proto::state::Kept;
use mcp_proto::{Context, Keys, Principal, ProtocolVersion, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::common::every_client;

const HALF_AN_HOUR: Duration = Duration::from_secs(30 * 60);

#[derive(Clone)]
struct Shop {
    carts: Kept<Vec<String>>,
    keys: Keys,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    cart: String,
    item: String,
}

#[derive(Deserialize, JsonSchema)]
struct More {
    more: Option<String>,
}

async fn open_cart(shop: Shop, context: Context) -> Result<String, ToolError> {
    shop.carts.keep(Vec::new(), &context)
}

async fn add(shop: Shop, asked: Add, context: Context) -> Result<String, ToolError> {
    let add = |items: &mut Vec<String>| {
        items.push(asked.item);
        items.join(" ")
    };
    shop.carts.with(&asked.cart, &context, add)
}

async fn pay(shop: Shop, asked: Add, context: Context) -> Result<String, ToolError> {
    Ok(shop.carts.end(&asked.cart, &context)?.join(" "))
}

async fn count(shop: Shop, asked: More, context: Context) -> Result<String, ToolError> {
    let so_far = match asked.more {
        Some(more) => shop.keys.open_for(&context, "count", &more)?,
        None => 0,
    };
    let more = shop.keys.seal_for(&context, "count", &(so_far + 1), HALF_AN_HOUR)?;
    Ok(format!("{so_far} {more}"))
}

fn server(carts: Kept<Vec<String>>, keys: Keys) -> Server {
    let tool = |name: &str| Tool::new(name, "");
    Server::builder("shop", "1", Shop { carts, keys })
        .tool(tool("open_cart"), open_cart)
        .tool(tool("add"), add)
        .tool(tool("pay"), pay)
        .tool(tool("count"), count)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_handle_leads_from_one_call_to_the_next() {
    let (carts, keys) = (Kept::new(Bound::of(100), HALF_AN_HOUR), Keys::random());
    let (clients, served) = every_client(&server(carts.clone(), keys.clone())).await;
    // Another process with the same keys.
    let (others, other) = every_client(&server(carts, keys)).await;
    for ((name, client), (_, other)) in clients.iter().zip(&others) {
        let call = async |tool: &str, arguments| {
            let result = client.call_tool(tool, arguments).await.unwrap();
            (result.is_error, result.text())
        };
        let (_, cart) = call("open_cart", json!({})).await;
        assert_eq!(cart.len(), 24, "{name}: {cart}");
        let with = |item: &str| json!({ "cart": cart, "item": item });
        assert_eq!(call("add", with("bolt")).await, (false, "bolt".to_owned()), "{name}");
        assert_eq!(call("add", with("nut")).await, (false, "bolt nut".to_owned()), "{name}");
        // The handle of a session is of no use in another one; without sessions and names it is enough to know it.
        let elsewhere = other.call_tool("add", with("pin")).await.unwrap();
        assert_eq!(elsewhere.is_error, name.contains("Legacy"), "{name}");
        let (is_error, paid) = call("pay", with("")).await;
        assert!(!is_error && paid.starts_with("bolt nut"), "{name}: {paid}");
        let (is_error, told) = call("add", with("bolt")).await;
        assert!(is_error && told.contains("NOT_FOUND"), "{name}: {told}");

        let (_, first) = call("count", json!({})).await;
        let (_, more) = first.split_once(' ').unwrap();
        let second = other.call_tool("count", json!({ "more": more })).await.unwrap().text();
        assert!(second.starts_with("1 "), "{name}: {second}");
        let (is_error, told) = call("count", json!({ "more": format!("{more}x") })).await;
        assert!(is_error && told.contains("NOT_FOUND"), "{name}: {told}");
    }
    served.ended().await;
    other.ended().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_bounded_and_ends() {
    let kept = Kept::new(Bound { total: 3, share: 2 }, HALF_AN_HOUR);
    let of = |name: &str| Context::test().with_principal(name);
    let (ada, bob) = (of("ada"), of("bob"));
    let code = |error: ToolError| match error {
        ToolError::Failed { code, message, .. } => (code, message),
        other => panic!("{other}"),
    };
    let first = kept.keep(1, &ada).unwrap();
    let second = kept.keep(2, &ada).unwrap();
    let (refused, told) = code(kept.keep(3, &ada).unwrap_err());
    assert_eq!(refused, "TOO_MANY_HANDLES");
    assert!(told.starts_with("this client has 2 handles"), "{told}");
    kept.keep(4, &bob).unwrap();
    let (_, told) = code(kept.keep(5, &bob).unwrap_err());
    assert!(told.starts_with("all clients together have 3 handles"), "{told}");

    // Another caller, and nobody.
    for context in [&bob, &Context::test()] {
        let (unknown, _) = code(kept.with(&first, context, |value| *value).unwrap_err());
        assert_eq!(unknown, "NOT_FOUND");
        assert!(kept.end(&first, context).is_err());
    }
    // A use begins the lifetime again, in any era.
    let legacy = ada.clone().with_version(ProtocolVersion::LATEST_LEGACY);
    tokio::time::advance(HALF_AN_HOUR / 2).await;
    assert_eq!(kept.with(&first, &legacy, |value| *value), Ok(1));
    tokio::time::advance(HALF_AN_HOUR / 2).await;
    assert_eq!(kept.with(&first, &ada, |value| *value), Ok(1));
    assert!(kept.with(&second, &ada, |value| *value).is_err());
    assert!(kept.end(&second, &ada).is_err());
    // What has ended makes room.
    kept.keep(6, &bob).unwrap();
    assert_eq!(kept.end(&first, &ada), Ok(1));
    assert_eq!(format!("{kept:?}"), "Kept { values: 1, .. }");
}

#[tokio::test]
async fn a_sealed_value_is_of_one_caller_and_one_purpose() {
    let keys = Keys::random();
    let (ada, nobody) = (Context::test().with_principal("ada"), Context::test());
    let sealed = keys.seal_for(&ada, "page", &json!({ "after": 7 }), HALF_AN_HOUR).unwrap();
    assert!(!sealed.contains("after"));
    let open = |context: &Context, purpose: &str, text: &str| {
        keys.open_for::<serde_json::Value>(context, purpose, text)
    };
    assert_eq!(open(&ada, "page", &sealed), Ok(json!({ "after": 7 })));
    for (context, purpose, text) in [
        (&nobody, "page", &*sealed),
        (&ada, "other", &sealed),
        (&ada, "page", ""),
        (&ada, "page", "x"),
    ] {
        let error = open(context, purpose, text).unwrap_err();
        assert!(error.to_string().starts_with("NOT_FOUND: "), "{error}");
    }
    let ended = keys.seal_for(&ada, "page", &1, Duration::ZERO).unwrap();
    assert!(open(&ada, "page", &ended).is_err());
    let long = "a".repeat(64 * 1024);
    assert!(matches!(
        keys.seal_for(&ada, "page", &long, HALF_AN_HOUR),
        Err(ToolError::Internal(_))
    ));
}

/// The session is known where there is one, and nowhere else.
#[tokio::test]
async fn a_handler_knows_the_session() {
    let server = Server::builder("shop", "1", ())
        .tool(Tool::new("session", ""), async |context: Context| {
            context.session().unwrap_or("none").to_owned()
        })
        .build()
        .unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let told = client.call_tool("session", json!({})).await.unwrap().text();
        assert_eq!(told == "none", name.contains("Modern"), "{name}: {told}");
    }
    let call = Request::new(1, "tools/call", json!({ "name": "session" }));
    let context = Context::test().with_extension(Principal("ada".to_owned()));
    let told = server.handle(call, context).await.outcome.unwrap().to_value();
    assert_eq!(told["content"][0]["text"], "none");
    served.ended().await;
}
