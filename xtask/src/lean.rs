//! The smallest server, `mcp-proto/examples/stdio.rs`, without the library's features: checks how many crates it
//! needs, whether it answers, and that such a build refuses what it would not enforce.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use xtask::programs::cargo;
use xtask::{Result, say};

/// The maximum number of crates that such a server needs, not counting itself.
const MAX_CRATES: usize = 70;

const PACKAGE: [&str; 4] = ["--locked", "-p", "mcp-proto", "--no-default-features"];

/// The requests of a client of the older era and of one of 2026-07-28.
const REQUESTS: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"double","arguments":{"number":21},"#,
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":"#,
    r#"{"name":"lean","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"lean","version":"1"}}}"#,
    "\n",
);

/// Texts that must occur in the answers.
const ANSWERS: [&str; 2] = [r#""doubled":42"#, r#""protocolVersion":"2025-11-25""#];

/// Runs the check. `true` when the server is small and answers.
pub(crate) fn run() -> Result<bool> {
    let crates = crates()?;
    say(&format!(
        "a server of one tool on stdin and stdout takes {crates} crates, at most {MAX_CRATES}"
    ))?;
    let enforces = cargo(&["test", "--quiet", "--test", "lean"]).args(PACKAGE).status()?.success();
    let answers = answers()?;
    let missing: Vec<_> = ANSWERS.iter().filter(|part| !answers.contains(*part)).collect();
    if !missing.is_empty() {
        say(&format!("{missing:?} is missing in its answers: {answers}"))?;
    }
    Ok(crates <= MAX_CRATES && enforces && missing.is_empty())
}

fn crates() -> Result<usize> {
    let tree = cargo(&["tree"])
        .args(PACKAGE)
        .args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .output()?;
    if !tree.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&tree.stderr)).into());
    }
    let text = String::from_utf8(tree.stdout)?;
    let names = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    Ok(names.collect::<BTreeSet<_>>().len())
}

/// The output of the server on stdout.
fn answers() -> Result<String> {
    let mut server = cargo(&["run", "--quiet", "--example", "stdio"])
        .args(PACKAGE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = server.stdin.take() {
        stdin.write_all(REQUESTS.as_bytes())?;
    }
    let ended = server.wait_with_output()?;
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
