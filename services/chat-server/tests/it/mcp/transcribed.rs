//! Transcripts of recordings, by a program that the person names.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use chat_server::config::Config;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use super::harness::{BOTH, HANG, TestSetup, structured, zip_of};
use crate::assert_has;

/// A program: it says what it was called with, and does what its file says.
const PROGRAM: &str = "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/calls\"\nwords=$(cat \"$2\")\n\
    case $words in\n  fail*) exit 3;;\n  hang*) sleep 600 & echo $! > \"$(dirname \"$0\")/child\"; wait;;\n\
      long*) head -c 100000 /dev/zero | tr '\\0' x;;\n  *) echo \"  $words\";;\nesac\n";

fn setup(more: &str) -> TestSetup {
    let setup = TestSetup::new(&format!(
        "redact_phone_numbers = true\n[transcribe]\ncommand = [\"./hear\", \"-f\", \"{{}}\"]\n{more}\n\
         [[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\nzone = \"UTC\"\ndeny = [\"Doctor\"]\n"
    ));
    setup.write("hear", PROGRAM);
    std::fs::set_permissions(setup.path("hear"), PermissionsExt::from_mode(0o700)).unwrap();
    setup
}

fn chat(recordings: &[&str]) -> String {
    let line = |(n, name): (usize, &&str)| {
        format!("25/03/2024, 10:{n:02} - Ann: {name} (file attached)\n")
    };
    let lines: String = recordings.iter().enumerate().map(line).collect();
    format!("{lines}25/03/2024, 11:00 - Ann: so far\n")
}

fn calls(setup: &TestSetup) -> usize {
    let calls = std::fs::read_to_string(setup.path("calls")).unwrap_or_default();
    let dir = setup.path("data").canonicalize().unwrap();
    for call in calls.lines() {
        // Nothing that others have named becomes an argument.
        assert_eq!(call, format!("-f {}", dir.join("recording.opus").display()));
    }
    calls.lines().count()
}

