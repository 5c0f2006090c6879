//! Universes as pictures: over REST, and for models as resources and by a tool.

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::harness::{Client, Era, Local, Mcp, Reply, Ways, add_star, tick};

const SMALL: &str = "width=400&height=300";

/// A red star with a planet, and names that would be markup.
async fn some(client: Client) -> String {
    let id = client.create("A <b>&amp;", json!({})).await;
    client.command(&id, &add_star("sun")).await;
    let planet = json!({ "type": "addStar", "id": "p", "payload": {
        "name": "</text><script>alert(1)</script>", "mass": 1, "radius": 1, "color": "\"><script>", "parentId": "sun",
        "orbitalDistance": 10, "orbitalSpeed": 90 } });
    client.command(&id, &planet).await;
    id
}

/// Width and height out of a PNG's header.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn text(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    String::from_utf8(reply.body.to_vec()).unwrap()
}

#[tokio::test]
async fn a_universe_is_drawn_as_svg_and_as_png() {
    let server = Local::start().await;
    let client = server.client;
    let id = some(client).await;
    let drawn = client.get(&format!("/universes/{id}.svg")).await;
    let svg = text(&drawn);
    assert_eq!(drawn.header("content-type"), "image/svg+xml");
    assert_eq!(drawn.header("x-content-type-options"), "nosniff");
    assert!(drawn.header("content-security-policy").contains("default-src 'none'"));
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("A &lt;b&gt;&amp;amp;"), "{svg}");
    // Nothing that a universe says becomes markup.
    assert!(!svg.contains("<script"), "{svg}");
    assert!(svg.contains("&lt;/text&gt;"), "{svg}");

    let drawn = client.get(&format!("/universes/{id}.png?{SMALL}")).await;
    assert_eq!((drawn.status, drawn.header("content-type")), (200, "image/png"));
    assert_eq!(size(&drawn.body), (400, 300));
    let accepting = [("accept-encoding", "gzip")];
    let path = format!("/universes/{id}.png?{SMALL}");
    let packed = client.call("GET", &path, &accepting, &Value::Null).await;
    assert!(packed.headers.get("content-encoding").is_none(), "a PNG is compressed in itself");
    let path = format!("/universes/{id}.svg");
    let packed = client.call("GET", &path, &accepting, &Value::Null).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
}

#[tokio::test]
async fn time_theme_and_focus_change_what_is_drawn() {
    let server = Local::start().await;
    let client = server.client;
    let id = some(client).await;
    let draw = async |query: &str| text(&client.get(&format!("/universes/{id}.svg?{query}")).await);
    let present = draw("").await;
    assert_eq!(draw("").await, present, "the same each time");
    // At 90 degrees a second it is where it was after four.
    let later = draw("time=1").await;
    assert_ne!(later, present);
    assert_eq!(draw("time=5").await.replace("time 5 s", "time 1 s"), later);
    assert_ne!(draw("theme=light").await, present);
    let focused = draw("focus=p").await;
    assert!(focused.contains("A &lt;b&gt;&amp;amp;: &lt;/text&gt;"), "{focused}");
    assert!(draw("width=64&height=64").await.contains("viewBox=\"0 0 64 64\""));
    client.command(&id, &json!({ "type": "tick", "dt": 1 })).await;
    assert_eq!(draw("").await.replace("revision 3", "revision 2"), later);
}

#[tokio::test]
async fn everything_wrong_with_the_options_is_reported_at_once() {
    let server = Local::start().await;
    let client = server.client;
    let id = some(client).await;
    for kind in ["svg", "png"] {
        let path = format!("/universes/{id}.{kind}?width=63&height=4097&time=NaN&theme=drak");
        let reply = client.get(&path).await;
        assert_eq!(reply.status, 400);
        assert_eq!(reply.json()["findings"].as_array().unwrap().len(), 4, "{reply:?}");
        assert!(reply.error().contains("did you mean dark?"), "{reply:?}");
        let reply = client.get(&format!("/universes/{id}.{kind}?widht=100")).await;
        assert_eq!(reply.status, 400);
        assert!(reply.error().contains("did you mean width?"), "{reply:?}");
        let reply = client.get(&format!("/universes/{id}.{kind}?focus=moon")).await;
        assert_eq!(reply.status, 404);
        assert!(reply.error().contains("\"moon\""), "{reply:?}");
        let reply = client.get(&format!("/universes/none.{kind}")).await;
        assert_eq!((reply.status, reply.error().as_str()), (404, "universe not found: none"));
        let reply = client.delete(&format!("/universes/{id}.{kind}")).await;
        assert_eq!(reply.status, 405);
    }
}

