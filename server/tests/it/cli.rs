//! The command line: what is refused before anything is touched, what the environment sets, how it ends.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;

use crate::harness::process::{Ended, binary, run, signal};
use crate::harness::{Client, Era, Mcp, Server, soon, tick};

/// Every file of a directory with its bytes.
fn content(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    files
        .filter(|file| file.file_type().unwrap().is_file())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

/// Runs it on a directory and a free port, with further arguments.
async fn start(dir: &Path, arguments: &[&str]) -> Ended {
    let mut command = binary();
    command.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(dir).args(arguments);
    run(&mut command).await
}

/// The same without an address.
async fn start_bare(dir: &Path, arguments: &[&str]) -> Ended {
    let mut command = binary();
    command.arg("--data-dir").arg(dir).args(arguments);
    run(&mut command).await
}

/// One sentence on stderr that has all of this, and exit code 1.
fn assert_refused(ended: &Ended, told: &[&str]) {
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].starts_with("universe-server: "), "{}", lines[0]);
    for told in told {
        assert!(lines[0].contains(told), "{told:?} in {}", lines[0]);
    }
}

#[tokio::test]
async fn it_says_where_everything_is() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    let greeting = server.greeting.join("\n");
    for line in [
        "/universes",
        "/mcp",
        "/universes/sol",
        "\"mcpServers\"",
        &dir.path().display().to_string(),
    ] {
        assert!(greeting.contains(line), "{greeting}");
    }
    let config = server.greeting.iter().find(|line| line.contains("mcpServers")).unwrap();
    let config: Value = serde_json::from_str(config.trim()).unwrap();
    let url = format!("http://{}/mcp", server.client.0);
    assert_eq!(config["mcpServers"]["universe"]["url"], url);
}

#[tokio::test]
async fn a_taken_port_is_reported_and_touches_nothing() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = TempDir::new().unwrap();
    let ended = run(binary()
        .args(["--listen", &address, "--demo", "--data-dir"])
        .arg(dir.path().join("new")))
    .await;
    assert_refused(&ended, &["cannot listen on", &address]);
    assert!(!dir.path().join("new").exists());
}

#[tokio::test]
async fn a_directory_in_use_is_reported_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let before = content(dir.path());
    let ended = start(dir.path(), &[]).await;
    assert_refused(&ended, &["is in use by another server", &dir.path().display().to_string()]);
    assert_eq!(content(dir.path()), before);
    server.client.command("sol", &tick()).await;
}

#[tokio::test]
async fn directories_that_are_none_of_ours_are_reported_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "no directory").unwrap();
    assert_refused(&start(&file, &[]).await, &["cannot be used", "file"]);
    assert_eq!(fs::read(&file).unwrap(), b"no directory");

    let foreign = dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("universes.db"), "not a database, but somebody's notes").unwrap();
    let before = content(&foreign);
    assert_refused(&start(&foreign, &["--demo"]).await, &["cannot be used", "foreign"]);
    assert_eq!(content(&foreign), before);

    let below_file = file.join("below");
    assert_refused(&start(&below_file, &[]).await, &["cannot be used"]);
}

#[tokio::test]
async fn a_newer_format_is_reported_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    signal(server.pid(), "TERM");
    assert!(server.wait().await.success());
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    database.pragma_update(None, "user_version", 1_000).unwrap();
    drop(database);
    let before = content(dir.path());
    for arguments in [&["--listen", "127.0.0.1:0"][..], &["--stdio"][..]] {
        let ended = start_bare(dir.path(), arguments).await;
        assert_refused(&ended, &["has format 1000", "use a newer server"]);
        assert_eq!(content(dir.path()), before);
    }
}

