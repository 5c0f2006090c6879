//! What players and makers of tools have reported, asked of the tools on the real map. Each names its thread.

use std::path::PathBuf;

use serde_json::{Value, json};
use starmap_server::UniverseServer;

use crate::assert_has;
use crate::common::real_folder;
use crate::harness::{ERAS, connect, names};

/// A server over the real map, with a file of connections if there is one.
struct Field {
    server: UniverseServer,
    _folder: tempfile::TempDir,
}

impl Field {
    fn new(connections: Option<&str>) -> Option<Self> {
        let map = real_folder()?.join("universe_cache.json.gz");
        let folder = tempfile::TempDir::new().unwrap();
        let mut server = UniverseServer::new(Some(&map)).unwrap();
        if let Some(text) = connections {
            let path: PathBuf = folder.path().join("connections");
            std::fs::write(&path, text).unwrap();
            server = server.with_connections(path);
        }
        server.load_graph().unwrap();
        server.load_connections().unwrap();
        Some(Self { server, _folder: folder })
    }

    /// The answer in both eras, or the error.
    async fn ask(&self, tool: &str, arguments: Value) -> Value {
        let mut answers = Vec::new();
        for era in ERAS {
            let client = connect(&self.server, era).await;
            let result = client.call_tool_raw(tool, arguments.clone()).await.unwrap();
            let text = result["content"][0]["text"].as_str().unwrap();
            answers.push(serde_json::from_str::<Value>(text).unwrap());
        }
        assert_eq!(answers[0], answers[1]);
        answers.swap_remove(0)
    }

    async fn space(&self, system: &str) -> String {
        let full = json!({"systems": system, "detail": "full"});
        self.ask("systems", full).await["systems"][0]["space"].as_str().unwrap().to_owned()
    }

