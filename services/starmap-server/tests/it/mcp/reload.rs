//! The map and the overlay are read again when their files change.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, Interest, ListenEvent};
use serde_json::{Value, json};
use starmap_server::load;
use starmap_server::map::{Map, Parts};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::ChildStderr;

use crate::common::{export, generated, put, small_parts};
use crate::harness::{Built, ERAS, Listening, binary, soon};

/// The small map with one system renamed and another version.
fn renamed() -> Parts {
    let mut parts = small_parts();
    parts.version = "newer".to_owned();
    parts.systems[1].name = "Ostrava".to_owned();
    parts
}

/// A file that is put in place of another at once, as everybody should.
fn swap(path: &Path, contents: &[u8]) {
    let beside = path.with_extension("new");
    fs::write(&beside, contents).unwrap();
    fs::rename(&beside, path).unwrap();
}

/// A client over HTTP that receives notifications, and subscribes to Jita.
async fn listener(url: &str) -> (Client, mcp_proto_client::Listening) {
    let client = Client::http(url, ClientConfig::new(Era::Modern)).await.unwrap();
    let wanted = Interest::new().resources();
    let wanted = wanted.resource("starmap://system/Jita");
    let listening = client.listen(wanted).await.unwrap();
    (client, listening)
}

/// The method of the next notification.
async fn next_method(listening: &mut mcp_proto_client::Listening) -> String {
    match soon(listening.next()).await {
        Some(ListenEvent::Notification(sent)) => sent.method,
        other => panic!("{other:?}"),
    }
}

async fn system(client: &Client, name: &str) -> Option<Value> {
    let arguments = json!({"systems": [name]});
    let found = soon(client.call_tool_raw("systems", arguments)).await.unwrap();
    let found = &found["structuredContent"];
    (found["found"] == 1).then(|| found.clone())
}

#[tokio::test]
async fn a_new_map_is_taken_and_told() {
    let built = Built::new();
    let server = Listening::new(&built.graph(), &[]).await;
    let (client, mut listening) = listener(&server.url).await;
    assert!(system(&client, "Ostra").await.is_some());
    let (map, _) = Map::new(renamed()).unwrap();
    load::write(&map, &built.graph()).unwrap();
    let methods = [next_method(&mut listening).await, next_method(&mut listening).await];
    let methods = methods.each_ref().map(String::as_str);
    assert!(methods.contains(&"notifications/resources/list_changed"), "{methods:?}");
    assert!(methods.contains(&"notifications/resources/updated"), "{methods:?}");
    assert!(system(&client, "Ostra").await.is_none());
    let found = system(&client, "Ostrava").await.unwrap();
    assert_eq!(found["data_version"], "newer");
}