#[tokio::test]
async fn listening_beyond_loopback_needs_a_host() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("data");
    let mut command = binary();
    command.args(["--listen", "0.0.0.0:0", "--allow-anyone", "--data-dir"]).arg(&data);
    assert_refused(
        &run(&mut command).await,
        &["0.0.0.0:0 is reachable from other machines", "--allowed-host"],
    );
    assert!(!data.exists());
    let rows = [
        (["--allowed-origin", "app.example"], "--allowed-origin \"app.example\" is not an origin"),
        (["--allowed-origin", "https://app.example/path"], "is not an origin"),
        (["--allowed-origin", "https://"], "is not an origin"),
        (
            ["--allowed-host", "http://universe.example"],
            "--allowed-host \"http://universe.example\" is not a host",
        ),
    ];
    for (arguments, told) in rows {
        assert_refused(&start(&data, &arguments).await, &[told]);
        assert!(!data.exists());
    }
    let ended = start_bare(&data, &["--stdio", "--listen", "localhost:0"]).await;
    assert_refused(&ended, &["--stdio", "does not listen", "leave out --listen"]);
    assert!(!data.exists());
    let ended = start_bare(&data, &["--listen", "somewhere"]).await;
    assert!(ended.stderr.contains("localhost:3001"), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "a text that is not an address: {}", ended.stderr);
}

/// What it writes until it listens, and the port.
async fn greeting(arguments: &[&str]) -> (Child, String, u16) {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command
        .args(["--demo", "--store", "memory"])
        .args(arguments)
        .current_dir(dir.path())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut greeting = String::new();
    while !greeting.contains("listening on ") {
        let line = soon(lines.next_line()).await.unwrap();
        greeting += &line.expect("it listens");
        greeting.push('\n');
    }
    let last = greeting.lines().last().unwrap();
    let port = last.split_whitespace().find_map(|word| word.parse().ok());
    let port = port.unwrap_or_else(|| panic!("no port: {last}"));
    (child, greeting, port)
}

#[tokio::test]
async fn a_wildcard_address_is_not_shown_as_a_url() {
    let named = ["--allowed-host", "*,universe.example"];
    let rows = [(&named[..], Some("universe.example")), (&["--allowed-host", "*"][..], None)];
    for (arguments, host) in rows {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--listen", "0.0.0.0:0", "--allow-anyone"]);
        let (_child, greeting, port) = greeting(&arguments).await;
        assert!(!greeting.contains("0.0.0.0"), "{greeting}");
        let mcp = Mcp::new(Client(([127, 0, 0, 1], port).into()), Era::Modern).await;
        let told = mcp.result("server/discover", json!({})).await;
        let told = told["instructions"].as_str().unwrap();
        assert!(!told.contains("0.0.0.0"), "{told}");
        match host {
            Some(host) => {
                let url = format!("http://{host}:{port}/universes");
                assert!(greeting.contains(&url), "{greeting}");
                assert!(told.contains(&url), "{told}");
            }
            None => {
                assert!(!greeting.contains("http://"), "{greeting}");
                assert!(!told.contains("http://"), "{told}");
            }
        }
    }
}

