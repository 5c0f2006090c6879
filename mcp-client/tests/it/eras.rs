//! Which era a server speaks: found out by the client, over each transport, from whatever the server answers.

use mcp_proto::{Era, ProtocolVersion};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::process::Command;

use crate::common::{Served, server};
use crate::fake::{Answer, Fake, Seen, events, refusal, status};

/// What a legacy server says.
fn legacy(seen: &Seen) -> Answer {
    match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), 0),
        "notifications/initialized" | "DELETE" => status(202),
        "GET" => status(405),
        _ => seen.result(json!({"tools": []})),
    }
}

/// What a modern server says.
fn modern(seen: &Seen) -> Answer {
    match seen.name() {
        "server/discover" => seen.result(json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "instructions": "Ask.",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
        })),
        _ => seen.result(json!({"resultType": "complete", "tools": []})),
    }
}

async fn connected(fake: &Fake) -> Client {
    Client::http(&fake.url(), ClientConfig::default()).await.unwrap()
}

#[tokio::test]
async fn the_own_server_is_spoken_with_in_the_modern_era_over_every_transport() {
    let served = Served::new(server()).await;
    let config = ClientConfig::default;
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(far);
    let serving = mcp_proto::stdio::serve(server(), reader, writer, Default::default());
    tokio::spawn(serving);
    let (reader, writer) = tokio::io::split(near);
    for client in [
        Client::http(&served.url(), config()).await.unwrap(),
        Client::memory(server(), config()).await.unwrap(),
        Client::streams(reader, writer, config()).await.unwrap(),
    ] {
        assert_eq!(client.era(), Era::Modern);
        let told = client.server().await.unwrap();
        assert_eq!(told.version, ProtocolVersion::LATEST);
        assert_eq!(told.info.as_ref().unwrap().name, "bench");
        assert!(told.can("tools") && !told.can("prompts"));
        assert_eq!(client.list_tools().await.unwrap().len(), 5);
    }
}

#[tokio::test]
async fn over_http_whatever_is_no_answer_of_the_modern_era_means_the_handshake() {
    type Refused = fn(&Seen) -> Answer;
    let answers: [(&str, Refused); 10] = [
        ("400 without a body", |_| status(400)),
        ("404 without a body", |_| status(404)),
        ("405", |_| status(405)),
        ("422", |_| status(422)),
        ("400 -32000", |seen| seen.error(400, -32_000, json!({}))),
        ("400 -32600", |seen| seen.error(400, -32_600, json!({}))),
        // FastMCP of the Python SDK 1 has an id of its own in what it refuses by status.
        ("400 with another id", |_| refusal(400)),
        ("200 -32601", |seen| seen.error(200, -32_601, json!({}))),
        ("a result of something else", |seen| seen.result(json!({}))),
        ("-32022 for legacy versions alone", |seen| {
            seen.error(400, -32_022, json!({"supported": ["2025-06-18", "2025-03-26"]}))
        }),
    ];
    for (what, refused) in answers {
        let fake = Fake::new(move |seen, _| match seen.name() {
            "server/discover" => refused(seen),
            _ => legacy(seen),
        })
        .await;
        let client = connected(&fake).await;
        assert_eq!(client.era(), Era::Legacy, "{what}");
        client.list_tools().await.unwrap();
        client.list_tools().await.unwrap();
        // The era is remembered: one question, one handshake.
        let wanted = [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/list",
        ];
        assert_eq!(fake.names(), wanted, "{what}");
        let offered = &fake.seen()[1].body["params"]["protocolVersion"];
        let wanted = match what {
            "-32022 for legacy versions alone" => "2025-06-18",
            _ => "2025-11-25",
        };
        assert_eq!(offered, wanted, "{what}");
    }
}

