//! The verbs for people against a server that asks for a token, by HTTPS too.

use tempfile::TempDir;

use super::tokens;
use crate::harness::process::{Ended, binary, run};
use crate::harness::{Client, Server};

/// A server over HTTPS whose callers are `ann`, who may write, and `bob`, who may read, each with the name as the
/// token.
struct Guarded {
    _server: Server,
    dir: TempDir,
    url: String,
}

impl Guarded {
    async fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(at("key.pem"), made.signing_key.serialize_pem()).unwrap();
        std::fs::write(at("tokens"), tokens(&["ann write", "bob read"])).unwrap();
        for name in ["ann", "bob"] {
            std::fs::write(at(name), format!("{name}\n")).unwrap();
        }
        let config = at("universe.toml");
        let text = "listen = \"127.0.0.1:0\"\ndemo = true\ndata-dir = \"data\"\ntls-cert = \"cert.pem\"\n\
                    tls-key = \"key.pem\"\nauth-token-file = \"tokens\"\nallowed-host = \"localhost\"\n";
        std::fs::write(&config, text).unwrap();
        let mut command = binary();
        command.env("UNIVERSE_CONFIG", &config);
        let server = Server::start(command).await;
        let Client(address) = server.client;
        Self { url: format!("https://localhost:{}", address.port()), _server: server, dir }
    }

    /// A verb with these arguments, whose files are here, and `TOKEN` in its environment.
    async fn verb(&self, arguments: &[&str], token: &str) -> Ended {
        let mut command = binary();
        command.args(arguments).env("TOKEN", token);
        run(command.current_dir(self.dir.path())).await
    }
}

#[tokio::test]
async fn verbs_show_a_token_and_speak_https() {
    let guarded = Guarded::start().await;
    let url = guarded.url.as_str();
    let place = ["--url", url, "--ca", "cert.pem"];
    let tick = r#"{"type":"tick","dt":60}"#;
    for (verb, token, told) in [
        (&["list"][..], &["--token-file", "bob"], "Sol"),
        (&["list"], &["--token-env", "TOKEN"], "Sol"),
        (&["send", "sol", tick], &["--token-file", "ann"], "revision 1"),
        (&["get", "sol"], &["--token-file", "bob"], "revision 1"),
        (&["diff", "sol", "--from", "0"], &["--token-file", "bob"], "revision 0"),
        (&["watch", "sol", "--after", "0", "--count", "1"], &["--token-file", "bob"], "tick"),
    ] {
        let ended = guarded.verb(&[verb, &place, token].concat(), "bob").await;
        assert!(ended.stdout.contains(told), "{verb:?}: {ended:?}");
        assert_eq!(ended.stderr, "", "{verb:?}");
    }
    // By the socket of the directory nothing is shown.
    let mut command = binary();
    command.args(["list", "--data-dir"]);
    let listed = run(command.arg(guarded.dir.path().join("data"))).await;
    assert!(listed.stdout.contains("Sol"), "{listed:?}");
}

#[tokio::test]
async fn what_a_verb_lacks_is_said() {
    let guarded = Guarded::start().await;
    let url = guarded.url.as_str();
    let plain = url.replace("https:", "http:");
    let other = url.replace("localhost", "127.0.0.1");
    let tick = r#"{"type":"tick"}"#;
    let trusted = format!("--url {url} --ca cert.pem");
    let rows = [
        (format!("list --url {url}"), "name that authority's certificate with --ca"),
        (format!("list {trusted}"), "asks for a token: name it with --token-file or --token-env"),
        (format!("list {trusted} --token-env TOKEN"), "the token is not accepted"),
        (
            format!("list {trusted} --token-env NOWHERE"),
            "--token-env: the environment variable NOWHERE is not set",
        ),
        (format!("list {trusted} --token-file nowhere"), "--token-file nowhere: "),
        (format!("send sol {tick} {trusted} --token-file bob"), "write"),
        (format!("list --url {url} --ca key.pem"), "--ca key.pem: it has no certificate"),
        (
            format!("list --url {other} --ca cert.pem"),
            "its certificate is for other names than 127.0.0.1",
        ),
        (format!("list --url {plain}"), "is it https://?"),
        (format!("list --url {plain} --ca cert.pem"), "--ca is for https"),
    ];
    for (arguments, told) in rows {
        let words: Vec<_> = arguments.split(' ').collect();
        let ended = guarded.verb(&words, "secret-of-mine").await;
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(told), "{arguments:?}: {ended:?}");
        assert!(!ended.stderr.contains("secret-of-mine"), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    let alone = guarded.verb(&["list", "--token-file", "bob"], "").await;
    assert_eq!(alone.status.code(), Some(2));
    assert!(alone.stderr.contains("--url"), "{alone:?}");
}