#[tokio::test]
async fn without_a_directory_both_ways_to_serve_share_one_below_the_present() {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command.arg("--stdio").current_dir(dir.path());
    let ended = run(&mut command).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    assert!(dir.path().join("universe-data/universes.db").exists());
    let mut command = binary();
    command.args(["--listen", "127.0.0.1:0"]).current_dir(dir.path()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = soon(lines.next_line()).await.unwrap().unwrap();
    assert!(told.ends_with("universes in universe-data"), "{told}");
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_store_that_fails_ends_the_process_with_a_sentence() {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command
        .args(["--demo", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let client = loop {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        if let Some(address) = line.strip_prefix("listening on http://") {
            break Client(address.parse().unwrap());
        }
    };
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    database.execute_batch("ALTER TABLE log RENAME TO gone").unwrap();
    let reply = client.post("/universes/sol/commands", &tick()).await;
    assert_eq!(reply.status, 503, "{reply:?}");
    let mut told = String::new();
    while let Some(line) = soon(lines.next_line()).await.unwrap() {
        told = line;
    }
    assert!(told.starts_with("universe-server: the store has failed"), "{told}");
    assert_eq!(soon(child.wait()).await.unwrap().code(), Some(1));
}

#[tokio::test]
async fn the_environment_sets_what_arguments_do() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("deep").join("data");
    let mut command = binary();
    command
        .env("UNIVERSE_LISTEN", "127.0.0.1:0")
        .env("UNIVERSE_DATA_DIR", &data)
        .env("UNIVERSE_DEMO", "1")
        .env("UNIVERSE_ALLOW_ANYONE", "1")
        .env("UNIVERSE_ALLOWED_HOST", "universe.example,other.example")
        .env("UNIVERSE_ALLOWED_ORIGIN", "https://app.example,https://b.example");
    let server = Server::start(command).await;
    assert!(data.join("universes.db").exists());
    let open = [("host", "other.example"), ("origin", "https://b.example")];
    let reply = server.client.call("GET", "/universes/sol", &open, &Value::Null).await;
    assert_eq!(
        (reply.status, reply.header("access-control-allow-origin")),
        (200, "https://b.example")
    );
    let closed = [("host", "third.example")];
    assert_eq!(server.client.call("GET", "/health", &closed, &Value::Null).await.status, 403);
    let mut command = binary();
    command
        .env("UNIVERSE_LISTEN", "127.0.0.1:0")
        .env("UNIVERSE_STORE", "memory")
        .current_dir(dir.path());
    let server = Server::start(command).await;
    server.client.create("u", json!({})).await;
    assert!(!dir.path().join("universe-data").exists(), "nothing is kept");
}

#[tokio::test]
async fn the_demo_is_made_once() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    let stars = server.client.universe("sol").await["state"]["stars"].as_object().unwrap().len();
    assert!(stars > 10);
    server.client.command("sol", &json!({"type": "tick", "dt": 77})).await;
    server.client.put("/universes/sol", &json!({"name": "Home"})).await;
    let changed = server.client.universe("sol").await;
    signal(server.pid(), "INT");
    assert!(server.wait().await.success());
    let server = Server::with(dir.path(), &["--demo"]).await;
    assert_eq!(server.client.universe("sol").await, changed);
    assert_eq!(server.client.count().await, 1);
}

#[tokio::test]
async fn a_signal_ends_streams_lets_requests_finish_and_exits_well() {
    for name in ["INT", "TERM"] {
        let dir = TempDir::new().unwrap();
        let mut server = Server::with(dir.path(), &["--demo"]).await;
        let client = server.client;
        let mut feeds = [client.feed("sol", None).await, client.feed("sol", Some(0)).await];
        // A request of which the server has the head and waits for the body.
        let mut running = TcpStream::connect(client.0).await.unwrap();
        let body = tick().to_string();
        let head = format!(
            "POST /universes/sol/commands?result=events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        running.write_all(head.as_bytes()).await.unwrap();
        let mut go_on = [0; 25];
        soon(running.read_exact(&mut go_on)).await.unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");

        signal(server.pid(), name);
        for feed in &mut feeds {
            // Only what was said before may still come.
            while let Some(block) = feed.block().await {
                assert!(!block.contains("event:"), "{block}");
            }
        }
        // The streams have ended, though this one is not finished: it is waited for, and they are not.
        running.write_all(body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon(running.read_to_string(&mut answer)).await.unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 200 OK") && answer.contains("{\"events\":[]}"),
            "{answer}"
        );
        assert_eq!(server.wait().await.code(), Some(0), "SIG{name}");
        assert!(TcpStream::connect(client.0).await.is_err());
        for gone in ["universe.sock", "universes.db-wal", "universes.db-shm"] {
            assert!(!dir.path().join(gone).exists(), "{gone} is left behind");
        }
        let server = Server::on(dir.path()).await;
        assert_eq!(server.client.universe("sol").await["revision"], 1, "what was answered is kept");
    }
}

#[tokio::test]
async fn a_host_name_is_an_address() {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command.args(["--listen", "localhost:0", "--data-dir"]).arg(dir.path());
    let server = Server::start(command).await;
    assert!(server.client.0.ip().is_loopback());
    assert_eq!(server.client.get("/health").await.status, 200);
}
