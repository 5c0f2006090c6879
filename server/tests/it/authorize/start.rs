//! How a server is started that asks who calls, that only reads, and what it writes of those who wrote.

use std::process::Stdio as Pipe;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use super::{Asking, tokens};
use crate::harness::process::{binary, run, signal};
use crate::harness::{Client, Era, Mcp, Server, Stdio, Wire, soon, tick};

/// A set with the public key of RFC 7517, appendix A.1.
fn key_set() -> String {
    let key = json!({
        "kty": "EC", "crv": "P-256", "kid": "1", "use": "sig",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    });
    json!({ "keys": [key] }).to_string()
}

#[tokio::test]
async fn an_address_that_others_reach_takes_a_decision() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("tokens");
    std::fs::write(&file, tokens(&["ada read"])).unwrap();
    std::fs::write(dir.path().join("bad"), "secret ada\n").unwrap();
    std::fs::write(dir.path().join("keys"), key_set()).unwrap();
    let config = dir.path().join("universe.toml");
    let open = "listen = \"0.0.0.0:0\"\nallowed-host = \"*\"\n";
    let rows = [
        ("", Some("--auth-token-file")),
        ("auth-token-file = \"tokens\"\n", None),
        ("allow-anyone = true\n", None),
        ("auth-token-file = \"tokens\"\nallow-anyone = true\n", Some("leave it out")),
        ("auth-token-file = \"bad\"\n", Some("line 1: it must begin with sha256:")),
        ("auth-token-file = \"nowhere\"\n", Some("nowhere")),
        ("oauth-issuer = \"https://login.example\"\n", Some("give all three")),
        (
            "oauth-issuer = \"https://login.example\"\noauth-audience = \"here\"\noauth-jwks = \"keys\"\n",
            None,
        ),
        (
            "oauth-issuer = \"https://login.example\"\noauth-audience = \"here\"\noauth-jwks = \"https://login.example/keys\"\n",
            None,
        ),
    ];
    for (options, problem) in rows {
        std::fs::write(&config, format!("{open}{options}")).unwrap();
        let mut command = binary();
        command.arg("check-config").env("UNIVERSE_CONFIG", &config);
        let checked = run(&mut command).await;
        assert_eq!(checked.status.success(), problem.is_none(), "{options}{}", checked.stderr);
        if let Some(problem) = problem {
            assert!(checked.stderr.contains(problem), "{options}{}", checked.stderr);
            let mut command = binary();
            let started =
                run(command.env("UNIVERSE_CONFIG", &config).current_dir(dir.path())).await;
            assert_eq!(started.stderr, checked.stderr);
        }
    }
    let mut command = binary();
    command.args(["--read-only", "check-config", "--json"]).env("UNIVERSE_AUTH_TOKEN_FILE", &file);
    let checked: Value = serde_json::from_str(&run(&mut command).await.stdout).unwrap();
    let source = |name: &str| {
        let mut all = checked.as_array().unwrap().iter();
        all.find(|it| it["option"] == name).unwrap()["source"].clone()
    };
    assert_eq!(source("auth-token-file"), "environment UNIVERSE_AUTH_TOKEN_FILE");
    assert_eq!(source("read-only"), "flag");
}

#[tokio::test]
async fn lines_of_callers_that_allow_nothing_are_named() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("tokens");
    for (callers, told) in [
        (&["ada write"][..], None),
        (&["ada universe:a%3Ab:admin read"], None),
        (&["ada wriet"], Some("scope=\"wriet\"")),
        (&["ada read", "bob universe:sol:wirte"], Some("line=2")),
        (&["ada"], Some("must follow its name")),
        (&[], Some("every call is refused")),
    ] {
        std::fs::write(&file, tokens(callers)).unwrap();
        let checked =
            run(binary().arg("check-config").env("UNIVERSE_AUTH_TOKEN_FILE", &file)).await;
        assert!(checked.status.success(), "{}", checked.stderr);
        match told {
            Some(told) => assert!(checked.stderr.contains(told), "{told}: {}", checked.stderr),
            None => assert_eq!(checked.stderr, ""),
        }
    }
}

#[tokio::test]
async fn clients_are_shown_where_to_get_tokens() {
    let dir = TempDir::new().unwrap();
    let keys = dir.path().join("keys.json");
    std::fs::write(&keys, key_set()).unwrap();
    let audience = "https://universe.example/mcp";
    let arguments = [
        "--oauth-issuer",
        "https://login.example",
        "--oauth-audience",
        audience,
        "--oauth-jwks",
        keys.to_str().unwrap(),
    ];
    let server = Server::with(&dir.path().join("data"), &arguments).await;
    for path in ["", "/mcp"] {
        let told = server.client.get(&format!("/.well-known/oauth-protected-resource{path}")).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert_eq!(told.json()["resource"], audience);
    }
    let place =
        "resource_metadata=\"https://universe.example/.well-known/oauth-protected-resource/mcp\"";
    // Signed by nobody (`alg` none), and one that is no token at all.
    let unsigned = "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUifQ.";
    for headers in [&[][..], &[("authorization", unsigned)], &[("authorization", "Bearer x")]] {
        for path in ["/universes", "/mcp"] {
            let refused = server.client.call("GET", path, headers, &Value::Null).await;
            assert_eq!(refused.status, 401, "{refused:?}");
            let challenge = refused.header("www-authenticate");
            assert!(
                challenge.contains(place) && challenge.contains("scope=\"read write\""),
                "{challenge}"
            );
        }
    }
    let quiet = Server::on(&dir.path().join("quiet")).await;
    let told = quiet.client.get("/.well-known/oauth-protected-resource").await;
    assert_eq!(told.status, 404);
}

