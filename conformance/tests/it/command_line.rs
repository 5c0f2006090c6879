//! The binary: arguments, output, exit code.

use std::path::Path;
use std::process::Output;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_conformance::{BoxError, Target};
use tokio::process::Command;

use crate::serve::serve;

fn server() -> String {
    serve(Target::in_process(|request: Request<Full<Bytes>>| async move {
        Ok::<_, BoxError>(Response::new(Full::from(format!("{:?}", request.uri().path()))))
    }))
}

pub(crate) async fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_mcp-conformance"))
        .args(arguments)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn write(directory: &Path, name: &str, expected: &str) {
    let text = format!(
        "{{\"transcript\":1,\"name\":\"{name}\"}}\n\
         {{\"http\":{{\"method\":\"GET\",\"path\":\"/x\"}},\"expect\":{{\"status\":200,\"json\":{expected}}}}}\n"
    );
    std::fs::write(directory.join(format!("{name}.jsonl")), text).unwrap();
}

#[tokio::test]
async fn the_exit_code_is_the_verdict() {
    let (url, directory) = (server(), tempfile::tempdir().unwrap());
    let path = directory.path().to_str().unwrap();
    write(directory.path(), "good", "\"/x\"");
    let (code, out, err) = run(&["replay", "--url", &url, path]).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("passed: 2 passed, 0 failed, 0 skipped\n"), "{out}");

    write(directory.path(), "wrong", "\"/y\"");
    let (code, out, _) = run(&["replay", "--url", &url, "--era", "modern", path]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.ends_with("not passed: 1 passed, 1 failed, 0 skipped\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "a pipe gets no colours");

    let (code, out, _) = run(&["replay", "--url", &url, "--filter", "goo", path]).await;
    assert_eq!(code, 0, "{out}");
    let (code, _, err) = run(&["replay", "--url", &url, "--filter", "none", path]).await;
    assert_eq!(
        (code, err.as_str()),
        (2, "mcp-conformance: no transcript has a name that contains \"none\"\n")
    );
}

#[tokio::test]
async fn what_cannot_be_used_is_reported_with_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    write(directory.path(), "good", "1");
    let (code, _, err) = run(&["replay", "--url", "ftp://x", path]).await;
    assert_eq!(code, 2);
    assert!(err.contains("its scheme is not `http` or `https`"), "{err}");
    write(directory.path(), "broken", "{\"$nope\":1}");
    let (code, _, err) = run(&["replay", "--url", "http://127.0.0.1:9", path]).await;
    assert_eq!(code, 2);
    assert!(err.contains("broken.jsonl:2: expect.json.$nope: unknown matcher"), "{err}");
    assert_eq!(run(&["replay", path]).await.0, 2, "no URL");
    assert_eq!(run(&["replay", "--url", "http://127.0.0.1:9"]).await.0, 2, "no transcript");
    assert_eq!(run(&[]).await.0, 2, "no command");
}

#[tokio::test]
async fn help_lists_the_exit_codes() {
    let (code, out, _) = run(&["--help"]).await;
    assert_eq!(code, 0);
    assert!(
        out.contains("Exit codes: 0 no problem, 1 a problem was found, 2 wrong arguments"),
        "{out}"
    );
}

#[tokio::test]
async fn a_server_on_pipes_is_replayed_against() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(
        path("a server.sh"),
        "while IFS= read -r line; do case \"$line\" in *'\"id\"'*) \
         echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\"n\":5}}';; esac; done\n",
    )
    .unwrap();
    std::fs::write(
        path("asked.jsonl"),
        "{\"transcript\":1,\"name\":\"asked\",\"eras\":[\"modern\"]}\n\
         {\"open\":\"main\"}\n\
         {\"mcp\":{\"method\":\"x/y\"},\"expect\":{\"result\":{\"n\":5}}}\n",
    )
    .unwrap();
    let command = format!("sh '{}'", path("a server.sh"));
    let (code, out, err) = run(&["replay", "--command", &command, &path("asked.jsonl")]).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");

    let both = ["replay", "--command", &command, "--url", "http://x", "y"];
    for arguments in [
        &both[..],
        &["replay", "y"],
        &["replay", "--command", " ", "y"],
        &["replay", "--command", "sh '", "y"],
    ] {
        assert_eq!(run(arguments).await.0, 2, "{arguments:?}");
    }
}

#[tokio::test]
async fn a_replay_is_reported_for_tools_and_held_against_a_baseline() {
    let (url, folder) = (server(), tempfile::tempdir().unwrap());
    let path = folder.path().to_str().unwrap();
    write(folder.path(), "good", "\"/x\"");
    write(folder.path(), "wrong", "\"/y\"");
    let replay = async |more: &[&str]| {
        run(&[&["replay", "--url", &url, "--era", "modern"], more, &[path]].concat()).await
    };
    let (code, out, err) = replay(&["--format", "json"]).await;
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let results: serde_json::Value = serde_json::from_str(&out).unwrap();
    let cases = &results["targets"][0]["cases"];
    assert_eq!(cases[0]["verdict"], "holds");
    assert_eq!(cases[1]["verdict"], "finding");
    assert_eq!(cases[1]["place"]["line"], 2);
    let difference = &cases[1]["steps"][0]["differences"][0];
    assert_eq!(
        *difference,
        serde_json::json!({"path": "/json", "expected": "\"/y\"", "found": "/x"})
    );
    assert!(cases[1]["exchange"].as_str().unwrap().contains("expected \"/y\", found \"/x\""));

    let (_, out, _) = replay(&["--format", "junit"]).await;
    assert_eq!(out.matches("<failure").count(), 1, "{out}");
    let (_, out, _) = replay(&["--format", "sarif"]).await;
    assert!(out.contains("wrong.jsonl\"") && out.contains("\"startLine\": 2"), "{out}");

    let baselines = tempfile::tempdir().unwrap();
    let file = baselines.path().join("known.json");
    let file = file.to_str().unwrap();
    assert_eq!(replay(&["--write-baseline", file]).await.0, 0);
    let (code, out, _) = replay(&["--baseline", file]).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.ends_with("known: wrong (modern) fails, as listed in the baseline\n"), "{out}");
    write(folder.path(), "wrong", "\"/x\"");
    let (code, out, _) = replay(&["--baseline", file]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("remove it from the baseline"), "{out}");
}
