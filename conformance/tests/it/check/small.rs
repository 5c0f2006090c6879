//! Servers of a few lines of shell on stdin and stdout, and what is wrong with each of them.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use mcp_conformance::{Check, CheckReport, Revision, Verdict};

use super::{finds, found, text};

/// The functions of the server. A fault defines some of them again.
const PARTS: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
result() { answer "\"result\":$1"; }
refuse() { answer "\"error\":{\"code\":$1,\"message\":\"no\"}"; }
taken() { :; }
ping() { result '{}'; }
called() { result '{"content":[{"type":"text","text":"a room"}]}'; }
unknown() { refuse -32601; }
"#;

/// Members of a message come in the order of their names, so `jsonrpc` comes after the id.
const LOOP: &str = r#"
while IFS= read -r line; do
  case $line in '{'*'"id":'*',"jsonrpc"'*) ;; *) taken; continue;; esac
  id=${line#*'"id":'}
  id=${id%%',"jsonrpc"'*}
  case $line in
  '{"id":null,'*) refuse -32600;;
  *'"method":"initialize"'*) result '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}';;
  *'"method":"ping"'*) ping;;
  *'"method":"tools/list"'*'"cursor"'*) refuse -32602;;
  *'"method":"tools/list"'*) result '{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}';;
  *'"method":"tools/call"'*'"name":"look"'*) called;;
  *'"method":"tools/call"'*) refuse -32602;;
  *) unknown;;
  esac
done
"#;

/// How many servers are checked at once.
const AT_ONCE: usize = 2;

/// A check of the server with this fault.
pub(super) fn check(fault: &str) -> Check {
    let script = [PARTS, fault, LOOP].concat();
    let check = Check::command("sh", vec!["-c".into(), script.into()]);
    // A shell reads the largest message letter by letter.
    check.skip(["robust.large-message".to_owned()]).timeout(Duration::from_secs(3))
}

pub(super) async fn report(fault: &str) -> CheckReport {
    check(fault).run(|_| {}).await.unwrap()
}

