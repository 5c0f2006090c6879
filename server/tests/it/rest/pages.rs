//! The list of universes, page by page.

use serde_json::json;

use crate::harness::{Client, Local, Reply};

/// The names of a page, and the path of the next one.
fn page(reply: &Reply) -> (Vec<String>, Option<String>) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let universes = reply.json();
    let names = universes.as_array().unwrap().iter();
    let names = names.map(|universe| universe["name"].as_str().unwrap().to_owned());
    let next = reply.header("link").strip_prefix('<').map(|link| {
        let (path, relation) = link.split_once('>').unwrap();
        assert_eq!(relation, "; rel=\"next\"");
        path.to_owned()
    });
    (names.collect(), next)
}

/// Creates universes whose names tell their order, each in a millisecond of its own.
async fn create(client: Client, names: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(client.create(name, json!({})).await);
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    ids
}

#[tokio::test]
async fn pages_lead_from_the_newest_to_the_oldest() {
    let server = Local::start().await;
    let client = server.client;
    create(client, &["a", "b", "c", "d", "e"]).await;
    let (names, next) = page(&client.get("/universes").await);
    assert_eq!((names.join(""), next), ("edcba".to_owned(), None));

    for view in ["", "&view=summary", "&view=full"] {
        let mut path = format!("/universes?limit=2{view}");
        let mut pages = Vec::new();
        loop {
            let reply = client.get(&path).await;
            for universe in reply.json().as_array().unwrap() {
                assert_eq!(universe.get("state").is_none(), view == "&view=summary");
                assert_eq!(universe["revision"], 0);
            }
            let (names, next) = page(&reply);
            pages.push(names.join(""));
            let Some(next) = next else { break };
            path = next;
        }
        assert_eq!(pages, ["ed", "cb", "a"]);
    }
    let (names, next) = page(&client.get("/universes?limit=5").await);
    assert_eq!((names.len(), next), (5, None), "a page that is just full has no next");
}

#[tokio::test]
async fn pages_stay_whole_while_universes_come_and_go() {
    let server = Local::start().await;
    let client = server.client;
    let ids = create(client, &["a", "b", "c", "d", "e", "f"]).await;
    let (names, next) = page(&client.get("/universes?limit=2").await);
    assert_eq!(names.join(""), "fe");
    // New ones, one gone that was seen (the last of the page itself), one gone that was not.
    create(client, &["g", "h"]).await;
    client.delete(&format!("/universes/{}", ids[4])).await;
    client.delete(&format!("/universes/{}", ids[2])).await;
    let (names, next) = page(&client.get(&next.unwrap()).await);
    assert_eq!(names.join(""), "db");
    let (names, next) = page(&client.get(&next.unwrap()).await);
    assert_eq!((names.join(""), next), ("a".to_owned(), None));
}

#[tokio::test]
async fn a_summary_has_the_present_name_and_revision() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("old", json!({})).await;
    client.put(&format!("/universes/{id}"), &json!({"name": "new"})).await;
    let universe = client.universe(&id).await;
    let mut summary = client.get("/universes?view=summary").await.json()[0].take();
    for member in ["id", "name", "createdAt", "updatedAt", "revision"] {
        assert_eq!(summary[member].take(), universe[member], "{member}");
    }
    assert_eq!(summary.as_object().unwrap().len(), 5);
}

#[tokio::test]
async fn wrong_parameters_are_reported() {
    let server = Local::start().await;
    let rows = [
        ("limit=0", "limit must be a number from 1 to 500"),
        ("limit=501", "limit must be a number from 1 to 500"),
        ("limit=-1", "limit must be a number from 1 to 500"),
        ("limit=", "limit must be a number from 1 to 500"),
        ("limit=ten", "limit must be a number from 1 to 500"),
        ("cursor=", "cursor must be the one of a Link header that this server gave"),
        ("cursor=x~y", "cursor must be the one of a Link header that this server gave"),
        ("cursor=5~", "cursor must be the one of a Link header that this server gave"),
        ("view=brief", "view must be full or summary"),
        (
            "limit=500&unknown=1",
            "\"unknown\" is not a query parameter of this path; there are limit, cursor, view",
        ),
        ("limt=5", "\"limt\" is not a query parameter of this path; did you mean limit?"),
    ];
    for (query, told) in rows {
        let reply = server.client.get(&format!("/universes?{query}")).await;
        assert_eq!((reply.status, reply.error().as_str()), (400, told), "{query}");
    }
    let id = server.client.create("a", json!({})).await;
    let rows = [
        ("GET", "?revison=1", "did you mean revision?"),
        ("PUT", "?revision=1", "it takes none"),
        ("GET", "/history?afer=1", "did you mean after?"),
        ("GET", "/events?after=1", "it takes none"),
        ("POST", "/commands?results=events", "did you mean result?"),
        ("POST", "/undo?revision=1", "it takes none"),
    ];
    for (method, path, told) in rows {
        let path = format!("/universes/{id}{path}");
        let reply = server.client.call(method, &path, &[], &json!({})).await;
        assert_eq!(reply.status, 400, "{method} {path}");
        assert!(reply.error().ends_with(told), "{reply:?}");
    }
    // Probes are asked with whatever a balancer adds.
    assert_eq!(server.client.get("/livez?probe=1").await.status, 200);
}

#[tokio::test]
async fn a_page_of_large_universes_ends_early_and_leads_on() {
    let server = Local::start().await;
    let client = server.client;
    // Unknown members of a state are kept: three of them are more than one page carries.
    let state = json!({ "notes": "x".repeat(4_500_000) });
    for name in ["a", "b", "c"] {
        client.create(name, state.clone()).await;
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let (first, next) = page(&client.get("/universes").await);
    assert_eq!(first.join(""), "cb");
    let (second, next) = page(&client.get(&next.expect("a next page")).await);
    assert_eq!((second.join(""), next), ("a".to_owned(), None));
}
