//! What is printed for clients works when it is pasted, and who has the token is let in.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::harness::{Copy, binary};

const SECRET: &str = "s3cret-._~+/x==";

/// A server that listens, with a token.
fn listening(project: &Copy) -> Command {
    project.write("token", format!("{SECRET}\nnot this\n"));
    let mut command = binary();
    command.args(["mcp", "--port", "0", "--root"]).arg(project.root());
    command.arg("--token-file").arg(project.path("token"));
    command
}

/// What it says until it listens, to a person at a terminal or to a pipe.
async fn greeting(mut command: Command, terminal: bool) -> (Child, String) {
    let (mut reader, child): (Box<dyn std::io::Read + Send>, Child) = if terminal {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let program = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap());
        let child = command.stderr(Stdio::from(program.unwrap())).spawn().unwrap();
        (Box::new(File::from(person)), child)
    } else {
        let (reader, writer) = std::io::pipe().unwrap();
        (Box::new(reader), command.stderr(writer).spawn().unwrap())
    };
    // It holds the other end open otherwise.
    drop(command);
    let read = move || {
        let mut said = String::new();
        let mut part = [0; 4096];
        while !said.lines().any(|line| line.starts_with("listening on ")) || !said.ends_with('\n') {
            let count = reader.read(&mut part).unwrap();
            assert!(count > 0, "{said}");
            said += str::from_utf8(&part[..count]).unwrap();
        }
        said.replace("\r\n", "\n")
    };
    (child, tokio::task::spawn_blocking(read).await.unwrap())
}

/// The JSON in the line that begins with this member.
fn printed(said: &str, member: &str) -> Value {
    let begins = format!("{{\"{member}\":");
    let line = said.lines().map(str::trim).find(|line| line.starts_with(&begins));
    let mut whole: Value = serde_json::from_str(line.unwrap()).unwrap();
    whole[member]["spec-server"].take()
}

/// The status of a first request with this `Authorization`.
async fn status(url: &str, authorization: &str) -> String {
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let client = json!({"name": "x", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nauthorization: {authorization}\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8(answer[9..].to_vec()).unwrap()
}

#[tokio::test]
async fn what_is_printed_at_a_terminal_works_when_it_is_pasted() {
    let project = Copy::of("library");
    let (_server, said) = greeting(listening(&project), true).await;
    let server = printed(&said, "mcpServers");
    assert_eq!(server, printed(&said, "servers"));
    assert_eq!(server["type"], "http");
    let url = server["url"].as_str().unwrap();
    let authorization = server["headers"]["Authorization"].as_str().unwrap();
    assert_eq!(status(url, authorization).await, "200");

    // Codex reads TOML.
    let codex = said.split_once("config.toml):\n").unwrap().1;
    let codex = codex.split_once("listening on").unwrap().0;
    let codex: toml::Table = toml::from_str(codex).unwrap();
    let codex = serde_json::to_value(&codex["mcp_servers"]["spec-server"]).unwrap();
    assert_eq!(codex, json!({"url": url, "http_headers": {"Authorization": authorization}}));

    for scheme in ["bearer", "BEARER", "Bearer  "] {
        assert_eq!(status(url, &format!("{scheme} {SECRET}")).await, "200", "{scheme}");
    }
    for (wrong, expected) in [
        (SECRET, "401"),
        ("Bearer", "400"),
        ("Bearer ", "400"),
        ("Bearer s3cret x", "400"),
        ("Basic s3cret", "401"),
        ("Bearer s3cret", "401"),
        ("Bearers s3cret-._~+/x==", "401"),
    ] {
        assert_eq!(status(url, wrong).await, expected, "{wrong}");
    }
}

#[tokio::test]
async fn a_log_has_no_token() {
    let project = Copy::of("library");
    let (_server, said) = greeting(listening(&project), false).await;
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(printed(&said, "mcpServers")["headers"]["Authorization"], "Bearer TOKEN");
}
