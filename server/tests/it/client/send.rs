//! `send`

use std::process::Stdio as Pipe;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::assert_refused;
use crate::harness::process::{binary, done, verb};
use crate::harness::{Server, soon};

const TICK: &str = "{\"type\":\"tick\",\"dt\":1}";

/// What is said of a revision, so many seconds after the time that the demo has now.
async fn reported(server: &Server) -> impl Fn(u32, f64) -> String + use<> {
    let start = server.client.universe("sol").await["state"]["time"].as_f64().unwrap();
    move |revision, seconds| format!("revision {revision}, time {:?} s\n", start + seconds)
}

#[tokio::test]
async fn commands_come_as_arguments_and_from_files() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    let told_after = reported(&server).await;
    assert_eq!(done(dir.path(), &["send", "sol", TICK]).await, told_after(1, 1.0));
    let file = dir.path().join("commands.jsonl");
    let rename =
        "{\"type\": \"updateStar\", \"id\": \"earth\",\n \"payload\": {\"name\": \"Terra\"}}";
    std::fs::write(&file, format!("{TICK}\n{rename}{TICK}")).unwrap();
    let told = done(dir.path(), &["send", "sol", file.to_str().unwrap(), TICK]).await;
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    assert_eq!(lines[1], format!("{}; stars/earth", told_after(3, 2.0).trim_end()));
    let gone = "{\"type\": \"removeStar\", \"id\": \"moon\"}";
    let told = done(dir.path(), &["send", "sol", gone, "--json"]).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["changes"]["removed"], json!({"stars": ["moon"]}));
    server.stop().await;
    let alone = verb(dir.path(), &["send", "sol", TICK]).await;
    let told = (alone.stdout, alone.stderr.as_str());
    assert_eq!(told, (told_after(7, 5.0), ""), "without a server, too");
}

#[tokio::test]
async fn commands_of_a_pipe_are_sent_as_they_come() {
    let dir = TempDir::new().unwrap();
    let _server = Server::with(dir.path(), &["--demo"]).await;
    let mut command = binary();
    command.args(["send", "sol", "-", "--data-dir"]).arg(dir.path());
    command.stdin(Pipe::piped()).stdout(Pipe::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for revision in 1..=3 {
        input.write_all(format!("{TICK}\n").as_bytes()).await.unwrap();
        let answer = soon(answers.next_line()).await.unwrap().unwrap();
        assert!(answer.starts_with(&format!("revision {revision},")), "{answer}");
    }
    drop(input);
    assert!(soon(child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn what_is_refused_ends_it_and_says_what_is_done() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    let told_after = reported(&server).await;
    let wrong = "{\"type\":\"tik\",\"dt\":1}";
    let ended = verb(dir.path(), &["send", "sol", TICK, wrong, TICK]).await;
    assert_eq!(ended.stdout, told_after(1, 1.0));
    let told = ["command 2: ", "did you mean tick?", "those before it are done"];
    assert_refused(&ended, &told);
    let ended = verb(dir.path(), &["send", "sol", "--atomic", TICK, wrong]).await;
    assert_refused(&ended, &["/1/type", "did you mean tick?"]);
    assert_eq!(server.client.universe("sol").await["revision"], 1);
    let told = done(dir.path(), &["send", "sol", "--atomic", TICK, TICK]).await;
    assert_eq!(told, told_after(3, 3.0));

    let ended = verb(dir.path(), &["send", "sol", "nowhere.json"]).await;
    let told = r#""nowhere.json" is not a command as JSON, such as {"type":"tick","dt":86400}, and no file that can be read"#;
    assert_refused(&ended, &[told]);
    let ended = verb(dir.path(), &["send", "sol", "{\"type\":"]).await;
    assert_refused(&ended, &["the command: EOF", "{\"type\":\"tick\",\"dt\":86400}"]);
    assert_eq!(verb(dir.path(), &["send", "sol"]).await.status.code(), Some(2));
}

#[tokio::test]
async fn what_is_odd_is_reported() {
    let dir = TempDir::new().unwrap();
    let _server = Server::with(dir.path(), &["--demo"]).await;
    let odd = "{\"type\":\"tick\",\"dt\":1,\"speed\":2}";
    let told = done(dir.path(), &["send", "sol", odd]).await;
    assert!(told.contains("\n  warning: /speed: "), "{told}");
}

#[tokio::test]
async fn conditions_and_retries_hold_for_all_commands() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    let twice = ["send", "sol", TICK, TICK, "--key", "k"];
    let first = done(dir.path(), &twice).await;
    assert_eq!(done(dir.path(), &twice).await, first);
    assert_eq!(server.client.universe("sol").await["revision"], 2);
    done(dir.path(), &["send", "sol", TICK, TICK, "--expect", "2"]).await;
    let ended = verb(dir.path(), &["send", "sol", TICK, "--expect", "2"]).await;
    assert_refused(&ended, &["revision 4"]);
}
