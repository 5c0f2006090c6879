//! The command line: what it prints, in which form, and how it ends.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use starmap_server::load::{self, Format};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;

use crate::assert_has;
use crate::common::{aria, assert_same, fuzzwork, put, small, small_parts};
use crate::harness::{Built, Ended, binary, finish, run};

fn done(ended: Ended) -> String {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

/// Ended with 1 and one line on stderr that says this.
fn failed(ended: &Ended, told: &str) {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("starmap-server: ") && ended.stderr.contains(told),
        "{}",
        ended.stderr
    );
}

#[tokio::test]
async fn a_map_is_built_where_the_server_looks_for_it() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &fuzzwork(&small_parts()));
    let data = TempDir::new().unwrap();
    let mut command = binary("starmap-server");
    command.arg("build").arg(folder.path()).env("XDG_DATA_HOME", data.path());
    let told = done(finish(command).await);
    assert!(told.contains("20 systems, 18 connections"), "{told}");
    let built = data.path().join("starmap-server/universe.graph");
    let loaded = load::load(&built).unwrap();
    assert_eq!(loaded.format, Format::Own);
    assert_same(&loaded.map, &small());
    // What is there already is not written over unasked.
    let mut again = binary("starmap-server");
    again.arg("build").arg(folder.path()).env("XDG_DATA_HOME", data.path());
    failed(&finish(again).await, "--force");
    let mut force = binary("starmap-server");
    force.args(["build", "--force"]).arg(folder.path()).env("XDG_DATA_HOME", data.path());
    done(finish(force).await);
    let mut route = binary("starmap-server");
    route.args(["route", "jita", "amarr"]).env("XDG_DATA_HOME", data.path());
    assert!(done(finish(route).await).contains("jumps: 3"));
}

#[tokio::test]
async fn a_source_that_is_none_is_refused_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.graph");
    let source = folder.path().join("universe.pkl");
    fs::write(&source, b"\x80\x04\x95").unwrap();
    let arguments = ["build", source.to_str().unwrap(), "--output", output.to_str().unwrap()];
    failed(&run(None, &arguments).await, "pickle");
    assert!(!output.exists());
}

#[tokio::test]
async fn a_source_without_positions_is_built_and_told() {
    let folder = TempDir::new().unwrap();
    let [source, output] = ["cache.json", "map.graph"].map(|name| folder.path().join(name));
    for known in [true, false] {
        let mut parts = small_parts();
        for system in &mut parts.systems {
            system.position = system.position.filter(|_| known);
        }
        fs::write(&source, aria(&parts).to_string()).unwrap();
        let [source, output] = [&source, &output].map(|path| path.to_str().unwrap());
        let built = run(None, &["build", "--force", source, "--output", output]).await;
        assert_eq!(built.stderr.contains("has no positions"), !known, "{built:?}");
        done(built);
    }
}

#[tokio::test]
async fn a_folder_and_the_source_itself_are_not_written_over() {
    let built = Built::new();
    let source = built.folder().join("universe_cache.json");
    fs::write(&source, aria(&small_parts()).to_string()).unwrap();
    for (output, told) in [(built.folder(), "is a folder"), (&*source, "is the source itself")] {
        let output = output.to_str().unwrap();
        let arguments = ["build", source.to_str().unwrap(), "--output", output];
        failed(&run(None, &[&arguments[..], &["--force"]].concat()).await, told);
        failed(&run(None, &arguments).await, told);
    }
    assert_eq!(load::load(&source).unwrap().format, Format::Json);
}

#[tokio::test]
async fn verify_stats_and_diff_tell_of_maps() {
    let built = Built::new();
    let graph = built.graph();
    // The small map has two of the trade hubs and not the others: it does not pass.
    let verified = run(Some(&graph), &["verify"]).await;
    assert_eq!(verified.code, Some(1));
    assert_has(&verified.stdout, &["FAILED  the trade hubs are there"]);
    let checks: Value =
        serde_json::from_str(&run(Some(&graph), &["verify", "--json"]).await.stdout).unwrap();
    assert!(checks.as_array().unwrap().len() > 4);

    let stats = done(run(Some(&graph), &["stats"]).await);
    assert!(stats.contains("systems: 20") && !stats.contains("Northmark"), "{stats}");
    assert!(done(run(Some(&graph), &["stats", "--detailed"]).await).contains("Northmark"));
    let stats: Value =
        serde_json::from_str(&done(run(Some(&graph), &["stats", "--json"]).await)).unwrap();
    assert_eq!((&stats["systems"], &stats["connections"]), (&json!(20), &json!(18)));
}

