//! Subscriptions: who is notified of which change, made by REST or by MCP, in both eras. What must not be heard is
//! followed by something that must be, so that nothing waits for silence.

use mcp_proto_client::Interest;
use serde_json::{Map, Value, json};

use crate::harness::{Era, Local, Mcp, add_star, remove_star, set_mass, tick};

fn star(id: &str, parent: &str) -> Value {
    let mut command = add_star(id);
    command["payload"]["parentId"] = json!(parent);
    command
}

#[tokio::test]
async fn a_resource_s_subscribers_are_notified_of_its_changes_and_of_no_others() {
    let server = Local::start().await;
    let client = server.client;
    for era in Era::BOTH {
        let id = client.create("u", json!({})).await;
        let other = client.create("other", json!({})).await;
        for body in ["sun", "earth/1", "mars"] {
            client.command(&id, &add_star(body)).await;
            client.command(&other, &add_star(body)).await;
        }
        let mcp = Mcp::new(client, era).await;
        let uri = |rest: &str| format!("universe://{id}{rest}");
        // Neither needless encoding nor the case of its digits makes another resource.
        let (sun, earth) = (uri("/stars/s%75n"), uri("/stars/earth%2f1"));
        let group = uri("/groups/g");
        let mut heard = mcp.subscribe(&[&earth, &group, &sun]).await;
        let one = [earth.clone()];

        client.command(&id, &tick()).await;
        client.command(&other, &set_mass("sun", 2)).await;
        client.command(&id, &set_mass("mars", 2)).await;
        client.create("unasked", json!({})).await;
        heard.list_changed().await;
        client.command(&id, &set_mass("earth/1", 2)).await;
        assert_eq!(heard.updates().await, one, "by REST");
        mcp.command(&id, &json!({"type": "updateRing", "planetId": "earth/1", "patch": {}})).await;
        assert_eq!(heard.updates().await, one, "by MCP");
        // A refusal and a command that sets what is there already change nothing.
        let unknown = remove_star("pluto");
        let refused = client.post(&format!("/universes/{id}/commands"), &unknown).await;
        assert_eq!(refused.status, 422);
        mcp.command(&id, &set_mass("earth/1", 2)).await;
        // A body that gets or loses a child shows it.
        client
            .command(&id, &json!({"type": "attachStar", "childId": "earth/1", "parentId": "sun"}))
            .await;
        assert_eq!(heard.updates().await, [earth.clone(), sun.clone()]);
        mcp.command(&id, &star("moon", "earth/1")).await;
        assert_eq!(heard.updates().await, one);
        // What was not there when it was subscribed to is reported when it comes.
        let child = json!({"id": "mars", "type": "system"});
        let payload = json!({"name": "g", "children": [child], "parentGroupId": null});
        client.command(&id, &json!({"type": "addGroup", "id": "g", "payload": payload})).await;
        assert_eq!(heard.updates().await, [group.as_str()]);
        client.command(&id, &remove_star("mars")).await;
        assert_eq!(heard.updates().await, [group.as_str()], "it listed mars");
        client.command(&id, &remove_star("sun")).await;
        assert_eq!(heard.updates().await, [earth.clone(), sun.clone()], "with all below it");

        let all = [group, earth, sun];
        client.put(&format!("/universes/{id}"), &json!({"state": {}})).await;
        assert_eq!(heard.updates().await, all, "all was replaced");
        let snapshot = json!({"stars": {}, "rootIds": []});
        mcp.command(&id, &json!({"type": "replaceSnapshot", "snapshot": snapshot})).await;
        assert_eq!(heard.updates().await, all, "all was replaced");
        client.delete(&format!("/universes/{id}")).await;
        assert_eq!(heard.updates().await, all, "all is gone");
        heard.list_changed().await;
    }
}

#[tokio::test]
async fn the_whole_the_summary_and_the_events_change_with_everything_the_tree_with_what_it_shows() {
    let server = Local::start().await;
    let client = server.client;
    for era in Era::BOTH {
        let id = client.create("u", json!({})).await;
        let mcp = Mcp::new(client, era).await;
        let uri = |rest: &str| format!("universe://{id}{rest}");
        let (whole, events) = (uri(""), uri("/events"));
        let (summary, tree) = (uri("/summary"), uri("/tree"));
        let page = uri("/events?after=0");
        let every = [&whole, &events, &page, &summary].map(String::clone);
        let mut heard = mcp.subscribe(&[&whole, &events, &page, &summary, &tree]).await;
        client.command(&id, &tick()).await;
        assert_eq!(heard.updates().await, every);
        let mut with_tree = every.to_vec();
        with_tree.push(tree);
        client.command(&id, &add_star("a")).await;
        assert_eq!(heard.updates::<5>().await.as_slice(), with_tree);
        mcp.command(&id, &tick()).await;
        assert_eq!(heard.updates().await, every);
        // Only the order of the roots changes.
        for group in ["g", "h"] {
            let payload = json!({"name": group, "children": [], "parentGroupId": null});
            client
                .command(&id, &json!({"type": "addGroup", "id": group, "payload": payload}))
                .await;
            assert_eq!(heard.updates::<5>().await.as_slice(), with_tree);
        }
        let last = json!({"type": "moveToGroup", "childId": "g", "childType": "group", "targetGroupId": null});
        client.command(&id, &last).await;
        assert_eq!(heard.updates::<5>().await.as_slice(), with_tree);
        // What is reported has happened.
        assert_eq!(mcp.read(&whole).await["_meta"]["universe-server/revision"], 6);
    }
}