#[tokio::test]
async fn the_entity_tag_is_of_the_revision_and_the_options() {
    let server = Local::start().await;
    let client = server.client;
    let id = some(client).await;
    let path = format!("/universes/{id}.svg");
    let get = async |path: &str, tag: &str| {
        client.call("GET", path, &[("if-none-match", tag)], &Value::Null).await
    };
    let tag = client.get(&path).await.header("etag").to_owned();
    let same = get(&path, &tag).await;
    assert_eq!((same.status, same.header("etag"), same.body.len()), (304, &*tag, 0));
    let packed = tag.replace("\"", "").to_owned();
    assert_eq!(get(&path, &format!("W/\"{packed}-gzip\"")).await.status, 304);
    assert_eq!(get(&path, "\"2\"").await.status, 200);
    for query in ["theme=light", "time=9", "focus=sun", "width=500"] {
        assert_eq!(get(&format!("{path}?{query}"), &tag).await.status, 200, "{query}");
    }
    let head = client.call("HEAD", &path, &[], &Value::Null).await;
    assert_eq!((head.status, head.header("etag"), head.body.len()), (200, &*tag, 0));
    client.command(&id, &tick()).await;
    assert_eq!(get(&path, &tag).await.status, 200);
}

#[tokio::test]
async fn an_empty_universe_a_crowd_and_a_deep_one_are_drawn_in_bounds() {
    let server = Local::start().await;
    let client = server.client;
    let empty = client.create("Empty", json!({})).await;
    let svg = text(&client.get(&format!("/universes/{empty}.svg")).await);
    assert!(svg.contains("nothing is here yet"), "{svg}");

    let body = |id: &str, parent: Value, children: Vec<String>, distance: usize| {
        json!({
        "id": id, "name": id, "mass": 1, "radius": 1, "color": "#888888", "parentId": parent, "children": children,
        "orbitalDistance": distance, "orbitalSpeed": 1, "orbitalPhase": distance % 360 })
    };
    let ids: Vec<_> = (0..25_000).map(|n| format!("b{n}")).collect();
    let mut stars = serde_json::Map::new();
    stars.insert("sun".to_owned(), body("sun", json!(null), ids.clone(), 0));
    for (id, n) in ids.iter().zip(1..) {
        stars.insert(id.clone(), body(id, json!("sun"), Vec::new(), n));
    }
    let crowd = client.create("Crowd", json!({ "stars": stars, "rootIds": ["sun"] })).await;
    let svg = text(&client.get(&format!("/universes/{crowd}.svg")).await);
    assert!(svg.contains("at most 20000 of them drawn"), "it says what it leaves out");
    assert!(svg.len() < 1 << 20, "{} bytes", svg.len());

    let mut stars = serde_json::Map::new();
    for n in 0..5_000_usize {
        let parent = n.checked_sub(1).map_or(json!(null), |n| json!(format!("d{n}")));
        let children = if n < 4_999 { vec![format!("d{}", n + 1)] } else { Vec::new() };
        let id = format!("d{n}");
        stars.insert(id.clone(), body(&id, parent, children, 10));
    }
    let deep = client.create("Deep", json!({ "stars": stars, "rootIds": ["d0"] })).await;
    let svg = text(&client.get(&format!("/universes/{deep}.svg?focus=d100")).await);
    assert!(svg.contains(": d100"), "{svg}");
}

