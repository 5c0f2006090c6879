//! Prompts: what they ask for, and the facts that they bring.

use mcp_proto_client::{Client, ClientError};
use serde_json::{Value, json};

use crate::assert_has;
use crate::harness::{Built, ERAS, connect, names};

async fn get(client: &Client, name: &str, arguments: Value) -> Result<Vec<Value>, String> {
    let params = json!({"name": name, "arguments": arguments});
    match client.request("prompts/get", params).await {
        Ok(prompt) => Ok(prompt["messages"].as_array().unwrap().clone()),
        Err(ClientError::Rpc(error)) => Err(error.message.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn prompts_bring_what_the_map_says() {
    let built = Built::new();
    let server = built.live_server();
    for era in ERAS {
        let client = connect(&server, era).await;
        let listed = client.request("prompts/list", json!({})).await.unwrap();
        let mut listed = names(&listed["prompts"]);
        listed.sort_unstable();
        assert_eq!(listed, ["plan_fleet_move", "plan_haul", "plan_roam"]);

        let ends = json!({"origin": "jita", "destination": "Amarr", "cargo": "8,000 m³ of ore"});
        let haul = get(&client, "plan_haul", ends).await.unwrap();
        let text = haul[0]["content"]["text"].as_str().unwrap();
        for told in [
            "from Jita to Amarr",
            "Cargo: 8,000 m³ of ore",
            "data hand-made",
            "shortest: 3 jumps (2 systems high, 2 low, 0 null): Jita 0.9 > Marrow 0.4 [21 kills] > Tarn 0.3 [5 kills]",
            "safe: 5 jumps",
            "Marrow (LOW security), which has only two gates",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
        // The ends of the way come as resources that can be read again.
        let uris: Vec<&str> =
            haul[1..].iter().map(|it| it["content"]["resource"]["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, ["starmap://system/Jita", "starmap://system/Amarr"]);
        client.request("resources/read", json!({"uri": uris[0]})).await.unwrap();

        let fleet = json!({"origin": "Kestrel", "destination": "Quill", "fleet": "ten cruisers"});
        let fleet = get(&client, "plan_fleet_move", fleet).await.unwrap();
        let text = fleet[0]["content"]["text"].as_str().unwrap();
        assert_has(text, &["Fleet: ten cruisers", "Sable 0.1 > Nadir 0.0"]);

        let roam = get(&client, "plan_roam", json!({"origin": "Pell"})).await.unwrap();
        let text = roam[0]["content"]["text"].as_str().unwrap();
        for told in [
            "Pell 0.5 and within 6 jumps",
            "nearest of low security: Sable 0.1 (2 jumps)",
            "Amarr (1 jumps)",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }
}

#[tokio::test]
async fn a_prompt_for_nowhere_is_refused_in_words() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        for (name, arguments, told) in [
            ("plan_haul", json!({"origin": "Juta", "destination": "Amarr"}), "did you mean Jita?"),
            (
                "plan_haul",
                json!({"origin": "Jita", "destination": "Isle-A"}),
                "No route from Jita to Isle-A",
            ),
            ("plan_roam", json!({}), "origin"),
            ("plan_mine", json!({}), "plan_mine"),
        ] {
            let error = get(&client, name, arguments).await.unwrap_err();
            assert!(error.contains(told), "{name}: {error}");
        }
    }
}
