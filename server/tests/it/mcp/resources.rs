//! Universes as resources, in both eras: what is listed, what is read, and what is said when there is nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Era, Local, Mcp, add_star, tick};

/// A universe with something of every family.
fn full() -> Value {
    let named = |id: &str| json!({"id": id, "name": format!("the {id}"), "children": []});
    let mut a = add_star("a")["payload"].clone();
    a["id"] = json!("a");
    a["children"] = json!(["b/c"]);
    a["orbitalPhase"] = json!(0);
    let mut b = a.clone();
    b["id"] = json!("b/c");
    b["parentId"] = json!("a");
    b["mass"] = json!(0.123_456_789);
    b["children"] = json!([]);
    b["name"] = json!("two\nlines");
    let group = json!({"id": "g", "name": "the g", "parentGroupId": null,
                       "children": [{"id": "a", "type": "system"}]});
    let record = |id: &str, more: Value| {
        let mut record = named(id);
        let members = record.as_object_mut().unwrap();
        members.remove("children");
        members.extend(more.as_object().unwrap().clone());
        json!({ id: record })
    };
    let region = json!({"systemId": "s", "hostStarId": "a", "centralStarId": "a", "innerRadius": 1, "outerRadius": 2,
        "thickness": 1, "particleCount": 1, "baseColor": "", "highlightColor": "", "opacity": 1, "brightness": 1,
        "clumpiness": 0, "rotationSpeedMultiplier": 1, "beltType": "main", "regionLabel": "", "isIcy": false,
        "seed": 1, "style": "thin"});
    let belt = json!({"parentId": "a", "innerRadius": 1, "outerRadius": 2, "thickness": 1, "eccentricity": 0,
        "inclination": 0, "asteroidCount": 0, "asteroidIds": []});
    let nebula = json!({"position": {"x": 0, "y": 0, "z": 0}, "radius": 1, "density": 1, "brightness": 1,
        "baseColor": "", "accentColor": "", "noiseScale": 1, "noiseDetail": 1, "seed": 1});
    json!({
        "stars": {"a": a, "b/c": b}, "rootIds": ["a"], "groups": {"g": group}, "rootGroupIds": ["g"],
        "belts": record("k", belt), "smallBodyFields": record("f", region.clone()),
        "protoplanetaryDisks": record("d", region), "nebulae": record("n", nebula), "time": 5,
    })
}

#[tokio::test]
async fn what_is_offered_is_declared_and_listed() {
    let server = Local::start().await;
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let templates = mcp.result("resources/templates/list", json!({})).await;
        let templates: BTreeSet<_> = templates["resourceTemplates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|template| template["uriTemplate"].as_str().unwrap().to_owned())
            .collect();
        let expected = [
            "universe://{id}",
            "universe://{id}/summary",
            "universe://{id}/picture.svg",
            "universe://{id}/picture.png",
            "universe://{id}/tree{?limit,cursor}",
            "universe://{id}/events{?after,limit}",
            "universe://{id}/stars/{starId}",
            "universe://{id}/groups/{groupId}",
            "universe://{id}/belts/{beltId}",
            "universe://{id}/smallBodyFields/{fieldId}",
            "universe://{id}/protoplanetaryDisks/{diskId}",
            "universe://{id}/nebulae/{nebulaId}",
        ];
        assert_eq!(templates, expected.map(str::to_owned).into());
        let tools = mcp.result("tools/list", json!({})).await;
        assert_eq!(tools["tools"].as_array().unwrap().len(), 3);
    }
    let mcp = Mcp::new(server.client, Era::Modern).await;
    let offered = mcp.result("server/discover", json!({})).await;
    assert_eq!(
        offered["capabilities"],
        json!({"tools": {}, "resources": {"subscribe": true, "listChanged": true}, "prompts": {}, "completions": {},
            "extensions": {"io.modelcontextprotocol/ui": {}}})
    );
    let told = offered["instructions"].as_str().unwrap();
    assert!(told.contains("universe://ID/tree"), "{told}");
}

