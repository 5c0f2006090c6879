//! Who calls: refusals and their challenges, what is bound to a caller, what a caller may not see.

use std::sync::{Arc, Mutex};

use mcp_proto::http::HttpConfig;
use mcp_proto::http::authorize::{Authorization, BearerTokens, ProtectedResource};
use mcp_proto::scopes::{Guarded, Wanted};
use mcp_proto::{
    CallToolResult, OperationError, Scopes, Server, StreamableHttpService, Tool, ToolAnnotations,
};
use serde_json::{Value, json};

use crate::common::{Raw, Reply, builder, probe, request, say, server};
use crate::resume::session_of;

const URL: &str = "https://tools.example/mcp";
const METADATA: &str = "https://tools.example/.well-known/oauth-protected-resource/mcp";

fn hash(token: &str) -> String {
    use sha2::Digest as _;
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(token))
}

fn tokens() -> BearerTokens {
    let line = |token: &str, rest: &str| format!("sha256:{} {rest}\n", hash(token));
    let text = [
        "# Who may call.\n\n",
        &line("ada", "ada admin"),
        &line("bob", "bob read"),
        &line("eve", "eve"),
    ];
    BearerTokens::from_text(&text.concat()).unwrap()
}

fn resource() -> ProtectedResource {
    let issuers = vec!["https://login.example".to_owned()];
    let scopes = Scopes::of(["read", "write", "offline_access"]);
    ProtectedResource::new(URL, issuers).unwrap().with_scopes(&scopes)
}

fn guarded(server: mcp_proto::Server) -> StreamableHttpService {
    let mut config = HttpConfig::default();
    let authorization = Authorization::new(tokens())
        .with_resource(resource())
        .implies("admin", Scopes::of(["write"]))
        .implies("write", Scopes::of(["read"]));
    config.authorization = Some(authorization);
    StreamableHttpService::with_config(server, config)
}

fn shown(raw: Raw, token: &str) -> Raw {
    raw.set("authorization", &format!("Bearer {token}"))
}

fn list() -> Raw {
    Raw::modern("tools/list", json!({}))
}

fn challenge(reply: &Reply) -> &str {
    reply.header("www-authenticate").unwrap_or_default()
}

#[tokio::test]
async fn a_refusal_says_how_to_come_back() {
    let service = guarded(server());
    let ending = format!("scope=\"read write\",resource_metadata=\"{METADATA}\"");
    for (authorization, status, wanted) in [
        (None, 401, "Bearer scope="),
        (Some("Basic YWRhOmFkYQ=="), 401, "Bearer scope="),
        (Some("Bearer"), 400, "Bearer error=\"invalid_request\""),
        (Some("Bearer a b"), 400, "Bearer error=\"invalid_request\""),
        (Some("Bearer a\"b"), 400, "Bearer error=\"invalid_request\""),
        (Some("Bearer nope"), 401, "Bearer error=\"invalid_token\""),
        (Some("Bearer adaa"), 401, "Bearer error=\"invalid_token\""),
    ] {
        for raw in [
            list(),
            Raw::initialize("2025-11-25"),
            Raw::bare(http::Method::GET).set("accept", "text/event-stream"),
        ] {
            let raw = match authorization {
                Some(value) => raw.set("authorization", value),
                None => raw,
            };
            let reply = raw.send(&service).await;
            assert_eq!(reply.refusal(), (status, -32600, None), "{authorization:?}");
            let challenge = challenge(&reply);
            assert!(challenge.starts_with(wanted), "{authorization:?}: {challenge}");
            assert!(challenge.ends_with(&ending), "{authorization:?}: {challenge}");
            assert!(!challenge.contains("nope") && !reply.message().contains("nope"));
        }
    }
    // Two headers name nobody, and a token in the query is no token.
    let twice = shown(list(), "ada").add("authorization", "Bearer ada");
    assert_eq!(twice.send(&service).await.refusal().0, 400);
    let long = shown(list(), &"a".repeat(8_193));
    assert_eq!(long.send(&service).await.refusal().0, 400);
    let mut query = list().request();
    *query.uri_mut() = "/mcp?access_token=ada".parse().unwrap();
    assert_eq!(service.handle(query).await.status(), 401);
    for good in [shown(list(), "ada"), list().set("authorization", "bEARER  eve")] {
        assert_eq!(good.send(&service).await.status, 200);
    }
    // A preflight shows no token.
    let preflight = Raw::bare(http::Method::OPTIONS).set("origin", "http://localhost");
    assert_eq!(preflight.send(&service).await.status, 204);
}

