//! What is logged, as `RUST_LOG` says.

use tempfile::TempDir;

use crate::harness::process::{binary, run};

/// A line that a server on pipes logs at its start.
const LINE: &str = "INFO universe_server::run::stdio: holding the data directory";

async fn logged(levels: &str) -> String {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command.args(["--stdio", "--data-dir"]).arg(dir.path());
    let ended = run(command.env("RUST_LOG", levels)).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    ended.stderr
}

#[tokio::test]
async fn levels_are_for_everything_or_for_a_target() {
    for levels in
        ["", "info", "info,, request=warn,", "warn,universe_server=info", "trace,request=off"]
    {
        let log = logged(levels).await;
        assert!(log.contains(LINE), "{levels:?}: {log}");
    }
    for levels in ["warn", "off", "info,universe_server::run=warn", "audit=off"] {
        let log = logged(levels).await;
        assert!(!log.contains(LINE), "{levels:?}: {log}");
    }
}

#[tokio::test]
async fn levels_that_cannot_be_read_are_reported_and_not_used() {
    let problem =
        "RUST_LOG is not used: it must be levels, such as \"info\" or \"info,request=warn\"";
    for levels in ["warn,request=loud", "warn=loud=off", "inof"] {
        let log = logged(levels).await;
        assert!(log.contains(problem) && log.contains(levels), "{log}");
        assert!(log.contains(LINE), "{log}");
    }
}
