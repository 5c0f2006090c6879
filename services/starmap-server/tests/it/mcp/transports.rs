//! The same answers over pipes and over HTTP as in memory, in both eras; by the binaries.

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use crate::assert_has;
use crate::harness::{Built, ERAS, Listening, binary, call, connect, soon};

fn questions() -> Vec<(&'static str, Value)> {
    vec![
        (
            "route",
            json!({"origin": "Jita", "destination": "Umbra", "mode": "safe", "detail": "full"}),
        ),
        ("route", json!({"origin": "Jita", "destination": "Isle-B"})),
        ("route", json!({"origin": "Jita", "destination": "Amarr", "speed": 9})),
        ("systems", json!({"systems": ["Juta", "Jita"]})),
        ("borders", json!({"origin": "Velm"})),
        ("search", json!({"security_max": 0})),
        ("loop", json!({"origin": "Kestrel", "target_jumps": 10, "min_borders": 2})),
        ("analyze", json!({"systems": ["Jita", "Marrow", "Tarn"]})),
        ("nearest", json!({"origin": "Juta"})),
        ("optimize_waypoints", json!({"waypoints": ["Velm", "Rook", "Tarn"]})),
        ("distances", json!({"systems": ["Jita", "Amarr"]})),
        ("jump_range", json!({"origin": "Rook", "light_years": 6.5})),
        ("fw_frontlines", json!({})),
    ]
}

#[tokio::test]
async fn every_transport_gives_the_same_answers() {
    let built = Built::new();
    let (server, dump) = (built.live_server(), built.dump());
    // As the programs are.
    server.server().layer(&mcp_proto::layers::lenient());
    let listening = Listening::new(&built.graph(), &["--activity", dump.to_str().unwrap()]).await;
    for era in ERAS {
        let memory = connect(&server, era).await;
        let http = Client::http(&listening.url, ClientConfig::new(era)).await.unwrap();
        let mut command = binary("aria-universe");
        command.arg("--graph").arg(built.graph()).arg("--activity").arg(&dump);
        let stdio = Client::stdio(command, ClientConfig::new(era)).await.unwrap();
        for (tool, arguments) in questions() {
            let mut expected = call(&memory, tool, arguments.clone()).await;
            forget_age(&mut expected);
            for client in [&http, &stdio] {
                let mut answer = soon(call(client, tool, arguments.clone())).await;
                forget_age(&mut answer);
                assert_eq!(answer, expected, "{era:?} {tool} {arguments}");
            }
        }
        stdio.close().await.unwrap();
    }
}

/// The one thing that depends on the clock.
fn forget_age(answer: &mut Result<Value, Value>) {
    if let Ok(Value::Object(answer)) = answer {
        answer.remove("age_seconds");
        let nested = answer.get_mut("activity").and_then(Value::as_object_mut);
        if let Some(nested) = nested {
            nested.remove("age_seconds");
        }
    }
}

#[tokio::test]
async fn a_token_at_the_door_is_asked_for() {
    let built = Built::new();
    let token = built.folder().join("token");
    std::fs::write(&token, "open-sesame\n").unwrap();
    let listening =
        Listening::new(&built.graph(), &["--token-file", token.to_str().unwrap()]).await;
    let refused = Client::http(&listening.url, ClientConfig::new(Era::Legacy)).await;
    assert_has(&refused.unwrap_err().to_string(), &["Authorization: Bearer TOKEN"]);
}