#[tokio::test]
async fn the_list_changes_when_a_universe_comes_goes_or_is_renamed() {
    let server = Local::start().await;
    let client = server.client;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let mut heard = mcp.subscribe(&["universe://"]).await;
        let id = client.create("u", json!({})).await;
        heard.list_changed().await;
        assert_eq!(heard.updates().await, ["universe://"]);
        client.command(&id, &add_star("a")).await;
        client.put(&format!("/universes/{id}"), &json!({"state": {}})).await;
        client.put(&format!("/universes/{id}"), &json!({"name": "u"})).await;
        client.put(&format!("/universes/{id}"), &json!({"name": "v"})).await;
        heard.list_changed().await;
        assert_eq!(heard.updates().await, ["universe://"]);
        assert_eq!(mcp.read_json("universe://").await["universes"][0]["name"], "v");
        client.delete(&format!("/universes/{id}")).await;
        heard.list_changed().await;
        assert_eq!(heard.updates().await, ["universe://"]);
        client.create("last", json!({})).await;
        heard.list_changed().await;
        assert_eq!(heard.updates().await, ["universe://"]);
    }
}

#[tokio::test]
async fn more_changes_than_are_listed_are_reported_as_one_of_everything() {
    let server = Local::start().await;
    let client = server.client;
    let body = |id: &str, parent: Value, children: Vec<String>| {
        let mut body = add_star(id)["payload"].clone();
        body["id"] = json!(id);
        body["parentId"] = parent;
        body["children"] = json!(children);
        body["orbitalPhase"] = json!(0);
        (id.to_owned(), body)
    };
    let below: Vec<_> = (0..1_100).map(|n| format!("b{n}")).collect();
    let mut stars = Map::from_iter(below.iter().map(|id| body(id, json!("top"), Vec::new())));
    stars.extend([body("top", Value::Null, below), body("apart", Value::Null, Vec::new())]);
    let state = json!({"stars": stars, "rootIds": ["top", "apart"]});
    let id = client.create("u", state).await;
    let mcp = Mcp::new(client, Era::Modern).await;
    let uri = |rest: &str| format!("universe://{id}/stars/{rest}");
    let (apart, below) = (uri("apart"), uri("b1099"));
    let mut heard = mcp.subscribe(&[&apart, &below]).await;
    client.command(&id, &remove_star("top")).await;
    assert_eq!(heard.updates().await, [apart, below]);
    assert_eq!(client.universe(&id).await["state"]["rootIds"], json!(["apart"]));
}

#[tokio::test]
async fn what_cannot_be_read_cannot_be_subscribed_to() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let wrong = [
        "universe://u-42".to_owned(),
        "universe://u-42/stars/a".to_owned(),
        format!("universe://{id}/moons/a"),
        format!("universe://{id}/stars/a:b"),
        format!("universe://{id}/tree?x=1"),
        format!("universe://{id}/stars/%ff"),
        "other://x".to_owned(),
    ];
    let legacy = Mcp::new(client, Era::Legacy).await;
    let modern = Mcp::new(client, Era::Modern).await;
    for uri in &wrong {
        let params = json!({ "uri": uri });
        let error = legacy.error("resources/subscribe", params.clone()).await;
        assert_eq!(error["code"], -32002, "{error}");
        let error = modern.error("resources/read", params).await;
        assert_eq!(error["code"], -32602, "{error}");
    }
    let wanted = wrong.iter().fold(Interest::new().resources(), |all, uri| all.resource(uri));
    assert_eq!(
        modern.listen(wanted).await.0.agreed(),
        json!({"resourceSubscriptions": [], "resourcesListChanged": true})
    );
    // After unsubscribing, nothing is received either.
    let uri = format!("universe://{id}");
    let mut heard = legacy.subscribe(&[&uri]).await;
    client.command(&id, &tick()).await;
    assert_eq!(heard.updates().await, [uri.as_str()]);
    legacy.result("resources/unsubscribe", json!({ "uri": uri })).await;
    client.command(&id, &tick()).await;
    client.create("v", json!({})).await;
    heard.list_changed().await;
}
