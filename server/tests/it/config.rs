//! Options: a file, the environment and flags, and which of them counts.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Server;
use crate::harness::process::{Ended, binary, run};

/// A file of options in a directory of its own.
fn file(text: &str) -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("universe.toml");
    std::fs::write(&file, text).unwrap();
    (dir, file.to_str().unwrap().to_owned())
}

async fn check(file: &str) -> Ended {
    run(binary().args(["check-config", "--config", file])).await
}

/// The value and the source of an option.
fn option<'c>(config: &'c Value, name: &str) -> (&'c Value, &'c str) {
    let mut all = config.as_array().unwrap().iter();
    let found = all.find(|it| it["option"] == name).unwrap();
    (&found["values"], found["source"].as_str().unwrap())
}

#[tokio::test]
async fn a_flag_goes_before_the_environment_the_file_and_the_default() {
    let (_dir, file) = file(
        "# mine\nlisten = \"localhost:4001\"\ndemo = true\nkeep-history = 500\nstrict = true\n\
         allowed-origin = [\"https://a.example\", \"https://b.example\"]\nmetrics = \"off\"\n",
    );
    let mut command = binary();
    command
        .env("UNIVERSE_LISTEN", "127.0.0.1:4002")
        .env("UNIVERSE_STRICT", "false")
        .env("UNIVERSE_METRICS", "off")
        .args(["--config", &file, "--metrics", "on", "--demo=false"])
        .args(["check-config", "--json"]);
    let ended = run(&mut command).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    let config: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows = [
        ("metrics", r#"["on"]"#, "flag"),
        ("demo", r#"["false"]"#, "flag"),
        ("listen", r#"["127.0.0.1:4002"]"#, "environment UNIVERSE_LISTEN"),
        ("strict", r#"["false"]"#, "environment UNIVERSE_STRICT"),
        ("keep-history", r#"["500"]"#, &format!("{file}:4")),
        ("allowed-origin", r#"["https://a.example","https://b.example"]"#, &format!("{file}:6")),
        ("store", r#"["embedded"]"#, "default"),
        ("allowed-host", "[]", "default"),
    ];
    for (name, values, source) in rows {
        let found = option(&config, name);
        assert_eq!((found.0.to_string().as_str(), found.1), (values, source), "{name}");
    }
    // Every option of the command line is one of the file's.
    let help = run(binary().arg("--help")).await.stdout;
    for found in config.as_array().unwrap() {
        let name = found["option"].as_str().unwrap();
        assert!(help.contains(&format!("--{name}")), "{name}");
        assert!(!["config", "help", "version"].contains(&name));
    }
    let of_traces = usize::from(cfg!(feature = "otlp"));
    assert_eq!(config.as_array().unwrap().len(), 31 + of_traces);
}

#[tokio::test]
async fn a_server_is_started_from_a_file_and_verbs_find_it_there() {
    let (dir, file) =
        file("listen = \"localhost:0\"\ndemo = true\ndata-dir = \"here\"\nmetrics = \"off\"\n");
    let mut command = binary();
    command.env("UNIVERSE_CONFIG", &file);
    let server = Server::start(command).await;
    assert_eq!(server.client.get("/universes/sol").await.status, 200);
    assert_eq!(server.client.get("/metrics").await.status, 404);
    assert!(dir.path().join("here").is_dir(), "paths begin at the file");
    let listed = run(binary().args(["list", "--config", &file])).await;
    assert!(listed.stdout.contains("sol "), "{}", listed.stderr);
    let elsewhere = dir.path().join("elsewhere");
    let mut command = binary();
    command.args(["list", "--config", &file, "--data-dir"]).arg(&elsewhere);
    let ended = run(&mut command).await;
    assert!(ended.stderr.contains("elsewhere"), "{}", ended.stderr);
}

#[tokio::test]
async fn what_a_file_cannot_mean_is_reported_with_its_line() {
    let rows = [
        ("\nlistne = \"localhost:1\"", 2, "unknown option \"listne\"; did you mean listen?"),
        ("demo = true\n[server]\nlisten = 1", 2, "unknown option \"server\""),
        ("config = \"other\"", 1, "unknown option \"config\""),
        ("demo = true\n\nlisten = \"nowhere\"", 3, "such as 127.0.0.1:3001 or localhost:3001"),
        ("demo = \"perhaps\"", 1, "not a boolean"),
        ("demo = 1.5", 1, "true or false was expected"),
        ("listen = [\"localhost:1\"]", 1, "a text, a whole number"),
        ("allowed-host = [1.5]", 1, "a list of texts was expected"),
        ("store = \"memry\"", 1, "embedded, memory or the URL of a database"),
        ("keep-history = \"3x\"", 1, "such as 90m, 12h, 30d or 1y"),
        ("demo = true\ndemo = false", 2, "duplicate key"),
        ("demo = true\nstrict = [", 2, "unclosed array"),
    ];
    for (text, line, told) in rows {
        let (_dir, file) = file(text);
        let ended = check(&file).await;
        assert_eq!(ended.status.code(), Some(1), "{text}");
        let place = format!("universe-server: {file}:{line}: ");
        assert!(ended.stderr.starts_with(&place), "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{text}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    let missing = Path::new("/nowhere/universe.toml");
    let ended = check(missing.to_str().unwrap()).await;
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("/nowhere/universe.toml: "), "{}", ended.stderr);
}

#[tokio::test]
async fn options_that_do_not_go_together_are_reported() {
    for text in ["stdio = true\nlisten = \"localhost:1\"", "listen = \"0.0.0.0:1\""] {
        let (_dir, file) = file(text);
        let ended = check(&file).await;
        assert_eq!((ended.status.code(), ended.stdout.as_str()), (Some(1), ""));
    }
}

#[tokio::test]
async fn completions_and_manual_pages_name_verbs_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = run(binary().args(["completions", shell])).await;
        assert!(ended.status.success(), "{shell}: {}", ended.stderr);
        for word in ["keep-history", "check-config", "watch"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
    let page = run(binary().arg("man")).await.stdout;
    assert!(page.contains(".TH universe-server 1") && page.contains("UNIVERSE_LISTEN"));
    let dir = TempDir::new().unwrap();
    let pages = dir.path().join("man1");
    let ended = run(binary().arg("man").arg(&pages)).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    for page in ["universe-server.1", "universe-server-send.1", "universe-server-backup.1"] {
        assert!(pages.join(page).is_file(), "{page}");
    }
    let help = std::fs::read_to_string(pages.join("universe-server-send.1")).unwrap();
    assert!(help.contains("atomic"), "{help}");
}

#[tokio::test]
async fn the_memory_for_clients_is_an_option() {
    let wrong = run(binary().args(["--max-memory", "1MiB"])).await;
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stderr.contains("from 32.0 MiB to 1.0 TiB"), "{}", wrong.stderr);
    // Few bytes, and some 20 MB once they are read.
    let bomb = json!({ "name": "u", "state": { "stars": vec![json!({ "": 0 }); 30_000] } });
    for (memory, status) in [("32MiB", 413), ("512MiB", 400)] {
        let dir = TempDir::new().unwrap();
        let server = Server::with(dir.path(), &["--max-memory", memory]).await;
        let reply = server.client.post("/universes", &bomb).await;
        assert_eq!(reply.status, status, "{memory}: {}", reply.error());
        server.client.create("small", json!({})).await;
    }
}

#[tokio::test]
async fn the_pause_between_comments_is_an_option() {
    for time in ["0s", "31s", "10", "1m"] {
        let wrong = run(binary().args(["--keep-alive", time])).await;
        assert_eq!(wrong.status.code(), Some(2), "{time}");
        assert!(wrong.stderr.contains("from 1s to 30s"), "{}", wrong.stderr);
    }
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--keep-alive", "1s"]).await;
    let id = server.client.create("u", json!({})).await;
    let mut feed = server.client.feed(&id, None).await;
    let start = Instant::now();
    while feed.block().await.as_deref() != Some(":heartbeat") {}
    assert!(start.elapsed() < Duration::from_secs(9), "the default is ten seconds");
}

#[tokio::test]
async fn a_variable_that_is_no_option_is_reported() {
    let mut command = binary();
    command.env("UNIVERSE_AUTH_TOKENFILE", "callers").env("UNIVERSE_URL", "http://127.0.0.1:1");
    let ended = run(command.arg("check-config")).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    let lines: Vec<_> = ended.stderr.lines().filter(|line| line.contains("UNIVERSE_")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("AUTH_TOKENFILE, which is no option"), "{lines:?}");
    assert!(lines[0].contains("did you mean UNIVERSE_AUTH_TOKEN_FILE?"), "{lines:?}");
}