#[tokio::test]
async fn every_tool_is_a_command() {
    let built = Built::new();
    let graph = built.graph();
    let route = done(run(Some(&graph), &["route", "jita", "AMARR", "mode=safe"]).await);
    assert_has(&route, &["jumps: 5", "mode: safe", "Kestrel"]);
    let json = done(run(Some(&graph), &["route", "jita", "amarr", "--json"]).await);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["jumps"], &json["data_version"]), (&json!(3), &json!("hand-made")));

    let dump = built.dump();
    let live = ["route", "Jita", "Amarr", "--activity", dump.to_str().unwrap()];
    assert_has(&done(run(Some(&graph), &live).await), &["kills", "Marrow", "21"]);

    let bridges = built.folder().join("bridges.json");
    fs::write(&bridges, r#"[{"from": "Jita", "to": "Pell"}, {"from": "Jita", "to": "Gone"}]"#)
        .unwrap();
    let arguments = ["route", "Jita", "Amarr", "--connections", bridges.to_str().unwrap()];
    let bridged = done(run(Some(&graph), &arguments).await);
    assert_has(&bridged, &["jumps: 2", "the connection from Jita to Gone is left out"]);

    let more = [
        "route",
        "Juta",
        "Amarr",
        "correct=true",
        "cost_of_safety=true",
        "avoid_systems=Tarn,Umbra",
    ];
    let more = done(run(Some(&graph), &more).await);
    assert_has(&more, &["\"Juta\":\"Jita\"", "\"more_jumps\":0"]);
    let systems = done(run(Some(&graph), &["systems", "Jita,Lonely", "detail=full"]).await);
    assert_has(&systems, &["Alder", "Northmark"]);
}

#[tokio::test]
async fn what_fails_is_told_in_a_line() {
    let built = Built::new();
    let graph = built.graph();
    for (command, told) in [
        ("route Juta Amarr", "Unknown system: Juta; did you mean Jita?"),
        ("route Jita Isle-A", "No route from Jita to Isle-A: "),
        ("route Jita Amarr penalty=5", "Invalid penalty: "),
        ("route Jita \u{1b}[31m", "Unknown system: \u{fffd}[31m"),
        ("route Jita Amarr mode=fast", "Invalid mode: "),
        ("route Jita Amarr --activity /no/such/dump", "/no/such/dump"),
        ("mcp --listen 203.0.113.1:80", "--allowed-host"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        failed(&run(Some(&graph), &arguments).await, told);
    }
    let nowhere = built.folder().join("nowhere.graph");
    for arguments in [&["stats"][..], &["verify"], &["route", "a", "b"], &["mcp"]] {
        failed(&run(Some(&nowhere), arguments).await, "starmap-server build");
    }
    for arguments in [
        &[][..],
        &["fly"],
        &["diff", "a", "b"],
        &["route", "Jita"],
        &["route", "Jita", "Amarr", "Pell"],
        &["mcp", "--stdio"],
    ] {
        assert_eq!(run(Some(&graph), arguments).await.code, Some(2), "{arguments:?}");
    }
}

// mickdekkers/eve-map-json#1: a name that looks like a number is a name
#[tokio::test]
async fn the_schema_says_what_is_a_name_and_what_a_number() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut parts = small_parts();
    parts.systems[0].name = "6E-578".to_owned();
    let graph = folder.path().join("map.graph");
    load::write(&starmap_server::map::Map::new(parts).unwrap().0, &graph).unwrap();
    let found = done(run(Some(&graph), &["systems", "systems=6E-578"]).await);
    assert_has(&found, &["found: 1", "6E-578"]);
    let found = done(run(Some(&graph), &["search", "name=578"]).await);
    assert_has(&found, &["total_found: 1"]);
    let found = done(run(Some(&graph), &["route", "6E-578", "Amarr", "alternatives=2"]).await);
    assert_has(&found, &["jumps: 3"]);
}

#[tokio::test]
async fn a_closed_pipe_is_a_silent_end() {
    let built = Built::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = binary("starmap-server");
    command.args(["stats", "--json"]).env("ARIA_UNIVERSE_GRAPH", built.graph());
    command.stdout(Stdio::from(writer)).stderr(Stdio::piped());
    let output = command.output().await.unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
    // The server too: a client that is gone before it has read.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = binary("aria-universe");
    command.env("ARIA_UNIVERSE_GRAPH", built.graph());
    command.stdin(Stdio::piped()).stdout(Stdio::from(writer)).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{ping}\n").as_bytes()).await.unwrap();
    drop(stdin);
    let output = crate::harness::soon(child.wait_with_output()).await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), told.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_server_outlives_whoever_read_its_log() {
    let built = Built::new();
    let unread = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let mut command = binary("aria-universe");
    command.env("ARIA_UNIVERSE_GRAPH", built.graph()).env("ARIA_UNIVERSE_LOG_LEVEL", "DEBUG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(unread());
    let mut child = command.spawn().unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let mut stdin = child.stdin.take().unwrap();
    let asked = stdin.write_all(format!("{ping}\n").as_bytes()).await;
    drop(stdin);
    let output = crate::harness::soon(child.wait_with_output()).await.unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(asked.is_ok() && answer.contains("\"id\":1"), "{answer}");
    assert_eq!(output.status.code(), Some(0));
    // A message that cannot be written still ends as it should.
    let mut command = binary("aria-universe");
    command.args(["--graph", "/no/such.graph"]).stderr(unread());
    assert_eq!(command.status().await.unwrap().code(), Some(1));
}