#[tokio::test]
async fn belts_are_around_their_own_bodies_and_are_read_once() {
    let server = Local::start().await;
    let client = server.client;
    let star = |id: &str| {
        json!({ "id": id, "name": id, "mass": 1, "radius": 1, "color": "#888888", "parentId": null, "children": [],
        "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0 })
    };
    let field = |id: &str, member: &str, host: &str| {
        json!({ "id": id, "name": format!("belt {id}"), "systemId": host, member: host, "innerRadius": 10,
        "outerRadius": 20, "thickness": 1, "particleCount": 9, "baseColor": "#888888", "highlightColor": "#ffffff",
        "opacity": 1, "brightness": 1, "clumpiness": 0, "rotationSpeedMultiplier": 1, "beltType": "main",
        "regionLabel": format!("belt {id}"), "isIcy": false, "seed": 1, "style": "thin" })
    };
    let state = json!({
        "stars": { "a": star("a"), "b": star("b") },
        "rootIds": ["a", "b"],
        "smallBodyFields": { "f": field("f", "hostStarId", "a") },
        "protoplanetaryDisks": { "d": field("d", "centralStarId", "b") },
    });
    let id = client.create("Two", state).await;
    let draw = async |query: &str| text(&client.get(&format!("/universes/{id}.svg?{query}")).await);
    let names = |svg: String| ["belt f", "belt d"].map(|name| svg.contains(name));
    assert_eq!(names(draw("").await), [true, true]);
    assert_eq!(names(draw("focus=a").await), [true, false]);
    assert_eq!(names(draw("focus=b").await), [false, true]);

    // Many of both: each body does not read all of them again.
    let ids: Vec<_> = (0..2_000).map(|n| format!("s{n}")).collect();
    let stars = ids.iter().map(|id| (id.clone(), star(id)));
    let stars: serde_json::Map<_, _> = stars.collect();
    let fields = (0..500).map(|n| (format!("f{n}"), field(&format!("f{n}"), "hostStarId", "s7")));
    let fields: serde_json::Map<_, _> = fields.collect();
    let state = json!({ "stars": stars, "rootIds": ids, "smallBodyFields": fields });
    let many = client.create("Many", state).await;
    let svg = text(&client.get(&format!("/universes/{many}.svg")).await);
    assert!(svg.contains("2000 bodies"), "{}", svg.len());
}

#[tokio::test]
async fn models_look_at_it_by_resources_and_by_a_tool() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    let id = some(client).await;
    for (_, caller) in ways.each() {
        let result = caller
            .tool("draw_universe", json!({ "universeId": id, "focus": "sun", "time": 3 }))
            .await;
        let image = &result["content"][0];
        assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
        let png = BASE64.decode(image["data"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(size(&png), (1_000, 800));
        assert_eq!(result["_meta"]["universe-server/revision"], 2);
        let error =
            caller.error("draw_universe", json!({ "universeId": id, "focus": "moon" })).await;
        assert_eq!(error["code"], "ENTITY_NOT_FOUND", "{error}");
        let error = caller.error("draw_universe", json!({ "universeId": "none" })).await;
        assert_eq!(error["code"], "UNIVERSE_NOT_FOUND", "{error}");
        let error = caller.error("draw_universe", json!({ "universeId": id, "time": 1e300 })).await;
        assert!(error["message"].as_str().unwrap().contains("time"), "{error}");
    }
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let svg = mcp.read(&format!("universe://{id}/picture.svg")).await;
        assert_eq!(svg["mimeType"], "image/svg+xml");
        assert!(svg["text"].as_str().unwrap().starts_with("<svg "), "{svg}");
        let png = mcp.read(&format!("universe://{id}/picture.png")).await;
        assert_eq!(png["mimeType"], "image/png");
        let bytes = BASE64.decode(png["blob"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(size(&bytes), (1_000, 800));
        let unknown =
            mcp.error("resources/read", json!({ "uri": "universe://none/picture.png" })).await;
        assert!(unknown["message"].as_str().unwrap().contains("none"), "{unknown}");

        let mut heard = mcp.subscribe(&[&format!("universe://{id}/picture.png")]).await;
        client.command(&id, &tick()).await;
        let [uri] = heard.updates().await;
        assert_eq!(uri, format!("universe://{id}/picture.png"));
    }
}