#[tokio::test]
async fn over_http_three_codes_mean_the_modern_era() {
    for (code, data) in [
        (-32_020, json!({})),
        (-32_021, json!({"requiredCapabilities": {"sampling": {}}})),
        (-32_022, json!({"supported": ["2026-07-28"]})),
    ] {
        let fake = Fake::new(move |seen, _| match seen.name() {
            "server/discover" => seen.error(400, code, data.clone()),
            _ => modern(seen),
        })
        .await;
        let client = connected(&fake).await;
        assert_eq!(client.era(), Era::Modern, "{code}");
        assert_eq!(client.list_tools().await.unwrap(), []);
        assert_eq!(fake.names(), ["server/discover", "tools/list"], "{code}");
    }
}

#[tokio::test]
async fn what_says_nothing_of_the_era_is_given_to_the_caller() {
    for refused in [401, 403, 429, 502, 503] {
        let fake = Fake::new(move |_, _| status(refused)).await;
        let error = Client::http(&fake.url(), ClientConfig::default()).await;
        let error = error.unwrap_err();
        assert!(matches!(error, ClientError::Http { status, .. } if status == refused), "{error}");
        assert_eq!(fake.names(), ["server/discover"]);
    }
    let strange = |seen: &Seen, _| seen.error(400, -32_022, json!({"supported": ["2099-01-01"]}));
    let fake = Fake::new(strange).await;
    let error = Client::http(&fake.url(), ClientConfig::default()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("2099-01-01") && error.contains("2026-07-28"), "{error}");
}

#[tokio::test]
async fn the_transport_of_the_first_revision_is_named() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "GET" => events("event: endpoint\ndata: /messages?id=1\n\n"),
        _ => status(405),
    })
    .await;
    let error = Client::http(&fake.url(), ClientConfig::default()).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("HTTP+SSE transport of 2024-11-05"));
}

#[tokio::test]
async fn a_version_that_is_refused_once_is_spoken_again_if_the_server_has_it() {
    for pinned in [true, false] {
        let fake = Fake::new(|seen, before| match seen.name() {
            "tools/list" if before == 0 => {
                seen.error(400, -32_022, json!({"supported": ["2026-07-28"]}))
            }
            _ => modern(seen),
        })
        .await;
        let config = if pinned { ClientConfig::new(Era::Modern) } else { ClientConfig::default() };
        let client = Client::http(&fake.url(), config).await.unwrap();
        client.list_tools().await.unwrap();
        let seen = fake.seen();
        let asked: Vec<_> = seen.iter().filter(|seen| seen.name() == "tools/list").collect();
        assert_eq!(asked.len(), 2);
        assert_ne!(asked[0].body["id"], asked[1].body["id"]);
    }
}

#[tokio::test]
async fn a_version_that_stays_refused_is_the_callers_to_know() {
    let refused = |seen: &Seen, _| seen.error(400, -32_022, json!({"supported": ["2025-11-25"]}));
    let fake = Fake::new(refused).await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let error = client.unwrap().list_tools().await.unwrap_err();
    assert_eq!(error.code(), Some(-32_022));
    assert_eq!(fake.names().len(), 1);
}

#[tokio::test]
async fn a_server_that_speaks_another_era_than_before_is_asked_again() {
    // The first server is replaced by an older one behind the same address, and that one by a newer one.
    let fake = Fake::new(|seen, before| match (seen.name(), before) {
        ("server/discover", 1) => status(400),
        ("server/discover", _) => modern(seen),
        ("tools/list", 0) => modern(seen),
        ("tools/list", 1) => status(400),
        ("tools/list", 2) => legacy(seen),
        ("tools/list", 3) => seen.error(400, -32_022, json!({"supported": ["2026-07-28"]})),
        ("tools/list", _) => modern(seen),
        _ => legacy(seen),
    })
    .await;
    let client = connected(&fake).await;
    for era in [Era::Modern, Era::Legacy, Era::Modern] {
        client.list_tools().await.unwrap();
        assert_eq!(client.era(), era);
    }
    let probes = fake.names();
    let probes = probes.iter().filter(|name| *name == "server/discover");
    assert_eq!(probes.count(), 3);
}