// GoldenGnu/jeveassets#547: a field of the export is renamed while a server runs
#[tokio::test]
async fn a_map_that_lost_its_gates_is_not_taken_and_the_answers_say_so() {
    let folder = tempfile::TempDir::new().unwrap();
    let parts = generated(11, 1_500);
    let documents = export(&parts);
    put(folder.path(), &documents);
    let gates = folder.path().join("mapStargates.jsonl");
    let lost = documents[4].1.replace("\"destination\":", "\"target\":");
    for (accept, jumps) in [(false, true), (true, false)] {
        swap(&gates, documents[4].1.as_bytes());
        let more: &[&str] = if accept { &["--accept-losses"] } else { &[] };
        let server = Listening::new(folder.path(), more).await;
        let client = Client::http(&server.url, ClientConfig::new(Era::Modern)).await.unwrap();
        let (from, to) = parts.gates[0];
        let arguments = json!({"origin": from, "destination": to});
        swap(&gates, lost.as_bytes());
        let told = if accept {
            "entries of the map are left out or changed"
        } else {
            "the map is kept as it was"
        };
        soon(async {
            loop {
                let arguments = json!({"systems": [from]});
                let found = client.call_tool_raw("systems", arguments).await.unwrap();
                let said = found["structuredContent"]["warnings"].to_string();
                if said.contains(told) {
                    assert!(accept || said.contains("mapStargates.jsonl: "), "{said}");
                    assert!(accept || said.contains("have no destination"), "{said}");
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        })
        .await;
        let route = client.call_tool_raw("route", arguments).await.unwrap();
        assert_eq!(route["isError"] != true, jumps, "{route}");
    }
}

/// A server with its log, line by line.
struct Logged {
    client: Client,
    log: Lines<BufReader<ChildStderr>>,
    _child: tokio::process::Child,
}

impl Logged {
    async fn new(arguments: &[&Path]) -> Self {
        let mut command = binary("starmap-server");
        command.args(["mcp", "--listen", "127.0.0.1:0"]);
        let names = ["--graph", "--activity", "--connections"];
        for (name, value) in names.iter().zip(arguments) {
            command.arg(name).arg(value);
        }
        let mut child =
            command.env("ARIA_UNIVERSE_LOG_LEVEL", "INFO").stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = soon(log.next_line()).await.unwrap().expect("it listens");
            if let Some(url) = line.strip_prefix("listening on ") {
                break url.to_owned();
            }
        };
        let client = Client::http(&url, ClientConfig::new(Era::Modern)).await.unwrap();
        Self { client, log, _child: child }
    }

    /// Waits for a line of the log; gives all lines up to it.
    async fn until(&mut self, told: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = soon(self.log.next_line()).await.unwrap().expect("it still runs");
            let found = line.contains(told);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }
}

#[tokio::test]
async fn a_broken_map_is_told_once_and_the_old_one_kept() {
    let built = Built::new();
    let graph = built.graph();
    let good = fs::read(&graph).unwrap();
    let mut server = Logged::new(&[&graph]).await;
    swap(&graph, &good[..good.len() / 2]);
    let lines = server.until("the map is kept as it was").await;
    assert!(lines.last().unwrap().contains("map.graph"), "{lines:?}");
    assert!(system(&server.client, "Jita").await.is_some());
    // Once it is whole again it is taken.
    let (map, _) = Map::new(renamed()).unwrap();
    load::write(&map, &graph).unwrap();
    let lines = server.until("map loaded").await;
    let kept = lines.iter().filter(|line| line.contains("is kept"));
    assert_eq!(kept.count(), 0, "{lines:?}");
    assert!(system(&server.client, "Ostrava").await.is_some());
}

#[tokio::test]
async fn the_tables_of_a_folder_are_followed() {
    let folder = tempfile::TempDir::new().unwrap();
    put(folder.path(), &crate::common::fuzzwork(&small_parts()));
    let mut server = Logged::new(&[folder.path()]).await;
    assert!(system(&server.client, "Ostra").await.is_some());
    for (name, text) in crate::common::fuzzwork(&renamed()) {
        if name == "mapSolarSystems.csv" {
            swap(&folder.path().join(name), text.as_bytes());
        }
    }
    server.until("map loaded").await;
    assert!(system(&server.client, "Ostrava").await.is_some());
}

#[tokio::test]
async fn the_overlay_comes_changes_and_goes() {
    let built = Built::new();
    let dump = built.folder().join("activity.json");
    let kills = |count: u32| {
        json!([{"system_id": crate::common::id_of("Tarn"), "ship_kills": count, "pod_kills": 0, "npc_kills": 0}])
            .to_string()
    };
    let counted = async |client: &Client| {
        let asked = client.call_tool_raw("activity", json!({"systems": ["Tarn"]}));
        let answer = asked.await.ok()?;
        answer["structuredContent"]["systems"][0][2].as_u64()
    };
    // It need not be there at the start.
    let mut server = Logged::new(&[&built.graph(), &dump]).await;
    assert_eq!(counted(&server.client).await, None);
    assert!(system(&server.client, "Tarn").await.is_some());
    swap(&dump, kills(3).as_bytes());
    server.until("activity overlay loaded").await;
    assert_eq!(counted(&server.client).await, Some(3));
    swap(&dump, b"{\"system_kills\": ");
    server.until("overlay is kept as it was").await;
    assert_eq!(counted(&server.client).await, Some(3));
    swap(&dump, kills(8).as_bytes());
    server.until("activity overlay loaded").await;
    assert_eq!(counted(&server.client).await, Some(8));
    fs::remove_file(&dump).unwrap();
    server.until("overlay is gone").await;
    assert_eq!(counted(&server.client).await, None);
}

#[tokio::test]
async fn the_live_tools_come_and_go_with_the_overlay_and_clients_hear_of_it() {
    let built = Built::new();
    let dump = built.folder().join("activity.json");
    let listening = Listening::new(&built.graph(), &["--activity", dump.to_str().unwrap()]).await;
    let mut clients =
        vec![Client::http(&listening.url, ClientConfig::new(Era::Modern)).await.unwrap()];
    for era in ERAS {
        let mut command = binary("starmap-server");
        command.args(["mcp", "--graph"]).arg(built.graph());
        command.arg("--activity").arg(&dump);
        clients.push(Client::stdio(command, ClientConfig::new(era)).await.unwrap());
    }
    let mut all = Vec::new();
    for client in clients {
        let listening = client.listen(Interest::new().tools()).await.unwrap();
        all.push((client, listening));
    }
    let status = async |client: &Client| {
        let tools = client.list_tools().await.unwrap().len();
        let asked = soon(client.call_tool_raw("activity_cache_status", json!({}))).await;
        (tools, asked.is_ok())
    };
    for (client, _) in &all {
        assert_eq!(status(client).await, (11, false));
    }
    for (there, shown) in [(true, (16, true)), (false, (11, false))] {
        if there {
            swap(&dump, crate::harness::dump().to_string().as_bytes())
        } else {
            fs::remove_file(&dump).unwrap()
        }
        for (client, listening) in &mut all {
            assert_eq!(next_method(listening).await, "notifications/tools/list_changed");
            assert_eq!(status(client).await, shown);
        }
    }
}

#[tokio::test]
async fn a_map_that_is_taken_away_is_kept_until_it_is_back() {
    let built = Built::new();
    let graph = built.graph();
    let mut server = Logged::new(&[&graph]).await;
    fs::remove_file(&graph).unwrap();
    let lines = server.until("the map is kept as it was").await;
    assert!(lines.last().unwrap().contains("no such file"), "{lines:?}");
    assert!(system(&server.client, "Jita").await.is_some());
    let (map, _) = Map::new(renamed()).unwrap();
    load::write(&map, &graph).unwrap();
    server.until("map loaded").await;
    assert!(system(&server.client, "Ostrava").await.is_some());
}

#[tokio::test]
async fn a_folder_in_place_of_another_is_followed() {
    let above = tempfile::TempDir::new().unwrap();
    let [now, next, last] = ["now", "next", "last"].map(|name| above.path().join(name));
    fs::create_dir(&now).unwrap();
    put(&now, &crate::common::fuzzwork(&small_parts()));
    let mut server = Logged::new(&[&now]).await;
    assert!(system(&server.client, "Ostra").await.is_some());
    fs::create_dir(&next).unwrap();
    put(&next, &crate::common::fuzzwork(&renamed()));
    fs::rename(&now, &last).unwrap();
    fs::rename(&next, &now).unwrap();
    server.until("map loaded").await;
    assert!(system(&server.client, "Ostrava").await.is_some());
    // The new folder too.
    for (name, text) in crate::common::fuzzwork(&small_parts()) {
        if name == "mapSolarSystems.csv" {
            swap(&now.join(name), text.as_bytes());
        }
    }
    server.until("map loaded").await;
    assert!(system(&server.client, "Ostra").await.is_some());
}

#[tokio::test]
async fn what_a_link_leads_to_is_followed() {
    let built = Built::new();
    let elsewhere = tempfile::TempDir::new().unwrap();
    let link = elsewhere.path().join("universe.graph");
    std::os::unix::fs::symlink(built.graph(), &link).unwrap();
    let mut server = Logged::new(&[&link]).await;
    // What was written before the first look is seen anyhow, so one change would show nothing.
    for (parts, name) in [(renamed(), "Ostrava"), (small_parts(), "Ostra")] {
        load::write(&Map::new(parts).unwrap().0, &built.graph()).unwrap();
        server.until("map loaded").await;
        assert!(system(&server.client, name).await.is_some());
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_yet_is_waited_for() {
    let built = Built::new();
    let elsewhere = tempfile::TempDir::new().unwrap();
    let folder = elsewhere.path().join("dumps/today");
    let mut server = Logged::new(&[&built.graph(), &folder]).await;
    // The map is followed all the same.
    let (map, _) = Map::new(renamed()).unwrap();
    load::write(&map, &built.graph()).unwrap();
    server.until("map loaded").await;
    assert!(system(&server.client, "Ostrava").await.is_some());
    fs::create_dir_all(&folder).unwrap();
    let jumps = json!([{"system_id": crate::common::id_of("Jita"), "ship_jumps": 812}]);
    fs::write(folder.join("jumps.json"), jumps.to_string()).unwrap();
    server.until("activity overlay loaded").await;
    let kills = json!([{"system_id": crate::common::id_of("Jita"), "ship_kills": 3}]);
    swap(&folder.join("kills.json"), kills.to_string().as_bytes());
    server.until("activity overlay loaded").await;
    let answer = server.client.call_tool_raw("activity", json!({"systems": ["Jita"]}));
    let answer = soon(answer).await.unwrap();
    assert_eq!(answer["structuredContent"]["systems"][0][2], 3);
}

#[tokio::test]
async fn connections_come_change_and_go() {
    let built = Built::new();
    let file = built.folder().join("bridges.json");
    let jumps = async |client: &Client| {
        let ends = json!({"origin": "Jita", "destination": "Amarr"});
        let route = soon(client.call_tool_raw("route", ends)).await.unwrap();
        route["structuredContent"]["jumps"].clone()
    };
    let dump = built.dump();
    let mut server = Logged::new(&[&built.graph(), &dump, &file]).await;
    assert_eq!(jumps(&server.client).await, 3);
    swap(&file, br#"[{"from": "Jita", "to": "Pell"}, {"from": "Jita", "to": "Gone"}]"#);
    let lines = server.until("connections besides the gates loaded").await;
    let told = "the connection from Jita to Gone is left out: Unknown system: Gone";
    assert!(lines.iter().any(|line| line.contains(told)), "{lines:?}");
    assert_eq!(jumps(&server.client).await, 2);
    swap(&file, br#"[{"from": "Jita", "#);
    server.until("the file of connections is kept as it was").await;
    assert_eq!(jumps(&server.client).await, 2);
    swap(&file, br#"[{"from": "Jita", "to": "Amarr"}]"#);
    server.until("connections besides the gates loaded").await;
    assert_eq!(jumps(&server.client).await, 1);
    fs::remove_file(&file).unwrap();
    server.until("the file of connections is gone").await;
    assert_eq!(jumps(&server.client).await, 3);
}
