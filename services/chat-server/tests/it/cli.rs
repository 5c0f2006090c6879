//! The command line.

use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::mcp::harness::{Place, binary};

async fn run(command: &mut Command) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

async fn imported() -> Place {
    let place = Place::of("chats.toml");
    let (code, stdout, stderr) = run(&mut place.command("import")).await;
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        stdout,
        "telegram: 7 chats, 1012 messages, 0 left out\nwhatsapp: 1 chats, 4 messages, 0 left out\n"
    );
    assert_eq!(stderr, "", "no bar where nobody looks");
    place
}

#[tokio::test]
async fn exports_are_read_once_and_again_if_told() {
    let place = imported().await;
    let (code, stdout, _) = run(place.command("import").arg("telegram")).await;
    assert_eq!((code, &*stdout), (0, "telegram: nothing new\n"));
    let (code, stdout, _) = run(place.command("import").args(["whatsapp", "--again"])).await;
    assert_eq!(
        (code, &*stdout),
        (0, "whatsapp: 1 chats, 4 messages, 0 left out\n")
    );
    let (code, _, stderr) = run(place.command("import").arg("signal")).await;
    assert_eq!(code, 1);
    assert!(
        stderr.contains("no export") && stderr.contains("telegram"),
        "{stderr}"
    );
    std::fs::remove_file(place.path("telegram/result.json")).unwrap();
    let (code, stdout, stderr) = run(&mut place.command("import")).await;
    assert_eq!((code, &*stdout), (1, "whatsapp: nothing new\n"));
    assert!(stderr.starts_with("telegram: "), "{stderr}");
}

#[tokio::test]
async fn messages_come_as_text_json_and_csv() {
    let place = imported().await;
    let (code, stdout, _) = run(place.command("messages").args(["telegram:Friends"])).await;
    assert_eq!(code, 0);
    assert_eq!(
        stdout,
        "[2025-01-01T00:01:30Z] Alice: The project starts [2025-01-02T00:00:00Z] Bob: now\n    and here too\n\
         [2025-01-01T00:00:50Z] Bob: Who knows the way?\n"
    );
    let json = [
        "Antti", "--source", "telegram", "--limit", "1", "--format", "json",
    ];
    let (_, stdout, _) = run(place.command("messages").args(json)).await;
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["messages"][0]["id"], "1000");
    assert!(told["next_cursor"].is_string());
    let csv = ["telegram:Friends", "--search", "project", "--format", "csv"];
    let (_, stdout, _) = run(place.command("messages").args(csv)).await;
    let mut rows = stdout.split("\r\n");
    assert!(
        rows.next()
            .unwrap()
            .starts_with("source,chat_id,chat,id,timestamp")
    );
    assert_eq!(
        rows.next().unwrap(),
        "telegram,'-103,Friends,2,2025-01-01T00:01:30Z,2025-01-01T02:01:30+02:00,user2,Alice,\
         \"The project starts [2025-01-02T00:00:00Z] Bob: now\nand here too\",,false"
            .replace("'-103", "-103")
    );
}

#[tokio::test]
async fn lines_of_several_chats_say_which() {
    let place = imported().await;
    for several in [&[][..], &["*"], &["telegram:*"]] {
        let mut command = place.command("messages");
        command.args(several).args(["--search", "who knows"]);
        let (_, stdout, _) = run(&mut command).await;
        assert_eq!(
            stdout,
            "[2025-01-01T00:00:50Z] Bob (Friends): Who knows the way?\n"
        );
    }
}

#[tokio::test]
async fn sources_and_chats_are_listed() {
    let place = imported().await;
    let (code, stdout, _) = run(&mut place.command("sources")).await;
    assert_eq!(code, 0);
    assert!(
        stdout.contains("telegram: 7 chats, 1012 messages\n"),
        "{stdout}"
    );
    assert!(stdout.contains("signal-cli daemon"), "{stdout}");
    let (_, stdout, _) = run(place
        .command("chats")
        .args(["telegram", "--type", "channel"]))
    .await;
    assert_eq!(
        stdout,
        "telegram:-100105  Harbour News  (channel, 1 messages, last 2025-01-01T00:01:10Z)\n"
    );
    let (_, stdout, _) = run(place
        .command("chats")
        .args(["--name", "fam", "--format", "json"]))
    .await;
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["chats"][0]["name"], "Family");
}

#[tokio::test]
async fn exit_codes_and_sentences_say_what_is_wrong() {
    let place = imported().await;
    for (arguments, expected, words) in [
        (&["messages", "Nobody"][..], 1, "Chat 'Nobody' not found"),
        (&["messages", "Antti"], 2, "telegram:101"),
        (
            &["messages", "--source", "icq"],
            1,
            "Source 'icq' not found",
        ),
        (&["messages", "--since", "soon"], 2, "RFC 3339"),
        (&["messages", "--limit", "many"], 2, "--limit"),
        (&["chats", "--type", "secret"], 2, "direct, group"),
        (&["export"], 2, "unrecognized"),
    ] {
        let [command, rest @ ..] = arguments else {
            panic!()
        };
        let (code, stdout, stderr) = run(place.command(command).args(rest)).await;
        assert_eq!(code, expected, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert_eq!(stdout, "");
    }
    let home = place.path("home");
    let (code, _, stderr) = run(binary().arg("sources").env("HOME", &home)).await;
    assert_eq!(code, 1);
    let expected = home.join(".config/chat-server/config.toml");
    assert!(stderr.contains(expected.to_str().unwrap()), "{stderr}");
    assert!(stderr.contains("kind = \"whatsapp-export\""), "{stderr}");
}

#[tokio::test]
async fn a_reader_that_has_had_enough_is_no_error() {
    let place = imported().await;
    let mut command = place.command("messages");
    command.args(["telegram:Antti", "--limit", "1000"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next_line().await.unwrap().unwrap();
    drop(lines);
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(
        !String::from_utf8(ended.stderr)
            .unwrap()
            .contains("chat-server:")
    );
}

#[tokio::test]
async fn while_a_server_writes_others_read_and_import_says_so() {
    let place = imported().await;
    let (_server, _) = place.listening(&[]).await;
    let (code, stdout, _) =
        run(place
            .command("messages")
            .args(["telegram:Family", "--limit", "1"]))
        .await;
    assert_eq!(code, 0);
    assert!(stdout.contains("040 123 4567"), "{stdout}");
    let (code, _, stderr) = run(&mut place.command("import")).await;
    assert_eq!(code, 1);
    assert!(stderr.contains("another process writes"), "{stderr}");
}