#[tokio::test]
async fn the_metadata_of_the_resource_is_for_everybody() {
    let service = guarded(server());
    let get = async |path: &str| {
        let mut request = Raw::bare(http::Method::GET).set("accept", "application/json").request();
        *request.uri_mut() = path.parse().unwrap();
        let reply = service.handle(request).await;
        let status = reply.status().as_u16();
        let body = http_body_util::BodyExt::collect(reply.into_body()).await.unwrap();
        (status, body.to_bytes())
    };
    for path in
        ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]
    {
        let (status, body) = get(path).await;
        assert_eq!(status, 200);
        let document: Value = serde_json::from_slice(&body).unwrap();
        let wanted = json!({
            "resource": URL,
            "authorization_servers": ["https://login.example"],
            "scopes_supported": ["read", "write"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(document, wanted);
    }
    assert_ne!(get("/.well-known/oauth-protected-resource/other").await.0, 200);
    for url in ["tools.example/mcp", "ftp://tools.example/mcp", "https://tools.example/mcp?x=1"] {
        assert_eq!(ProtectedResource::new(url, vec!["https://login.example".to_owned()]), None);
    }
    assert_eq!(ProtectedResource::new(URL, Vec::new()), None);
}

#[tokio::test]
async fn what_a_caller_left_behind_is_nobody_elses() {
    let service = guarded(server());
    let opened = shown(Raw::initialize("2025-11-25"), "ada").send(&service).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let ping = |token: &str| shown(Raw::legacy(&session, "ping", &json!({})), token);
    assert_eq!(ping("ada").send(&service).await.status, 200);
    assert_eq!(ping("bob").send(&service).await.refusal().0, 404);
    let end = shown(Raw::bare(http::Method::DELETE).set("mcp-session-id", &session), "bob");
    assert_eq!(end.send(&service).await.refusal().0, 404);
    assert_eq!(ping("ada").send(&service).await.status, 200);
    assert_eq!(ping("nope").send(&service).await.refusal().0, 401);
}

#[tokio::test]
async fn scopes_say_what_a_caller_sees_and_calls() {
    let (probe, _events) = probe();
    let server = builder(&probe)
        .require_scopes(Guarded::Tool("echo".to_owned()), Scopes::of(["write"]))
        .require_scopes(Guarded::Method("ping".to_owned()), Scopes::of(["read"]))
        .build()
        .unwrap();
    let service = guarded(server.clone());
    let names = |reply: &Reply| -> Vec<String> {
        let tools = reply.json()["result"]["tools"].clone();
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    for (token, may) in [("ada", true), ("bob", false), ("eve", false)] {
        let listed = shown(list(), token).send(&service).await;
        assert_eq!(names(&listed).contains(&"echo".to_owned()), may, "{token}");
        assert_eq!(listed.json()["result"]["cacheScope"], "private");
        let discover = shown(Raw::modern("server/discover", json!({})), token);
        let discovered = discover.send(&service).await.json();
        assert!(discovered["result"]["supportedVersions"].is_array(), "{token}: {discovered}");
        let session = shown(Raw::initialize("2025-11-25"), token).send(&service).await;
        let session = session.header("mcp-session-id").unwrap().to_owned();
        let listed = shown(Raw::legacy(&session, "tools/list", &json!({})), token);
        assert_eq!(names(&listed.send(&service).await).contains(&"echo".to_owned()), may);
        for raw in
            [Raw::modern("tools/call", say("x")), Raw::legacy(&session, "tools/call", &say("x"))]
        {
            let reply = shown(raw, token).send(&service).await;
            if may {
                assert_eq!(reply.status, 200);
                continue;
            }
            assert_eq!(reply.refusal(), (403, -32600, Some(7.into())));
            let told = reply.message();
            assert!(told.ends_with(": it needs the scope write"), "{told}");
            let wanted = "Bearer error=\"insufficient_scope\"";
            assert!(challenge(&reply).starts_with(wanted), "{}", challenge(&reply));
            assert!(challenge(&reply).contains("scope=\"write\",resource_metadata="));
        }
        let ping = shown(Raw::legacy(&session, "ping", &json!({})), token);
        let status = if token == "eve" { 403 } else { 200 };
        assert_eq!(ping.send(&service).await.status, status);
    }
    // In a batch each call is judged for itself.
    let opened = shown(Raw::initialize("2025-03-26"), "bob").send(&service).await;
    let session = opened.header("mcp-session-id").unwrap();
    let calls = json!([request(1, "tools/call", &say("x")), request(2, "ping", &json!({}))]);
    let batch = shown(Raw::post(calls.to_string()).set("mcp-session-id", session), "bob");
    let answers = batch.send(&service).await.json();
    let refused = answers.as_array().unwrap().iter().filter(|answer| answer.get("error").is_some());
    assert_eq!(refused.map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [json!(1)]);
    // Where nobody is asked, everything is allowed.
    let open = StreamableHttpService::new(server);
    assert!(names(&list().send(&open).await).contains(&"echo".to_owned()));
    let session = session_of(&open, "2025-11-25").await;
    assert_eq!(Raw::legacy(&session, "tools/call", &say("x")).send(&open).await.status, 200);
    let unknown =
        builder(&probe).require_scopes(Guarded::Tool("sya".to_owned()), Scopes::of(["write"]));
    assert!(unknown.build().unwrap_err().to_string().contains("\"sya\""));
}

#[test]
fn a_set_of_tokens_is_read_strictly_and_replaced_whole() {
    let good = format!("sha256:{} ada read write", hash("ada"));
    for (text, line, problem) in [
        ("ada read".to_owned(), 1, "sha256:"),
        (format!("\n# x\nsha256:{}", hash("ada")), 3, "the name"),
        (format!("sha256:{}0 ada", hash("ada")), 1, "64 hex digits"),
        (format!("{good}\n{good}"), 2, "already"),
        (format!("sha256:{} ada re\"ad", hash("ada")), 1, "a scope"),
    ] {
        let wrong = BearerTokens::from_text(&text).unwrap_err();
        assert_eq!(wrong.line, line, "{text}");
        assert!(wrong.problem.contains(problem), "{text}: {wrong}");
    }
    let set = BearerTokens::from_text(&good).unwrap();
    assert!(set.replace("nonsense").is_err());
    set.replace("").unwrap();
}

#[tokio::test]
async fn what_tools_say_of_themselves_decides_their_scopes() {
    let object = || json!({ "type": "object" });
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let look = Tool::new("look", "").with_input_schema(object());
    let look = look.with_annotations(ToolAnnotations::read_only());
    let own = Tool::new("own", "").with_input_schema(object());
    let change = Tool::new("change", "").with_input_schema(object());
    let answer = async |(), _, _| Ok(CallToolResult::text("done"));
    let server = Server::builder("bench", "1.0.0", ())
        .raw_tool(look, answer)
        .scopes_by_annotation(&Scopes::of(["read"]), &Scopes::of(["write"]))
        .raw_tool(change, answer)
        .raw_tool(own, answer)
        .require_scopes(Guarded::Tool("own".to_owned()), Scopes::of(["other"]))
        .observe(move |it| {
            let seen = (it.tool.clone(), it.writes, it.principal.clone(), it.error);
            heard.lock().unwrap().push(seen);
        })
        .build()
        .unwrap();
    let service = guarded(server.clone());
    let status = async |token: &str, tool: &str| {
        let call = Raw::modern("tools/call", json!({ "name": tool, "arguments": {} }));
        shown(call, token).send(&service).await.status.as_u16()
    };
    for (token, look, change) in [("ada", 200, 200), ("bob", 200, 403), ("eve", 403, 403)] {
        assert_eq!(status(token, "look").await, look);
        assert_eq!(status(token, "change").await, change);
        assert_eq!(status(token, "own").await, 403);
    }
    let seen = |tool: &str, writes, who: &str, error| {
        (Some(tool.to_owned()), writes, Some(who.to_owned()), error)
    };
    let forbidden = Some(OperationError::Forbidden);
    let wanted = [
        seen("look", false, "ada", None),
        seen("change", true, "ada", None),
        seen("own", true, "ada", forbidden),
        seen("look", false, "bob", None),
        seen("change", true, "bob", forbidden),
        seen("own", true, "bob", forbidden),
        seen("look", false, "eve", forbidden),
        seen("change", true, "eve", forbidden),
        seen("own", true, "eve", forbidden),
    ];
    assert_eq!(*told.lock().unwrap(), wanted);
    // Without a declaration that the list may change: nobody has seen it yet.
    server.hide_writing_tools();
    let open = StreamableHttpService::new(server);
    let listed = list().send(&open).await.result()["tools"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let call = Raw::modern("tools/call", json!({ "name": "change", "arguments": {} }));
    assert_eq!(call.send(&open).await.refusal().1, -32602);
}

#[tokio::test]
async fn what_a_call_is_about_decides_its_scopes() {
    let tool = |name| Tool::new(name, "").with_input_schema(json!({ "type": "object" }));
    let answer = async |(), _, _| Ok(CallToolResult::text("done"));
    let server = Server::builder("bench", "1.0.0", ())
        .raw_tool(tool("open"), answer)
        .raw_tool(tool("own"), answer)
        .require_scopes(Guarded::Tool("own".to_owned()), Scopes::of(["read"]))
        .scopes_by(|wanted, has| match wanted {
            // Without arguments the tool is seen, with them it is the room that counts.
            Wanted::Tool("open", Some(given)) => {
                let room = given.get("room").and_then(Value::as_str).unwrap_or("all");
                let needed = Scopes::of([format!("room:{room}")]);
                (!has.contain(&needed)).then_some(needed)
            }
            Wanted::Tool("own", None) => {
                (!has.contain(&Scopes::of(["admin"]))).then(Scopes::default)
            }
            Wanted::Tool("own", Some(_)) => Some(Scopes::of(["never"])),
            _ => None,
        })
        .build()
        .unwrap();
    let set = format!("sha256:{} ada room:one", hash("ada"));
    let mut config = HttpConfig::default();
    config.authorization = Some(Authorization::new(BearerTokens::from_text(&set).unwrap()));
    let service = StreamableHttpService::with_config(server.clone(), config);
    let session = shown(Raw::initialize("2025-11-25"), "ada").send(&service).await;
    let session = session.header("mcp-session-id").unwrap().to_owned();
    for (tool, arguments, missing) in [
        ("open", json!({ "room": "one" }), None),
        ("open", json!({ "room": "two" }), Some("scope=\"room:two\"")),
        ("open", json!({}), Some("scope=\"room:all\"")),
        // All that it needs, whoever asks for it.
        ("own", json!({}), Some("scope=\"never read\"")),
    ] {
        let call = json!({ "name": tool, "arguments": arguments });
        for raw in
            [Raw::modern("tools/call", call.clone()), Raw::legacy(&session, "tools/call", &call)]
        {
            let reply = shown(raw, "ada").send(&service).await;
            let told = challenge(&reply);
            assert_eq!(reply.status, if missing.is_some() { 403 } else { 200 }, "{call}");
            assert!(missing.is_none_or(|missing| told.contains(missing)), "{told}");
        }
    }
    for raw in [list(), Raw::legacy(&session, "tools/list", &json!({}))] {
        let listed = shown(raw, "ada").send(&service).await;
        let text = listed.json()["result"]["tools"].to_string();
        assert!(text.contains("\"open\"") && !text.contains("\"own\""), "{text}");
    }
    let open = StreamableHttpService::new(server);
    let call = Raw::modern("tools/call", json!({ "name": "own", "arguments": {} }));
    assert_eq!(call.send(&open).await.status, 200, "nobody is asked");
}
