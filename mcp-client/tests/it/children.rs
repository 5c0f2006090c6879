//! A server's process that does not start, dies, or writes what it should not.

use mcp_proto::Era;
use mcp_proto_client::{CallOptions, Client, ClientConfig, ClientError, Stderr};
use serde_json::json;
use std::time::Duration;
use tokio::process::Command;

use crate::common::PATIENCE;

fn script(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    command
}

fn configs() -> [ClientConfig; 2] {
    let configs = [ClientConfig::default(), ClientConfig::new(Era::Legacy)];
    configs.map(|config| config.with_stderr(Stderr::Captured))
}

/// Answers the handshake and one list, with what comes between them.
const SERVER: &str = r#"
    read line
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
    read line
"#;

// modelcontextprotocol/typescript-sdk#1049, modelcontextprotocol/python-sdk#1100: a server that exits at once leaves
// "connection closed", and why it did is lost.
#[tokio::test]
async fn a_process_that_does_not_start_says_why() {
    for config in configs() {
        let failing = script(r#"echo "no such config: /x.toml" >&2; exit 3"#);
        let error = Client::stdio(failing, config).await.unwrap_err();
        let ClientError::Process { status, stderr, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(status.and_then(|status| status.code()), Some(3));
        assert_eq!(stderr, "no such config: /x.toml");
        let text = error.to_string();
        assert!(text.contains("exit status: 3") && text.contains("no such config"), "{text}");
    }
    // Much output is shown in bounds, without what moves a terminal's cursor.
    let noisy =
        script("yes 'a long line of noise' | head -n 5000 >&2; printf '\\033[31mlast\\n' >&2");
    let error = Client::stdio(noisy, ClientConfig::default().with_stderr(Stderr::Captured)).await;
    let Err(ClientError::Process { stderr, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(stderr.lines().count(), 10);
    assert!(stderr.ends_with("[31mlast") && stderr.len() < 2_001, "{stderr:?}");
}

/// One that reads what it does not know before it dies is started again, for the older era (`eras.rs`).
#[tokio::test]
async fn a_process_that_dies_without_reading_is_started_once() {
    let folder = tempfile::tempdir().unwrap();
    for (text, starts) in [("echo >> starts; exit 3", 1), ("read line; echo >> starts; exit 3", 2)]
    {
        let mut command = script(text);
        command.current_dir(folder.path());
        let error = Client::stdio(command, ClientConfig::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::Process { .. }), "{error:?}");
        let file = folder.path().join("starts");
        assert_eq!(std::fs::read(&file).unwrap().len(), starts, "{text}");
        std::fs::remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn a_process_that_is_silent_says_what_it_waits_for() {
    let asking = script("echo 'Ok to proceed? (y)' >&2; exec sleep 100");
    let config = ClientConfig::new(Era::Legacy).with_stderr(Stderr::Captured);
    let error = Client::stdio(asking, config.with_timeout(Duration::from_millis(300))).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no answer within 0.3 s, while its process runs"), "{error}");
    assert!(error.contains("Ok to proceed?"), "{error}");
}

// nicobailon/pi-mcp-adapter#442, QwenLM/qwen-code#3163: a folder that does not exist is reported as a program that does
// not exist.
#[tokio::test]
async fn a_folder_that_does_not_exist_is_named() {
    let mut command = script("true");
    command.current_dir("/does/not/exist");
    let error = Client::stdio(command, ClientConfig::default()).await.unwrap_err().to_string();
    assert!(error.contains("its folder /does/not/exist"), "{error}");
    let error = Client::stdio(Command::new("no-such-program-9"), ClientConfig::default()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no-such-program-9") && !error.contains("folder"), "{error}");
}

// livekit/agents#6291: nothing notices that the process has died, and each later call fails without a message.
#[tokio::test]
async fn the_death_of_a_process_is_noticed_and_explained() {
    let dying = script(&format!("{SERVER} read line; echo 'out of memory' >&2; exit 7"));
    let config = ClientConfig::new(Era::Legacy).with_stderr(Stderr::Captured);
    let client = Client::stdio(dying, config).await.unwrap();
    assert!(!client.is_closed());
    let (watched, running) = (client.clone(), client.clone());
    let watching = tokio::spawn(async move { watched.closed().await });
    let running = running.list_tools().await.unwrap_err();
    let reason = tokio::time::timeout(PATIENCE, watching).await.unwrap().unwrap();
    assert_eq!(running, reason);
    assert!(client.is_closed());
    let later = client.ping().await.unwrap_err();
    assert_eq!(later, reason);
    let text = later.to_string();
    assert!(text.contains("exit status: 7") && text.contains("out of memory"), "{text}");
}

/// What runs in a process of its own, whose stderr is read.
#[tokio::test]
async fn in_a_program_with_a_stderr() {
    if std::env::var_os("MCP_TEST_STDERR").is_none() {
        return;
    }
    let end = r#"cat > /dev/null; printf '%s\n' "$lines" 'saved all' >&2"#;
    let server = script(&format!("lines=$(seq 10000); {SERVER} {end}"));
    let client = Client::stdio(server, ClientConfig::new(Era::Legacy)).await.unwrap();
    client.close().await.unwrap();
}

#[tokio::test]
async fn what_a_process_writes_at_its_end_is_shown() {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "children::in_a_program_with_a_stderr", "--nocapture"]);
    let output = program.env("MCP_TEST_STDERR", "1").output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stderr).unwrap();
    let expected: String = (1..=10_000).map(|line| format!("{line}\n")).collect();
    assert!(shown == expected + "saved all\n", "{} bytes, in order or not", shown.len());
}

#[tokio::test]
async fn a_client_that_was_closed_says_so() {
    let client = Client::memory(crate::common::server(), ClientConfig::default()).await.unwrap();
    assert!(!client.is_closed());
    client.close().await.unwrap();
    assert!(client.is_closed());
    assert_eq!(client.closed().await, ClientError::Closed);
    assert_eq!(client.list_tools().await, Err(ClientError::Closed));
}

// modelcontextprotocol/rust-sdk#938, editor-code-assistant/eca#298: a log line on stdout is answered, or ends the
// connection. modelcontextprotocol/rust-sdk#825: so does a byte order mark.
#[tokio::test]
async fn noise_on_stdout_and_a_byte_order_mark_end_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sent = folder.path().join("sent");
    let noisy = script(&format!(
        r#"echo 'server running'; {SERVER} echo '{{"status": 200}}'
        read line; printf '%s\n' "$line" > '{}'
        printf '\357\273\277%s\n' '{{"jsonrpc":"2.0","id":2,"result":{{"tools":[]}}}}'; cat"#,
        sent.display()
    ));
    let client = Client::stdio(noisy, ClientConfig::new(Era::Legacy)).await.unwrap();
    let options = CallOptions::default().with_timeout(PATIENCE);
    let listed = client.request_with("tools/list", json!({}), &options).await.unwrap();
    assert_eq!(listed, json!({"tools": []}));
    let sent = std::fs::read_to_string(sent).unwrap();
    assert!(sent.contains("tools/list"), "{sent}");
}