#[tokio::test]
async fn a_server_that_only_reads_changes_nothing_by_any_way() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo", "--extra-tools", "--read-only"]).await;
    let client = server.client;
    let before = client.universe("sol").await;
    let sol = "/universes/sol";
    for (method, path, body, allow) in [
        ("POST", "/universes", json!({"name": "x", "state": {}}), "GET, HEAD, OPTIONS"),
        ("PUT", sol, json!({"name": "x"}), "GET, HEAD, OPTIONS"),
        ("DELETE", sol, Value::Null, "GET, HEAD, OPTIONS"),
        ("POST", "/universes/sol/commands", tick(), "OPTIONS"),
        ("POST", "/universes/sol/undo", json!({"revision": 0}), "OPTIONS"),
    ] {
        let refused = client.call(method, path, &[], &body).await;
        assert_eq!((refused.status, refused.header("allow")), (405, allow), "{method} {path}");
        assert!(refused.error().contains("--read-only"), "{refused:?}");
        let asked = client.call("OPTIONS", path, &[], &Value::Null).await;
        assert_eq!(asked.header("allow"), allow);
    }
    let reading = [
        "get_universe_state",
        "list_universe_commands",
        "find_entities",
        "list_universes",
        "get_universe_history",
        "draw_universe",
    ];
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let mut tools = mcp.tools().await;
        tools.retain(|tool| !reading.contains(&tool.as_str()));
        assert_eq!(tools, [""; 0]);
        let call = json!({"name": "send_universe_command", "arguments": {"universeId": "sol", "command": tick()}});
        mcp.error("tools/call", call.clone()).await;
        let mut joined = Stdio::on(dir.path(), era).await;
        let refused = joined.ask(&json!(1), "tools/call", call).await;
        assert!(refused["error"].is_object(), "{refused}");
    }
    assert_eq!(client.universe("sol").await, before);
}

#[tokio::test]
async fn who_wrote_is_in_the_log_and_not_what() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("tokens");
    std::fs::write(&file, tokens(&["ada write", "bob read"])).unwrap();
    let mut command = binary();
    command.args(["--listen", "127.0.0.1:0", "--demo", "--data-dir"]).arg(dir.path().join("data"));
    command.arg("--auth-token-file").arg(&file).stderr(Pipe::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let mut log = String::new();
    let listening = "listening on http://";
    let address = loop {
        let mut piece = [0; 1_024];
        let read = soon(errors.read(&mut piece)).await.unwrap();
        log.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        if let Some((_, rest)) = log.split_once(listening)
            && let Some((address, _)) = rest.split_once('\n')
        {
            break address.parse().unwrap();
        }
    };
    let client = Client(address);
    let unknown = [("authorization", "Bearer eve")];
    for _ in 0..3 {
        client.call("GET", "/universes/sol", &unknown, &Value::Null).await;
    }
    let headers = [("authorization", "Bearer ada")];
    client.call("GET", "/universes/sol", &headers, &Value::Null).await;
    client.call("POST", "/universes/sol/commands", &headers, &tick()).await;
    client.call("DELETE", "/universes/sol", &headers, &Value::Null).await;
    let mcp = Mcp::with_token(client, Era::Modern, "ada").await;
    mcp.command("sol", &tick()).await;
    for era in Era::BOTH {
        let mcp = Wire::with_token(client, era, "bob").await;
        mcp.send(&json!(1), "tools/list", json!({})).await;
        let refused = mcp.command("sol", &tick()).await;
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    signal(child.id().unwrap(), "TERM");
    soon(errors.read_to_string(&mut log)).await.unwrap();
    // One line for all of them: requests without a token must not fill the log.
    let refused: Vec<_> = log.lines().filter(|line| line.contains("refused a token")).collect();
    assert_eq!(refused.len(), 1, "{log}");
    assert!(refused[0].contains("problem=\"this server does not know it\""), "{log}");
    let audit: Vec<_> = log.lines().filter(|line| line.contains(" audit: ")).collect();
    assert_eq!(audit.len(), 5, "{log}");
    let refused =
        ["caller=\"bob\"", "tool=\"send_universe_command\"", "outcome=\"forbidden\"", "write"];
    let parts = [
        ["caller=\"ada\"", "method=POST", "route=\"/universes/{id}/commands\"", "outcome=200"],
        ["caller=\"ada\"", "method=DELETE", "route=\"/universes/{id}\"", "outcome=403"],
        ["caller=\"ada\"", "tool=\"send_universe_command\"", "outcome=\"done\"", "write"],
        refused,
        refused,
    ];
    for (line, parts) in audit.iter().zip(parts) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        assert!(!line.contains("tick") && !line.contains("sol"), "{line}");
    }
    assert!(!log.contains("Bearer ada"), "{log}");
}

#[tokio::test]
async fn what_is_printed_for_clients_has_a_place_for_the_token() {
    let asking = Asking::new(&[], &[]).await;
    let greeting = asking.server.greeting.join("\n");
    assert!(greeting.contains(r#""headers": {"Authorization": "Bearer TOKEN"}"#), "{greeting}");
    assert!(greeting.contains("[mcp_servers.universe]"), "{greeting}");
}