#[tokio::test]
async fn every_universe_is_listed_once_over_all_pages() {
    let server = Local::start().await;
    let mut ids = BTreeSet::new();
    for n in 0..501 {
        ids.insert(server.client.create(&format!("u{n}"), json!({})).await);
    }
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let first = mcp.result("resources/list", json!({})).await;
        let mut listed = first["resources"].as_array().unwrap().clone();
        assert_eq!(listed.len(), 500);
        assert_eq!(listed[0]["uri"], "universe://");
        assert_eq!(listed.remove(1)["uri"], "ui://universe/view");
        let newest = server.client.get("/universes?view=summary&limit=498").await;
        let newest: Vec<_> =
            newest.json().as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        let titles: Vec<_> = listed[1..].iter().map(|one| one["title"].clone()).collect();
        assert_eq!(titles, newest, "in the order of REST");
        // Something new does not push anything from one page to the next.
        let new = server.client.create("new", json!({})).await;
        let cursor = first["nextCursor"].as_str().unwrap();
        let second = mcp.result("resources/list", json!({ "cursor": cursor })).await;
        assert!(second.get("nextCursor").is_none(), "{second}");
        listed.extend(second["resources"].as_array().unwrap().clone());
        let uris: Vec<_> = listed[1..]
            .iter()
            .map(|one| one["uri"].as_str().unwrap().strip_prefix("universe://"))
            .map(|id| id.unwrap().to_owned())
            .collect();
        assert_eq!(uris.len(), ids.len(), "none twice");
        assert_eq!(BTreeSet::from_iter(uris), ids);
        server.client.delete(&format!("/universes/{new}")).await;

        let all = mcp.read_json("universe://").await;
        assert_eq!(all["universes"].as_array().unwrap().len(), 500);
        assert_eq!(all["more"], true);
    }
}

#[tokio::test]
async fn each_template_is_read() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("Everything", full()).await;
    let state = client.universe(&id).await["state"].clone();
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let uri = |rest: &str| format!("universe://{id}{rest}");
        assert_eq!(mcp.read_json(&uri("")).await, state);
        let tool = mcp.content("get_universe_state", json!({"universeId": id})).await;
        assert_eq!(tool, state);
        let entities = [
            ("stars", "a", "a"),
            ("stars", "b/c", "b%2Fc"),
            ("groups", "g", "g"),
            ("belts", "k", "k"),
            ("smallBodyFields", "f", "%66"),
            ("protoplanetaryDisks", "d", "d"),
            ("nebulae", "n", "n"),
        ];
        for (family, entity, encoded) in entities {
            let read = mcp.read(&uri(&format!("/{family}/{encoded}"))).await;
            let text: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, state[family][entity]);
            assert!(!text.is_null());
            assert_eq!(read["_meta"]["universe-server/revision"], 0);
        }
        let summary = mcp.read_json(&uri("/summary")).await;
        let record = client.get("/universes?view=summary").await.json()[0].clone();
        for member in ["id", "name", "revision", "createdAt", "updatedAt"] {
            assert_eq!(summary[member], record[member], "{member}");
        }
        assert_eq!(summary["uri"], uri(""));
        assert_eq!(summary["time"], 5.0);
        assert_eq!(summary["counts"]["stars"], 2);
        let listed = mcp.read_json("universe://").await;
        let listed = &listed["universes"][0];
        assert_eq!((&listed["uri"], &listed["name"]), (&summary["uri"], &summary["name"]));
        assert_eq!(listed["updatedAt"], record["updatedAt"]);

        let tree = mcp.read(&uri("/tree")).await;
        assert_eq!(tree["mimeType"], "text/plain");
        let tree = tree["text"].as_str().unwrap();
        let lines = [
            "- a [a] star, mass 1, radius 1, distance 0",
            "  - two lines [b/c] star, mass 0.123457, radius 1, distance 0",
            "- the g [g]",
            "  - system [a]",
            "- the k [k]",
            "- the f [f]",
            "- the d [d]",
            "- the n [n]",
        ];
        let told: Vec<_> = tree.lines().filter(|line| line.trim_start().starts_with('-')).collect();
        assert_eq!(told, lines, "{tree}");
    }
}

