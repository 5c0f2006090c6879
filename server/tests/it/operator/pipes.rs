//! Whoever reads an answer may have enough of it before its end: ClickHouse/clickhousectl#828.

use std::io::pipe;
use std::process::Stdio;

use tempfile::TempDir;

use crate::harness::process::{binary, done};
use crate::harness::soon;

#[tokio::test]
async fn a_pipe_that_is_closed_early_is_no_error() {
    let dir = TempDir::new().unwrap();
    done(dir.path(), &["generate", "--seed", "tea", "--name", "tea", "--id", "tea"]).await;
    for arguments in [
        &["generate", "--seed", "tea"][..],
        &["check-config"],
        &["check-config", "--json"],
        &["completions", "bash"],
        &["man"],
        &["list"],
        &["get", "tea"],
        &["export", "tea"],
        &["check"],
        &["check", "--repair"],
        &["compact"],
        &["--help"],
        &["--version"],
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = binary();
        command.args(arguments);
        if !arguments[0].starts_with("--") {
            command.arg("--data-dir").arg(dir.path());
        }
        let ended = command.stdout(Stdio::from(writer)).stderr(Stdio::piped()).output();
        let ended = soon(ended).await.unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{arguments:?}: {:?} {told}", ended.status);
        assert!(!told.contains("pipe") && !told.contains("panic"), "{arguments:?}: {told}");
    }
}
