//! Completion of ids, in both eras.

use serde_json::{Value, json};

use crate::harness::{Era, Local, Mcp, add_star};

async fn complete(mcp: &Mcp, reference: Value, argument: (&str, &str), settled: Value) -> Value {
    let params = json!({
        "ref": reference,
        "argument": {"name": argument.0, "value": argument.1},
        "context": {"arguments": settled},
    });
    let mut result = mcp.result("completion/complete", params).await;
    result["completion"].take()
}

fn template(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

#[tokio::test]
async fn ids_are_completed_by_their_beginning_or_the_beginning_of_a_name() {
    let server = Local::start().await;
    let client = server.client;
    let home = client.create("Home", json!({})).await;
    let away = client.create("Away", json!({})).await;
    for id in ["earth", "Eos", "mars"] {
        client.command(&home, &add_star(id)).await;
    }
    let rename = json!({"type": "updateStar", "id": "mars", "payload": {"name": "Early Mars"}});
    client.command(&home, &rename).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let everywhere = [
            template("universe://{id}"),
            template("universe://{id}/tree{?limit,cursor}"),
            template("universe://{id}/summary"),
            template("universe://{id}/events{?after,limit}"),
            template("universe://{id}/nebulae/{nebulaId}"),
        ];
        for reference in everywhere {
            let mut all = complete(&mcp, reference.clone(), ("id", ""), json!({})).await;
            // The newest first; these two may be as old as each other.
            let mut both = [&away, &home];
            both.sort();
            all["values"].as_array_mut().unwrap().sort_by_key(Value::to_string);
            assert_eq!(all, json!({"values": both, "total": 2}));
            let one = complete(&mcp, reference.clone(), ("id", &home[..8]), json!({})).await;
            assert_eq!(one["values"], json!([home]));
            let named = complete(&mcp, reference, ("id", "aWa"), json!({})).await;
            assert_eq!(named["values"], json!([away]));
        }
        for prompt in ["model_star_system", "explain_universe"] {
            let reference = json!({"type": "ref/prompt", "name": prompt});
            let one = complete(&mcp, reference, ("universe", "ho"), json!({})).await;
            assert_eq!(one["values"], json!([home]));
        }
        let stars = template("universe://{id}/stars/{starId}");
        let star = |typed: &'static str, settled: Value| {
            let (mcp, stars) = (&mcp, stars.clone());
            async move { complete(mcp, stars, ("starId", typed), settled).await["values"].clone() }
        };
        assert_eq!(star("e", json!({"id": home})).await, json!(["Eos", "earth", "mars"]));
        assert_eq!(star("ma", json!({"id": home})).await, json!(["mars"]));
        assert_eq!(star("", json!({"id": away})).await, json!([]));
        assert_eq!(star("", json!({"id": "u-42"})).await, json!([]));
        assert_eq!(star("", json!({})).await, json!([]));
    }
}

#[tokio::test]
async fn at_most_a_hundred_are_listed_and_how_many_there_are() {
    let server = Local::start().await;
    let stars = (0..120).map(|n| {
        let mut star = add_star("x")["payload"].clone();
        star["id"] = json!(format!("b{n}"));
        star["children"] = json!([]);
        star["orbitalPhase"] = json!(0);
        (format!("b{n}"), star)
    });
    let stars = Value::Object(stars.collect());
    let roots: Vec<_> = stars.as_object().unwrap().keys().cloned().collect();
    let id = server.client.create("u", json!({"stars": stars, "rootIds": roots})).await;
    let mcp = Mcp::new(server.client, Era::Modern).await;
    let stars = template("universe://{id}/stars/{starId}");
    let found = complete(&mcp, stars, ("starId", "b"), json!({ "id": id })).await;
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(120), &json!(true)));
}