#[tokio::test]
async fn the_history_is_read_page_by_page() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    client.command(&id, &add_star("a")).await;
    for _ in 0..3 {
        client.command(&id, &tick()).await;
    }
    client.put(&format!("/universes/{id}"), &json!({"name": "v", "state": {}})).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let first = mcp.read_json(&format!("universe://{id}/events?after=0&limit=2")).await;
        assert_eq!(first["revision"], 5);
        let entries = first["entries"].as_array().unwrap();
        assert_eq!(entries[0]["command"], add_star("a"));
        assert_eq!(entries[0]["events"], json!([{"type": "starAdded", "id": "a"}]));
        assert_eq!(entries[1]["revision"], 2);
        let second = mcp.read_json(first["next"].as_str().unwrap()).await;
        let third = mcp.read_json(second["next"].as_str().unwrap()).await;
        assert_eq!(third["entries"][0]["replaced"], json!({"name": "v", "state": true}));
        assert!(third.get("next").is_none(), "{third}");
        let latest = mcp.read_json(&format!("universe://{id}/events?limit=1")).await;
        assert_eq!(latest["entries"], third["entries"]);
        let all = mcp.read_json(&format!("universe://{id}/events")).await;
        assert_eq!(all["entries"].as_array().unwrap().len(), 5);
        for wrong in ["after=6", "after=x", "limit=0", "limit=101"] {
            let uri = format!("universe://{id}/events?{wrong}");
            let error = mcp.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!(error["code"], -32602, "{error}");
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_named_with_where_to_look() {
    let server = Local::start().await;
    let id = server.client.create("u", full()).await;
    let long = format!("universe://{}", "x".repeat(201));
    for (era, code) in [(Era::Legacy, -32002), (Era::Modern, -32602)] {
        let mcp = Mcp::new(server.client, era).await;
        let rows = [
            ("universe://u-42".to_owned(), vec!["u-42", "universe://"]),
            ("universe://u-42/tree".to_owned(), vec!["u-42"]),
            ("universe://u-42/stars/a".to_owned(), vec!["u-42"]),
            ("universe://u-42/events".to_owned(), vec!["u-42"]),
            (long.clone(), vec!["not found"]),
            (format!("universe://{id}/stars/zz"), vec!["\"zz\"", "stars", &id, "/tree"]),
            (format!("universe://{id}/nebulae/a"), vec!["\"a\"", "nebulae"]),
            (format!("universe://{id}/moons/a"), vec!["resources/templates/list"]),
            (format!("universe://{id}/stars/a/b"), vec!["resources/templates/list"]),
            (format!("universe://{id}?x=1"), vec!["resources/templates/list"]),
        ];
        for (uri, told) in rows {
            let error = mcp.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)));
            let message = error["message"].as_str().unwrap();
            assert!(told.iter().all(|part| message.contains(part)), "{message}");
            if uri.contains("u-42") {
                assert_eq!(error["data"]["knownIds"], json!([id]));
            }
        }
    }
}

#[tokio::test]
async fn a_large_universe_is_read_whole_and_as_an_outline() {
    const BODIES: usize = 3_000;
    let server = Local::start().await;
    let mut body = add_star("x")["payload"].clone();
    body["orbitalPhase"] = json!(0);
    // A chain: each orbits the one before, deeper than anything is indented.
    let stars = (0..BODIES).map(|n| {
        let mut star = body.clone();
        star["id"] = json!(format!("b{n}"));
        star["parentId"] = (n > 0).then(|| format!("b{}", n - 1)).into();
        star["children"] = if n + 1 < BODIES { json!([format!("b{}", n + 1)]) } else { json!([]) };
        (format!("b{n}"), star)
    });
    let state = json!({"stars": Value::Object(stars.collect()), "rootIds": ["b0"]});
    let id = server.client.create("u", state).await;
    let mcp = Mcp::new(server.client, Era::Modern).await;
    let whole = mcp.read_json(&format!("universe://{id}")).await;
    assert_eq!(whole["stars"].as_object().unwrap().len(), BODIES);
    let mut uri = format!("universe://{id}/tree");
    let mut tree = String::new();
    loop {
        let page = mcp.read(&uri).await;
        tree.push_str(page["text"].as_str().unwrap());
        let last = tree.lines().last().unwrap().strip_prefix("… and ");
        let Some((_, next)) = last.and_then(|last| last.split_once(" more: ")) else { break };
        uri = next.to_owned();
    }
    let last = tree.lines().last().unwrap();
    assert!(last.trim_start().starts_with("(level 2999) - x [b2999]"), "{last}");
    assert!(tree.lines().all(|line| line.len() < 200));
    assert_eq!(tree.matches("- x [").count(), BODIES);
}
