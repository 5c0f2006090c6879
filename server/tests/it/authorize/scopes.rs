//! Callers who may use single universes: others are not there for them.

use serde_json::{Value, json};

use super::Asking;
use crate::harness::{Era, Mcp, Wire, tick};

#[tokio::test]
async fn what_a_caller_may_not_read_is_not_listed_over_rest() {
    let asking =
        Asking::new(&["ada universe:sol:write", "eve universe:%73ol:read other"], &[]).await;
    let other = asking.create("solar").await;
    for token in ["ada", "eve"] {
        for path in ["/universes", "/universes?view=summary", "/universes?limit=1"] {
            let listed = asking.get(token, path).await;
            assert_eq!(listed.status, 200, "{listed:?}");
            let ids: Vec<_> =
                listed.json().as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
            assert_eq!(ids, ["sol"], "{token} {path}");
            assert_eq!(listed.header("link"), "");
        }
        assert_eq!(asking.get(token, "/universes/sol").await.status, 200);
        // There or not, it is the same answer.
        for id in [other.as_str(), "nothing", "s%20l"] {
            for path in ["", "/history", "/tree", "/events", ".svg", ".png"] {
                let refused = asking.get(token, &format!("/universes/{id}{path}")).await;
                assert_eq!(refused.status, 403, "{refused:?}");
                let needed = format!("scope=\"universe:{id}:read\"");
                assert!(refused.header("www-authenticate").contains(&needed), "{refused:?}");
            }
        }
        let unknown = asking.get(token, "/universes/%00").await;
        assert!(!unknown.error().contains(&other), "{unknown:?}");
        assert_eq!(asking.get(token, "/metrics").await.status, 403);
    }
    let rows = [
        ("POST", "/universes/sol/commands", tick(), 200, 403),
        ("PUT", "/universes/sol", json!({"name": "Sol"}), 200, 403),
        ("DELETE", "/universes/sol", Value::Null, 403, 403),
        ("POST", "/universes", json!({"name": "x", "state": {}}), 403, 403),
    ];
    for (method, path, body, ada, eve) in rows {
        for (token, status) in [("ada", ada), ("eve", eve)] {
            let reply = asking.call(token, method, path, &body).await;
            assert_eq!(reply.status, status, "{token} {method} {path} {reply:?}");
        }
    }
}