    async fn jumps(&self, origin: &str, destination: &str, more: Value) -> Value {
        let mut arguments =
            json!({"origin": origin, "destination": destination, "detail": "names"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("route", arguments).await
    }
}

#[tokio::test]
async fn the_security_of_a_system_is_that_of_the_game() {
    let Some(field) = Field::new(None) else { return };
    for (thread, system, space) in [
        ("exodus4d/pathfinder#109", "Ayeroilen", "low security"),
        ("exodus4d/pathfinder#391", "Aunenen", "low security"),
        ("rohimma/navbot#36", "Aunenen", "low security"),
        ("exodus4d/pathfinder#265", "Schoorasana", "low security"),
        ("exodus4d/pathfinder#139", "Neziel", "low security"),
        ("exodus4d/pathfinder#9", "Kulelen", "high security"),
        ("zKillboard/zKillboard#314", "Litiura", "high security"),
        ("zKillboard/zKillboard#313", "Naga", "low security"),
        ("exodus4d/pathfinder#304", "Naga", "low security"),
        ("GoldenGnu/jeveassets#53", "Sakht", "low security"),
        ("esi/esi-docs, system security", "Enderailen", "low security"),
        ("esi/esi-docs, static data", "J100001", "wormhole space"),
    ] {
        assert_has(&field.space(system).await, &[space]);
        assert!(!thread.is_empty());
    }
    // exodus4d/pathfinder#304: it is not among those of null security either.
    let null = json!({"name": "Naga", "security_class": "null"});
    let found = field.ask("search", null).await;
    assert!(!found["systems"].to_string().contains("\"Naga\""), "{found}");
}

#[tokio::test]
async fn ways_are_as_long_as_in_the_game() {
    let Some(field) = Field::new(None) else { return };
    for (thread, from, to, more, jumps) in [
        ("esi/esi-issues#1466", "Jita", "Uktiad", json!({}), 23),
        ("esi/esi-issues#1285", "Jita", "Amarr", json!({}), 11),
        ("esi/esi-issues#1371", "Jita", "Amarr", json!({}), 11),
        ("pfh59/eve-whmapper#216", "Hykkota", "Ahbazon", json!({}), 1),
        ("exodus4d/pathfinder#1032", "Jita", "Kizama", json!({}), 22),
        ("esi/esi-routes#12", "Intaki", "Amygnon", json!({}), 1),
        ("esi/esi-routes#12", "Athounon", "Samanuni", json!({}), 1),
        ("old flag of the public API", "Jita", "Amarr", json!({"mode": "secure"}), 45),
    ] {
        let route = field.jumps(from, to, more).await;
        assert_eq!(route["jumps"], jumps, "{thread} {route}");
    }
    // Xanthos-Code/vintel#74: the gates of a system.
    let full = json!({"systems": "F9E-KX", "detail": "full"});
    let gates = field.ask("systems", full).await["systems"][0]["neighbors"].to_string();
    assert_has(&gates, &["D-GTMI", "SV5-8N"]);
    // exodus4d/pathfinder#1032: no gate joins them.
    let way = field.ask("analyze", json!({"systems": ["Neesher", "Amsen"]})).await;
    assert_has(&way["error"]["message"].to_string(), &["no gate joins Neesher and Amsen"]);
    // secondfry/shortcircuit#30
    let route = field.jumps("Jita", "G-R4W1", json!({})).await;
    assert_eq!(route["jumps"], 32);
    assert_has(&route["warnings"].to_string(), &["15 jumps through Zarzakh is left out"]);
}

#[tokio::test]
async fn safe_ways_say_where_they_are_not() {
    let Some(field) = Field::new(None) else { return };
    // exodus4d/pathfinder#537: Aunenen on the way is low security, and a safe route says so.
    let route = field.jumps("Otalieto", "Jita", json!({"mode": "safe"})).await;
    assert_has(
        &route["warnings"].to_string(),
        &["although it was asked to be safe", "low-security"],
    );
    // rohimma/navbot#66: high security that is reached through low alone.
    for island in ["Uesuro", "Elanoda", "Aivoli"] {
        let route = field.jumps("Jita", island, json!({"mode": "safe"})).await;
        assert_has(&route["warnings"].to_string(), &["although it was asked to be safe"]);
    }
    // From low security too.
    let route = field.jumps("Aunenen", "Naga", json!({"mode": "safe"})).await;
    assert_has(&route["warnings"].to_string(), &["low-security"]);
    // rohimma/navbot#66, esi/esi-routes#9: many systems to avoid at once.
    let systems = field.ask("search", json!({"region": "The Forge", "limit": 100})).await;
    let avoid: Vec<&str> =
        names(&systems["systems"]).into_iter().filter(|it| *it != "Jita").take(60).collect();
    let more = json!({"avoid_systems": avoid, "avoid_regions": ["Pochven"]});
    let route = field.jumps("Amarr", "Dodixie", more).await;
    assert!(names(&route["names"]).iter().all(|it| !avoid.contains(it)), "{route}");
}

#[tokio::test]
async fn what_gates_do_not_join_is_explained() {
    let Some(field) = Field::new(None) else { return };
    for (thread, from, to, parts) in [
        ("esi/esi-issues#1249", "Jita", "Niarja", ["Pochven", "no gates join"]),
        ("esi/esi-issues#1251", "Amarr", "Niarja", ["Pochven", "no gates join"]),
        ("exodus4d/pathfinder#1001", "Jita", "Raravoss", ["Pochven", "no gates join"]),
        ("esi/esi-issues#873", "Jita", "AD001", ["abyssal space", "no gate"]),
        ("Slazanger/SMT#68", "Jita", "Thera", ["wormhole space", "no gate"]),
    ] {
        let said = field.jumps(from, to, json!({})).await;
        assert_eq!(said["error"]["code"], "ROUTE_NOT_FOUND", "{thread} {said}");
        assert_has(&said["error"]["message"].to_string(), &parts);
    }
}

#[tokio::test]
async fn connections_of_other_tools_lead_somewhere() {
    // pfh59/eve-whmapper#369, #366 and wanderer-industries/wanderer#550: what eve-scout publishes.
    let scout = r#"[{"id": "1", "wh_type": "F135", "max_ship_size": "xlarge", "expires_at": "2099-01-01T00:00:00.000Z",
        "out_system_id": 31000005, "out_system_name": "Thera", "in_system_id": 30000142, "in_system_name": "Jita"},
        {"id": "2", "wh_type": "T458", "max_ship_size": "large", "expires_at": "2099-01-01T00:00:00.000Z",
        "out_system_id": 31000005, "out_system_name": "Thera", "in_system_id": 30002187, "in_system_name": "Amarr"}]"#;
    let Some(field) = Field::new(Some(scout)) else { return };
    let route = field.jumps("Jita", "Amarr", json!({})).await;
    assert_eq!(names(&route["names"]), ["Jita", "Thera", "Amarr"]);
    assert_has(&route["connections_used"].to_string(), &["wormhole", "xlarge", "file", "2099"]);
    // exodus4d/pathfinder#1013
    assert_eq!(field.jumps("Jita", "Amarr", json!({"ship": "xlarge"})).await["jumps"], 11);
    // exodus4d/pathfinder#974, WormholeSystems/WormholeSystems#70
    assert_eq!(field.jumps("Jita", "Amarr", json!({"own_connections": false})).await["jumps"], 11);
    // GQuantrill/eve-nexum#358, GQuantrill/eve-nexum#357: in safe mode wormhole space is null security.
    let safe = field.jumps("Jita", "Amarr", json!({"mode": "safe"})).await;
    assert_eq!((&safe["jumps"], &safe["connections_used"]), (&json!(45), &Value::Null));
    // exodus4d/pathfinder#433: from the chain itself it is safe from its end on.
    let chain = field.jumps("Thera", "Jita", json!({"mode": "safe"})).await;
    assert_eq!(chain["jumps"], 1);
    // farshield/shortcircuit#17: the older layout of eve-scout.
    let older = r#"[{"id": 1, "status": "Active", "sourceSolarSystem": {"id": 31000005, "name": "Thera"},
        "destinationSolarSystem": {"id": 30000142, "name": "Jita", "region": {"id": 10000002}}}]"#;
    let Some(field) = Field::new(Some(older)) else { return };
    assert_eq!(field.jumps("Thera", "Perimeter", json!({})).await["jumps"], 2);
}