/// Answers lines by a function, `None` is silence.
fn line_server(
    far: DuplexStream,
    answers: impl Fn(&Value) -> Option<Value> + Send + 'static,
) -> tokio::task::JoinHandle<Vec<String>> {
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(far);
        let mut lines = BufReader::new(reader).lines();
        let mut methods = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            methods.push(message["method"].as_str().unwrap_or("-").to_owned());
            if let Some(mut answer) = answers(&message) {
                answer["jsonrpc"] = json!("2.0");
                answer["id"] = message["id"].clone();
                let line = format!("{answer}\n");
                writer.write_all(line.as_bytes()).await.unwrap();
            }
        }
        methods
    })
}

fn shaken(message: &Value) -> Option<Value> {
    match message["method"].as_str() {
        Some("initialize") => Some(json!({"result": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {},
        }})),
        Some("ping") => Some(json!({"result": {}})),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn on_a_pipe_any_other_error_and_silence_mean_the_handshake() {
    for refusal in [
        Some(json!({"error": {"code": -32_601, "message": "unknown"}})),
        Some(json!({"error": {"code": -32_000, "message": "initialize first"}})),
        Some(json!({"error": {"code": 1, "message": "what?"}})),
        Some(json!({"result": {}})),
        None,
    ] {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let answer = refusal.clone();
        let server = line_server(far, move |message| match message["method"].as_str() {
            Some("server/discover") => answer.clone(),
            _ => shaken(message),
        });
        let (reader, writer) = tokio::io::split(near);
        let client = Client::streams(reader, writer, ClientConfig::default());
        let client = client.await.unwrap();
        assert_eq!(client.era(), Era::Legacy, "{refusal:?}");
        client.ping().await.unwrap();
        client.close().await.unwrap();
        drop(client);
        let wanted = ["server/discover", "initialize", "notifications/initialized", "ping"];
        assert_eq!(server.await.unwrap(), wanted, "{refusal:?}");
    }
}

#[tokio::test]
async fn on_a_pipe_a_refused_version_means_the_modern_era() {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let refused = json!({"error": {
        "code": -32_022, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "x"},
    }});
    let server = line_server(far, move |_| Some(refused.clone()));
    let (reader, writer) = tokio::io::split(near);
    let client = Client::streams(reader, writer, ClientConfig::default());
    let client = client.await.unwrap();
    assert_eq!(client.era(), Era::Modern);
    client.close().await.unwrap();
    assert_eq!(server.await.unwrap(), ["server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_is_slow_to_start_is_found_after_all() {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = line_server(far, move |message| match message["method"].as_str() {
        // The first question was lost while it started.
        Some("server/discover") if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => {
            None
        }
        Some("server/discover") => Some(json!({"result": {
            "supportedVersions": ["2026-07-28"], "capabilities": {},
        }})),
        _ => Some(json!({"error": {"code": -32_601, "message": "unknown"}})),
    });
    let (reader, writer) = tokio::io::split(near);
    let client = Client::streams(reader, writer, ClientConfig::default());
    let client = client.await.unwrap();
    assert_eq!(client.era(), Era::Modern);
    client.close().await.unwrap();
    let wanted = ["server/discover", "initialize", "server/discover"];
    assert_eq!(server.await.unwrap(), wanted);
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_ends_with_what_it_does_not_know_is_started_again() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {},
    }});
    let script = r#"read line; case "$line" in *'"initialize"'*) echo "$0"; cat > /dev/null;; *) exit 1;; esac"#;
    let mut server = Command::new("sh");
    server.args(["-c", script, &answer.to_string()]);
    let client = Client::stdio(server, ClientConfig::default()).await.unwrap();
    assert_eq!(client.era(), Era::Legacy);
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_unknown_kind_of_result_is_a_broken_answer_and_a_missing_one_is_complete() {
    let fake = Fake::new(|seen, before| match before {
        0 => seen.result(json!({"tools": []})),
        _ => seen.result(json!({"resultType": "zzz", "tools": []})),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let client = client.unwrap();
    assert_eq!(client.list_tools().await.unwrap(), []);
    let error = client.list_tools().await.unwrap_err();
    assert!(error.to_string().contains("\"zzz\""), "{error}");
}