#[tokio::test]
async fn what_a_caller_may_not_read_is_not_listed_over_mcp() {
    let asking = Asking::new(&["ada universe:sol:admin", "eve universe:gone:read"], &[]).await;
    let other = asking.create("solar").await;
    for era in Era::BOTH {
        let mcp = Mcp::with_token(asking.client(), era, "ada").await;
        let wire = Wire::with_token(asking.client(), era, "ada").await;
        let tools = mcp.tools().await;
        assert!(tools.iter().any(|it| it == "delete_universe"), "{tools:?}");
        assert!(!tools.iter().any(|it| it == "create_universe"), "{tools:?}");
        let texts = [
            mcp.content("list_universes", json!({})).await,
            mcp.result("resources/list", json!({})).await,
            mcp.read("universe://").await,
            mcp.result(
                "completion/complete",
                json!({
                    "ref": {"type": "ref/prompt", "name": "explain_universe"},
                    "argument": {"name": "universe", "value": ""},
                }),
            )
            .await,
        ];
        for told in texts {
            let told = told.to_string();
            assert!(told.contains("sol") && !told.contains(&other), "{told}");
        }
        assert_eq!(mcp.read_json("universe://sol/summary").await["id"], "sol");
        // The same for everybody.
        assert!(mcp.read("ui://universe/view").await["text"].is_string());
        let needed = format!("scope=\"universe:{other}:read\"");
        let uri = format!("universe://{other}");
        let entities = json!({
            "ref": {"type": "ref/resource", "uri": "universe://{id}/stars/{starId}"},
            "argument": {"name": "starId", "value": ""},
            "context": {"arguments": {"id": other}},
        });
        for (method, params) in [
            (
                "tools/call",
                json!({"name": "get_universe_state", "arguments": {"universeId": other}}),
            ),
            (
                "tools/call",
                json!({"name": "get_universe_history", "arguments": {"universeId": other}}),
            ),
            ("prompts/get", json!({"name": "explain_universe", "arguments": {"universe": other}})),
            ("resources/read", json!({"uri": uri})),
            ("resources/read", json!({"uri": format!("{uri}/events?limit=2")})),
            ("resources/read", json!({"uri": format!("{uri}/picture.png")})),
            ("tools/call", json!({"name": "draw_universe", "arguments": {"universeId": other}})),
            ("completion/complete", entities),
        ] {
            let reply = wire.send(&json!(1), method, params).await;
            assert_eq!(reply.status, 403, "{method} {reply:?}");
            assert!(reply.header("www-authenticate").contains(&needed), "{reply:?}");
        }
        let hearing = match era {
            Era::Legacy => wire.send(&json!(1), "resources/subscribe", json!({"uri": uri})).await,
            Era::Modern => {
                let wanted = json!({"notifications": {"resourceSubscriptions": [uri]}});
                wire.send(&json!(1), "subscriptions/listen", wanted).await
            }
        };
        assert_eq!(hearing.status, 403, "{hearing:?}");
        // Odd forms of a name lead nowhere else.
        for odd in [
            format!("universe://{other}/nowhere"),
            format!("universe://{other}?x"),
            format!("{uri}/{{x}}"),
        ] {
            let reply = wire.send(&json!(1), "resources/read", json!({"uri": odd})).await;
            assert_ne!(reply.status, 200, "{odd} {reply:?}");
        }
        let eve = Mcp::with_token(asking.client(), era, "eve").await;
        let told = eve.refusal("get_universe_state", json!({"universeId": "gone"})).await;
        assert!(!told.contains("sol"), "{told}");
        let listed = eve.content("list_universes", json!({})).await;
        assert_eq!(listed["universes"], json!([]));
    }
}

#[tokio::test]
async fn pages_of_single_universes_have_all_of_them_once() {
    let asking = Asking::new(&[], &[]).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(asking.create(name).await);
    }
    let scopes: Vec<_> = ids.iter().map(|id| format!("universe:{id}:read")).collect();
    let line = format!("ada {}", scopes.join(" "));
    let file = asking.dir.path().join("tokens");
    std::fs::write(file, super::tokens(&["root admin", &line])).unwrap();
    crate::harness::soon(async {
        while asking.get("ada", "/universes").await.status == 401 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    let mut path = "/universes?limit=2".to_owned();
    let mut found = Vec::new();
    while !path.is_empty() {
        let page = asking.get("ada", &path).await;
        let page_ids = page.json();
        found.extend(
            page_ids.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()),
        );
        let link = page.header("link");
        path = link
            .strip_prefix('<')
            .and_then(|it| it.split('>').next())
            .unwrap_or_default()
            .to_owned();
    }
    ids.reverse();
    assert_eq!(found, ids);
}

#[tokio::test]
async fn what_a_caller_reads_says_what_it_may_do() {
    let callers = ["reader read", "writer write", "keeper admin", "guest universe:sol:write"];
    let asking = Asking::new(&callers, &[]).await;
    let all = "GET, HEAD, PUT, DELETE, OPTIONS";
    for (token, list, one) in [
        ("reader", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
        ("writer", "GET, HEAD, POST, OPTIONS", "GET, HEAD, PUT, OPTIONS"),
        ("keeper", "GET, HEAD, POST, OPTIONS", all),
        ("guest", "GET, HEAD, OPTIONS", "GET, HEAD, PUT, OPTIONS"),
    ] {
        let read = asking.get(token, "/universes").await;
        assert_eq!(read.header("allow"), list, "{token}");
        let read = asking.get(token, "/universes/sol").await;
        assert_eq!(read.header("allow"), one, "{token}");
    }
    // The page itself has nothing of anybody's: it is for everybody.
    assert_eq!(asking.client().get("/").await.status, 200);
    assert_eq!(asking.client().get("/universes").await.status, 401);
}