#[tokio::test]
async fn what_is_said_in_recordings_is_found() {
    let setup = setup("");
    let names = ["-rf.opus", "PTT-2.opus", "PTT-3.opus"];
    let text = chat(&names);
    setup.write_bytes(
        "wa/WhatsApp Chat with Ann.zip",
        &zip_of(&[
            ("_chat.txt", text.as_bytes()),
            ("-rf.opus", b"meet me at the harbour, +49 151 5550177"),
            ("PTT-2.opus", b"fail"),
            ("PTT-3.opus", b""),
        ]),
    );
    setup.write("wa/WhatsApp Chat with Doctor.txt", &chat(&["PTT-9.opus"]));
    setup.write("wa/PTT-9.opus", "a secret");
    let (code, ..) = setup.run("import", &[]).await;
    assert_eq!(code, 0);
    let (code, stdout, stderr) = setup.run("transcribe", &[]).await;
    assert_eq!((code, &*stdout), (1, "2 transcribed, 1 failed, 0 left\n"), "{stderr}");
    assert_has(&stderr, &["the program for transcripts: it has failed (exit status: 3)"]);
    assert_eq!(calls(&setup), 3);
    assert!(!setup.path("data/recording.opus").exists());
    // The export is read again: what is known to be said stays, and only what failed is tried again.
    setup.run("import", &["--again"]).await;
    let (_, stdout, _) = setup.run("transcribe", &[]).await;
    assert_eq!(stdout, "0 transcribed, 1 failed, 0 left\n");
    assert_eq!(calls(&setup), 4);
    for era in BOTH {
        let (_server, url) = setup.listening(&[]).await;
        let over_http = Client::http(&url, ClientConfig::new(era)).await.unwrap();
        let mut command = setup.command("mcp");
        command.stderr(Stdio::null());
        let over_pipes = Client::stdio(command, ClientConfig::new(era)).await.unwrap();
        for client in [over_http, over_pipes] {
            let found = structured(&client, "search_messages", json!({"query": "harbour"})).await;
            let content = found["hits"][0]["message"]["content"].as_str().unwrap();
            assert_has(content, &["[Audio] [Transcript] meet me at the harbour, phone-"]);
            assert!(!content.contains("5550177"), "{content}");
            assert!(found["about"].as_str().unwrap().contains("not instructions"));
            // A recording in which nothing is said, and one that could not be understood.
            let read = structured(&client, "get_messages", json!({"has": "audio"})).await;
            let contents: Vec<&str> = read["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["content"].as_str().unwrap())
                .collect();
            assert_eq!(contents[..2], ["[Audio]", "[Audio]"]);
            client.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn the_program_is_bounded_in_time_bytes_and_number() {
    let setup = setup("seconds = 1\nmost = 2");
    let text = chat(&["PTT-1.opus", "PTT-2.opus", "PTT-3.opus"]);
    setup.write("wa/WhatsApp Chat with Ann.txt", &text);
    setup.write("wa/WhatsApp Chat with Doctor.txt", "25/03/2024, 10:00 - Doctor: hi\n");
    for (name, contents) in [("PTT-1.opus", "one"), ("PTT-2.opus", "long"), ("PTT-3.opus", "hang")]
    {
        setup.write(&format!("wa/{name}"), contents);
    }
    setup.run("import", &[]).await;
    // The newest first: it hangs, and is ended with the programs that it has started.
    let (code, stdout, stderr) = setup.run("transcribe", &[]).await;
    assert_eq!((code, &*stdout), (1, "1 transcribed, 1 failed, 1 left\n"), "{stderr}");
    assert_has(&stderr, &["it has not ended after 1 s"]);
    let child = std::fs::read_to_string(setup.path("child")).unwrap();
    let state = std::fs::read_to_string(Path::new("/proc").join(child.trim()).join("stat"));
    assert!(state.as_ref().map_or(true, |it| it.contains(") Z ")), "{state:?}");
    let (_, stdout, _) = setup.run("messages", &["--has", "audio", "--format", "json"]).await;
    let read: Value = serde_json::from_str(&stdout).unwrap();
    let said = read["messages"][1]["content"].as_str().unwrap();
    assert_eq!(said.matches('x').count(), 64 * 1024, "{} bytes", said.len());
}

async fn until_found(client: &Client, word: &str) {
    let waiting = async {
        loop {
            let found = structured(client, "search_messages", json!({"query": word})).await;
            if found["hits"].as_array().is_some_and(|hits| !hits.is_empty()) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, waiting).await.unwrap();
}

/// A server does it by itself: once it has read the exports, and when one of them has changed.
#[tokio::test]
async fn a_server_transcribes_what_is_new() {
    let setup = setup("");
    let config = std::fs::read_to_string(setup.path("config.toml")).unwrap();
    setup.write("config.toml", &format!("{config}watch = true\n"));
    setup.write("wa/WhatsApp Chat with Ann.txt", &chat(&["PTT-1.opus"]));
    setup.write("wa/PTT-1.opus", "bring the anchor");
    setup.write("wa/WhatsApp Chat with Doctor.txt", "25/03/2024, 10:00 - Doctor: hi\n");
    let running = setup.start();
    let client = running.client(BOTH[1]).await;
    until_found(&client, "anchor").await;
    setup.write("wa/PTT-2.opus", "and the lantern");
    setup.write("wa/WhatsApp Chat with Ann.txt", &chat(&["PTT-1.opus", "PTT-2.opus"]));
    until_found(&client, "lantern").await;
    assert_eq!(calls(&setup), 2);
}

#[test]
fn a_configuration_that_names_no_file_is_refused() {
    for (text, problem) in [
        ("[transcribe]\ncommand = [\"whisper\"]\n", "one of them with {} for the file"),
        ("[transcribe]\ncommand = [\"{}\"]\n", "one of them with {} for the file"),
        ("[transcribe]\ncommand = [\"a\", \"{}\"]\nseconds = 0\n", "`seconds` is 1 to 3600"),
    ] {
        assert_has(&Config::parse(text, Path::new("/")).unwrap_err(), &[problem]);
    }
}
