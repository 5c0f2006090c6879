//! Places and pictures as resources, and completion of names.

use mcp_proto::Era;
use mcp_proto::completion::MAX_COMPLETIONS;
use mcp_proto_client::{Client, ClientError};
use serde_json::{Value, json};

use crate::harness::{Built, ERAS, connect, names};

async fn read(client: &Client, uri: &str) -> (String, String) {
    let read = client.request("resources/read", json!({"uri": uri})).await.unwrap();
    let contents = &read["contents"][0];
    assert_eq!(contents["uri"], uri);
    let text = |name: &str| contents[name].as_str().unwrap().to_owned();
    (text("mimeType"), text("text"))
}

async fn read_json(client: &Client, uri: &str) -> Value {
    let (kind, text) = read(client, uri).await;
    assert_eq!(kind, "application/json");
    serde_json::from_str(&text).unwrap()
}

async fn refused(client: &Client, uri: &str) -> (i64, String, Value) {
    let error = client.request("resources/read", json!({"uri": uri})).await.unwrap_err();
    let ClientError::Rpc(error) = error else { panic!("{uri}: {error}") };
    (error.code, error.message.to_string(), error.data.unwrap_or_default())
}

#[tokio::test]
async fn regions_are_listed_and_everything_has_a_template() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        let list = client.request("resources/list", json!({})).await.unwrap();
        assert_eq!(names(&list["resources"]), ["Farvoid", "Northmark", "Southreach"]);
        for listed in list["resources"].as_array().unwrap() {
            let place = read_json(&client, listed["uri"].as_str().unwrap()).await;
            assert_eq!(place["name"], listed["name"]);
        }
        let templates = client.request("resources/templates/list", json!({})).await.unwrap();
        let templates: Vec<&str> = templates["resourceTemplates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["uriTemplate"].as_str().unwrap())
            .collect();
        for template in [
            "starmap://system/{name}",
            "starmap://region/{name}",
            "starmap://constellation/{name}",
            "starmap://picture/route/{origin}/{destination}{?mode}",
            "starmap://picture/region/{name}",
        ] {
            assert!(templates.contains(&template), "{template}: {templates:?}");
        }
    }
}

#[tokio::test]
async fn places_are_read() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        for uri in ["starmap://system/jita", "starmap://system/30000001"] {
            let system = read_json(&client, uri).await;
            assert_eq!(
                (&system["name"], &system["system_id"]),
                (&json!("Jita"), &json!(30_000_001))
            );
            assert_eq!(names(&system["neighbors"]), ["Ostra", "Marrow"]);
            assert_eq!(
                (&system["position"], &system["data_version"]),
                (&json!([0.0, 0.0, 0.0]), &json!("hand-made"))
            );
        }
        let lost = read_json(&client, "starmap://system/J000002").await;
        assert_eq!(lost["position"], Value::Null);
        let region = read_json(&client, "starmap://region/NORTHMARK").await;
        assert_eq!(
            region["counts"],
            json!({"systems": 9, "high": 7, "low": 2, "null": 0, "borders": 4})
        );
        assert_eq!(names(&region["constellations"]), ["Alder", "Birch"]);
        assert_eq!(
            region["exits"],
            json!([{"from": "Rook", "to": "Sable", "security_class": "LOW", "region": "Southreach"}])
        );
        let constellation = read_json(&client, "starmap://constellation/Ember").await;
        assert_eq!(names(&constellation["systems"]), ["J000001", "J000002"]);
        assert_eq!(constellation["exits"], json!([]));
    }
}

#[tokio::test]
async fn pictures_are_read() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        for (picture, told) in [
            ("route/Jita/Amarr", "Jita to Amarr: 3 jumps, shortest"),
            ("route/Jita/Amarr?mode=safe", "Jita to Amarr: 5 jumps, safe"),
            ("region/Northmark", "Northmark (region)"),
        ] {
            let uri = format!("starmap://picture/{picture}");
            let (kind, svg) = read(&client, &uri).await;
            assert_eq!(kind, "image/svg+xml");
            assert!(svg.starts_with("<svg ") && svg.contains(told), "{uri}: {svg}");
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_may_be_meant() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        let missing = match era {
            Era::Legacy => -32_002,
            Era::Modern => -32_602,
        };
        for (place, told) in [
            ("system/Juta", "Unknown system: Juta; did you mean Jita?"),
            ("region/Northmarsh", "did you mean Northmark?"),
            ("constellation/Aldr", "did you mean Alder?"),
            ("picture/region/Nowhere", "Unknown region: Nowhere"),
            ("picture/route/Jita/Isle-A", "No route from Jita to Isle-A: "),
            ("picture/route/Jita/Amarr?mode=fast", "Invalid mode: "),
            ("system/..%2F..%2Fetc%2Fpasswd", "Unknown system: ../../etc/passwd"),
            ("system/", ""),
            ("nothing/x", ""),
        ] {
            let (code, message, _) = refused(&client, &format!("starmap://{place}")).await;
            let is_missing = !message.starts_with("Invalid");
            let expected = if is_missing { missing } else { -32_602 };
            assert_eq!(code, expected, "{place}: {message}");
            assert!(message.contains(told), "{place}: {message}");
        }
        assert_eq!(refused(&client, "file:///etc/passwd").await.0, missing);
        let (.., data) = refused(&client, "starmap://system/Juta").await;
        assert_eq!(
            (&data["code"], &data["details"]),
            (&json!("SYSTEM_NOT_FOUND"), &json!({"suggestions": ["Jita"]}))
        );
    }
}

async fn complete(client: &Client, reference: &Value, argument: &str, typed: &str) -> Value {
    let params = json!({"ref": reference, "argument": {"name": argument, "value": typed}});
    let answer = client.request("completion/complete", params).await.unwrap();
    answer["completion"].clone()
}

#[tokio::test]
async fn names_complete_by_their_beginning_then_by_what_is_in_them() {
    let built = Built::new();
    let server = built.server();
    let of = |uri: &str| json!({"type": "ref/resource", "uri": uri});
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    for era in ERAS {
        let client = connect(&server, era).await;
        let system = of("starmap://system/{name}");
        let region = of("starmap://region/{name}");
        let constellation = of("starmap://constellation/{name}");
        let picture = of("starmap://picture/region/{name}");
        let route = of("starmap://picture/route/{origin}/{destination}{?mode}");
        for (reference, argument, typed, values) in [
            (&system, "name", "mar", &["Marrow", "Amarr"][..]),
            (&system, "name", "ISLE", &["Isle-A", "Isle-B"]),
            (&system, "name", "zzz", &[]),
            (&region, "name", "o", &["Farvoid", "Northmark", "Southreach"]),
            (&constellation, "name", "d", &["Dogwood", "Alder", "Cedar"]),
            (&picture, "name", "nor", &["Northmark"]),
            (&route, "origin", "ji", &["Jita"]),
            (&route, "mode", "sa", &["safe", "safer"]),
            (&prompt("plan_haul"), "destination", "am", &["Amarr"]),
            (&prompt("plan_roam"), "origin", "Quill", &["Quill"]),
        ] {
            let found = complete(&client, reference, argument, typed).await;
            let expected = json!(values);
            assert_eq!(found["values"], expected, "{reference} {argument} {typed}");
            assert_eq!(found["total"], values.len());
        }
        let all = complete(&client, &system, "name", "").await;
        assert_eq!(all["values"].as_array().unwrap().len(), 20.min(MAX_COMPLETIONS));
        let long = complete(&client, &system, "name", &"a".repeat(10_000)).await;
        assert_eq!(long["values"], json!([]));
    }
}
