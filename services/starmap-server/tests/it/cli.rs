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
    assert!(done(finish(route).await).contains("Jita to Amarr: 3 jumps"));
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
    assert!(
        stats.contains("20 (10 high, 3 low, 7 null)") && !stats.contains("Northmark"),
        "{stats}"
    );
    assert!(done(run(Some(&graph), &["stats", "--detailed"]).await).contains("Northmark"));
    let stats: Value =
        serde_json::from_str(&done(run(Some(&graph), &["stats", "--json"]).await)).unwrap();
    assert_eq!((&stats["systems"], &stats["connections"]), (&json!(20), &json!(18)));

    let mut parts = small_parts();
    parts.systems[1].name = "Ostrava".to_owned();
    parts.version = "newer".to_owned();
    let newer = built.folder().join("newer.json");
    fs::write(&newer, aria(&parts).to_string()).unwrap();
    let both = [graph.to_str().unwrap(), newer.to_str().unwrap()];
    let diff = done(run(None, &["diff", both[0], both[1]]).await);
    assert_has(&diff, &["data hand-made to newer", "Ostra is now Ostrava"]);
    let diff = done(run(None, &["diff", both[0], both[0]]).await);
    assert!(diff.contains("nothing is different"), "{diff}");
    let diff: Value =
        serde_json::from_str(&done(run(None, &["diff", both[0], both[1], "--json"]).await))
            .unwrap();
    assert_eq!(diff["systems"]["renamed"][0]["new"], "Ostrava");
}

#[tokio::test]
async fn a_route_is_a_table_json_or_a_picture() {
    let built = Built::new();
    let graph = built.graph();
    let table = done(run(Some(&graph), &["route", "jita", "AMARR"]).await);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "Jita to Amarr: 3 jumps, shortest");
    assert_eq!(lines[2], "#  system  sec  class  region");
    assert_eq!(lines[4], "1  Marrow  0.4  LOW    Northmark");
    assert_has(&table, &["! The route enters 2 low-security systems"]);

    let json: Value =
        serde_json::from_str(&done(run(Some(&graph), &["route", "jita", "amarr", "--json"]).await))
            .unwrap();
    assert_eq!((&json["jumps"], &json["data_version"]), (&json!(3), &json!("hand-made")));

    let picture = built.folder().join("route.svg");
    let arguments =
        ["route", "Jita", "Amarr", "--mode", "safe", "--svg", picture.to_str().unwrap()];
    assert!(done(run(Some(&graph), &arguments).await).contains("5 jumps, safe"));
    assert_has(&fs::read_to_string(&picture).unwrap(), &["Jita to Amarr: 5 jumps, safe"]);

    let dump = built.dump();
    let live = ["route", "Jita", "Amarr", "--activity", dump.to_str().unwrap()];
    let live = done(run(Some(&graph), &live).await);
    assert_has(&live, &["region     kills  jumps", "Northmark  21     60"]);

    let bridges = built.folder().join("bridges.json");
    fs::write(&bridges, r#"[{"from": "Jita", "to": "Pell"}, {"from": "Jita", "to": "Gone"}]"#)
        .unwrap();
    let arguments = ["route", "Jita", "Amarr", "--connections", bridges.to_str().unwrap()];
    let bridged = run(Some(&graph), &arguments).await;
    assert_has(&bridged.stderr, &["the connection from Jita to Gone is left out"]);
    let bridged = done(bridged);
    assert_has(&bridged, &["2 jumps", "not by a gate: Jita to Pell"]);

    let more = [
        "route",
        "Juta",
        "Amarr",
        "--correct",
        "--cost-of-safety",
        "--alternatives",
        "2",
        "--avoid",
        "Tarn",
    ];
    let more = done(run(Some(&graph), &more).await);
    assert_has(&more, &["\"Juta\" is taken for Jita", "safe takes 0 jumps more"]);
}

#[tokio::test]
async fn places_are_shown() {
    let built = Built::new();
    let graph = built.graph();
    let shown = done(run(Some(&graph), &["show", "system", "jita"]).await);
    assert!(
        shown.starts_with(
            "Jita (30000001): security 0.9 (0.9459, high security), Alder, Northmark, border system\n"
        ),
        "{shown}"
    );
    assert!(done(run(Some(&graph), &["show", "system", "Lonely"]).await).contains("no gates"));
    let region = done(run(Some(&graph), &["show", "region", "northmark"]).await);
    assert_has(&region, &["9 systems (7 high, 2 low, 0 null), 4 border systems"]);
    assert!(region.contains("Rook - Sable (Southreach)"), "{region}");
    let json: Value = serde_json::from_str(&done(
        run(Some(&graph), &["show", "constellation", "Ember", "--json"]).await,
    ))
    .unwrap();
    assert_eq!(json["counts"]["systems"], 2);
    let picture = built.folder().join("region.svg");
    done(
        run(Some(&graph), &["show", "region", "Northmark", "--svg", picture.to_str().unwrap()])
            .await,
    );
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg "));
}

#[tokio::test]
async fn what_fails_is_told_in_a_line() {
    let built = Built::new();
    let graph = built.graph();
    let constellation = "Unknown constellation: Elder; did you mean Alder";
    for (command, told) in [
        ("route Juta Amarr", "Unknown system: Juta; did you mean Jita?"),
        ("route Jita Isle-A", "No route from Jita to Isle-A: "),
        ("route Jita Amarr --penalty 5", "Invalid penalty: "),
        ("route Jita \u{1b}[31m", "Unknown system: \u{fffd}[31m"),
        ("show region Nowhere", "Unknown region: Nowhere"),
        ("show region north", "Unknown region: north; did you mean Northmark?"),
        ("show constellation Elder", constellation),
        ("show system Nowhere", "Unknown system: Nowhere"),
        ("route Jita Amarr --svg /no/such/folder/x.svg", "/no/such/folder"),
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
        &["route", "Jita"],
        &["route", "a", "b", "--mode", "fast"],
        &["mcp", "--stdio"],
    ] {
        assert_eq!(run(Some(&graph), arguments).await.code, Some(2), "{arguments:?}");
    }
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