#[tokio::test]
async fn bridges_count_wherever_jumps_are_counted() {
    // WormholeSystems/WormholeSystems#57: bridges count in what is near. exodus4d/pathfinder#963: they are told.
    let Some(field) =
        Field::new(Some("1034323745897 MJYW-3 --> Alsavoinon\n1DQ1-A \u{bb} T5ZI-S - road"))
    else {
        return;
    };
    let near = json!({"origin": "MJYW-3", "among": ["Alsavoinon"]});
    let near = field.ask("nearest", near).await;
    assert_eq!(near["systems"][0][2], 1, "{near}");
    let row = json!({"systems": ["MJYW-3"], "to": ["Alsavoinon"]});
    assert_eq!(field.ask("distances", row).await["jumps"], json!([["MJYW-3", 1]]));
    let route = field.jumps("MJYW-3", "Alsavoinon", json!({})).await;
    assert_has(&route["connections_used"].to_string(), &["bridge", "MJYW-3"]);
    // wanderer-industries/wanderer#630 (bridges anywhere), pfh59/eve-whmapper#230 (a hole between two null systems),
    // evemonk/eve_online#1426 (pairs of ids)
    for connection in [
        json!({"from": "Jita", "to": "Amarr", "kind": "bridge"}),
        json!({"from": 30000142, "to": 30002187, "kind": "wormhole"}),
        json!([30000142, 30002187]),
    ] {
        let route = field.jumps("Jita", "Amarr", json!({"connections": [connection]})).await;
        assert_eq!(route["jumps"], 1, "{connection}");
    }
    let hole = json!({"connections": [{"from": "1DQ1-A", "to": "HED-GP", "kind": "wormhole"}]});
    assert_eq!(field.jumps("1DQ1-A", "HED-GP", hole).await["jumps"], 1);
    // evemonk/eve_online#1426: the arguments of the public API.
    let body = json!({"flag": "secure"});
    let said = field.jumps("Jita", "Amarr", body).await["error"]["message"].to_string();
    assert_has(&said, &["did you mean mode?"]);
    let body = json!({"avoid": [30005196]});
    let said = field.jumps("Jita", "Amarr", body).await["error"]["message"].to_string();
    assert_has(&said, &["did you mean avoid_systems?"]);
}