/// Servers with these faults break these rules and no others; each has the thread that reported it.
pub(super) async fn confirm(reports: &[(&str, &str, &[&str])]) {
    let mut wrong = String::new();
    for (thread, fault, rules) in reports {
        let report = report(fault).await;
        if !found(&report).into_iter().eq(rules.iter().copied()) {
            wrong += &format!("{thread}:\n{}\n", text(&report));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The rules that a server with this fault breaks, each in one revision.
#[track_caller]
fn breaks(report: &CheckReport, rules: &[&str]) {
    finds(report, rules);
    assert_eq!(report.revisions, [Revision::V2025_11_25], "{}", text(report));
}

fn unjudged(report: &CheckReport) -> Vec<&'static str> {
    let judged = report.judged.iter();
    let judged = judged.filter(|judged| matches!(judged.verdict, Verdict::Unclear(_)));
    judged.map(|judged| judged.rule.id).collect()
}

#[tokio::test]
async fn the_small_server_is_clean() {
    let report = report("").await;
    breaks(&report, &[]);
    assert!(unjudged(&report).is_empty(), "{}", text(&report));
}

/// CircleCI-Public/mcp-server-circleci#127, kud/mcp-jenkins#6: the line comes with a call, and not when it starts.
#[tokio::test]
async fn a_tool_that_prints_is_found() {
    let report = report("called() { echo looking; result '{\"content\":[]}'; }").await;
    breaks(&report, &["stdio.messages-only"]);
    let text = text(&report);
    assert!(text.contains("a line is not a message: looking (the first of "), "{text}");
    assert!(text.contains("    > {\"id\":"), "the call is shown: {text}");
}

#[tokio::test]
async fn a_server_without_ping_breaks_one_rule() {
    let report = report("ping() { refuse -32601; }").await;
    breaks(&report, &["base.ping"]);
    assert!(unjudged(&report).is_empty(), "{}", text(&report));
}

/// Rules, and the one fault by which a server breaks no other.
pub(super) const FAULTS: [(&str, &str); 11] = [
    // It does not read while a tool runs.
    ("calls.cancelled", r#"called() { sleep 1.1; result '{"content":[]}'; }"#),
    // modelcontextprotocol/python-sdk#199, simonlin1212/Vibe-Research#27: stdout has the encoding of the machine.
    (
        "base.json",
        r#"called() { result "{\"content\":[{\"type\":\"text\",\"text\":\"$(printf '\374')\"}]}"; }"#,
    ),
    // Each answer comes twice.
    (
        "base.once",
        r#"answer() { for i in 1 2; do printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; done; }"#,
    ),
    // Errors come without the id of their request.
    (
        "base.id-echo",
        r#"refuse() { id=null; answer "\"error\":{\"code\":$1,\"message\":\"no\"}"; }"#,
    ),
    // Spaces around an id are lost.
    (
        "base.id-echo",
        r#"result() { case $id in '" '*) id='"with späces"';; esac; answer "\"result\":$1"; }"#,
    ),
    // A log that is JSON, as of @elastic/mcp-server-elasticsearch 0.3.1.
    ("stdio.messages-only", r#"echo '{"level":30,"msg":"started"}'"#),
    // Codes are texts.
    ("messages.schema", r#"refuse() { answer "\"error\":{\"code\":\"$1\",\"message\":\"no\"}"; }"#),
    ("base.json", r#"called() { result '{"content":[],"structuredContent":{"x":NaN}}'; }"#),
    ("base.notification", r#"taken() { echo '{"jsonrpc":"2.0","result":null}'; }"#),
    (
        "messages.progress-unasked",
        r#"ping() { echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'; result '{}'; }"#,
    ),
    (
        "messages.no-requests",
        r#"taken() { echo '{"jsonrpc":"2.0","id":"r","method":"roots/list"}'; }"#,
    ),
];

#[tokio::test]
async fn each_fault_breaks_one_rule() {
    let reports = FAULTS.map(|(rule, fault)| async move { (rule, report(fault).await) });
    let mut reports = stream::iter(reports).buffered(AT_ONCE);
    while let Some((rule, report)) = reports.next().await {
        breaks(&report, &[rule]);
    }
}

#[tokio::test]
async fn a_program_that_ends_at_an_unknown_method_breaks_one_rule_of_the_wire() {
    // The other one still reads: a slow machine sees the end of the first one like that.
    for end in ["exit 1", "exec >&-; cat > /dev/null"] {
        let report = report(&format!("unknown() {{ {end}; }}")).await;
        // A client of the newer revision asks first what this server does not know.
        breaks(&report, &["base.answered", "stdio.fallback"]);
        assert_eq!(unjudged(&report), ["base.unknown-method"], "{}", text(&report));
    }
}

#[tokio::test]
async fn silence_is_not_a_wrong_answer() {
    let report =
        check("unknown() { :; }").timeout(Duration::from_secs(1)).run(|_| {}).await.unwrap();
    breaks(&report, &["base.answered"]);
    assert_eq!(unjudged(&report), ["base.unknown-method"], "{}", text(&report));
}

/// server-memory 2026.8.31 and other servers on the TypeScript SDK 1: a request with a member that JSON-RPC does not
/// know is dropped on stdio, and one that is nested deeply is answered.
#[tokio::test]
async fn what_is_odd_in_a_request_proves_nothing_of_other_rules() {
    let fault = r#"
ping() { case $line in *'"alsoUnknown"'*) ;; *) result '{}';; esac; }
taken() { case $line in *'"id":1,"method":"ping"'*) id=1; ping;; esac; }
"#;
    let report = check(fault).timeout(Duration::from_secs(1)).run(|_| {}).await.unwrap();
    breaks(&report, &["base.unknown-members"]);
    assert!(unjudged(&report).is_empty(), "{}", text(&report));
}

/// drawio-mcp-server 2.3.0 listens on a port of its own, so that a second one ends at once.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_runs_once_at_a_time_is_not_judged_by_the_second() {
    // The other one still reads: a slow machine sees the end of the first one like that.
    for end in ["exit 1", "{ exec >&-; cat > /dev/null; exit; }"] {
        let lock = tempfile::NamedTempFile::new().unwrap();
        let report =
            report(&format!("exec 9>'{}'; flock -n 9 || {end}", lock.path().display())).await;
        breaks(&report, &[]);
        let unjudged = unjudged(&report);
        assert!(unjudged.contains(&"base.parse-error"), "{}", text(&report));
    }
}

/// yfmcp 0.14.0 and others on a machine that does much else: one start in many takes longer than the time limit.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_starts_slowly_once_breaks_no_rule() {
    let lock = tempfile::NamedTempFile::new().unwrap();
    let fault =
        format!("exec 9>'{}'; flock -n 9 || while read -r line; do :; done", lock.path().display());
    let report = check(&fault).timeout(Duration::from_secs(1)).run(|_| {}).await.unwrap();
    breaks(&report, &[]);
    let unjudged = unjudged(&report);
    assert!(unjudged.contains(&"base.parse-error"), "{}", text(&report));
}

/// One whose files are replaced meanwhile, say: it answered in this revision before.
#[tokio::test]
async fn a_program_that_cannot_be_started_any_more_breaks_no_rule() {
    let starts = tempfile::NamedTempFile::new().unwrap();
    let file = starts.path().display();
    let most = Revision::ALL.len();
    let fault = format!("echo >> '{file}'; [ $(wc -l < '{file}') -le {most} ] || exit 1");
    let report = check(&fault).timeout(Duration::from_secs(1)).run(|_| {}).await.unwrap();
    breaks(&report, &[]);
    let text = text(&report);
    assert!(
        text.contains("base.ping (2025-11-25): the server could not be opened again"),
        "{text}"
    );
}

/// microsoft/mcp#2767, apmantza/pi-lens#860: under load a program answers one handshake too late.
#[tokio::test]
async fn a_handshake_that_is_late_proves_nothing() {
    let fault = r#"taken() { :; }
answer() { case $line in *'"protocolVersion":"2024-11-05"'*) ;; *) printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1";; esac; }"#;
    let check = check(fault).timeout(Duration::from_secs(1)).only(["handshake.".to_owned()]);
    for check in [check.clone(), check.revisions(vec![Revision::V2024_11_05])] {
        let report = check.run(|_| {}).await.unwrap();
        breaks(&report, &[]);
        assert_eq!(unjudged(&report), ["handshake.speaks"], "{}", text(&report));
    }
}

/// A program that is not asked anything is not read without bound: 64 MiB do not wait in memory.
#[tokio::test]
async fn a_program_that_writes_unasked_waits_until_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    std::fs::write(folder.path().join("line"), " ".repeat(1 << 20) + "\n").unwrap();
    // The program that is asked first writes after its answer. The one of the rule looks whether that is done.
    let fault = format!(
        r#"
lines() {{ for _ in 1 2 3 4 5 6 7 8; do cat '{at}/line'; done; }}
ping() {{
  if mkdir '{at}/first' 2>&-
  then result '{{}}'; for _ in 1 2 3 4 5 6 7 8; do lines; done; : > '{at}/written'
  else sleep 1; [ -e '{at}/written' ] && : > '{at}/seen'; result '{{}}'; fi
}}
"#
    );
    let check = check(&fault).revisions(vec![Revision::V2025_11_25]);
    let report = check.only(["robust.huge-id".to_owned()]).run(|_| {}).await.unwrap();
    let verdicts: Vec<_> = report.judged.iter().map(|it| (it.rule.id, &it.verdict)).collect();
    assert!(matches!(verdicts[..], [("robust.huge-id", Verdict::Holds)]), "{verdicts:?}");
    assert!(!folder.path().join("seen").exists());
}

#[tokio::test]
async fn a_program_that_cannot_start_tells_why() {
    let script = "echo 'npm error 404 no such package' >&2; exit 1";
    let check = Check::command("sh", vec!["-c".into(), script.into()]);
    let error = check.run(|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("the end of its stderr: npm error 404 no such package"), "{error}");
}

/// Wrappers such as npx and shell scripts do not end what they started.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_that_a_program_started_is_left() {
    const MARK: &str = "98765.4321";
    let fault = format!("sleep {MARK} >/dev/null 2>&1 &");
    breaks(&report(&fault).await, &[]);
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&format!("sleep\0{MARK}"))
    });
    // Those that were killed last may not be gone yet.
    let left: Vec<_> = left.map(|entry| entry.path()).collect();
    for path in left {
        for _ in 0..100 {
            if !path.exists() || is_zombie(&path) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(!path.exists() || is_zombie(&path), "{}", path.display());
    }
}

#[cfg(target_os = "linux")]
fn is_zombie(process: &std::path::Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}
