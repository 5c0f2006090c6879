//! The result of a client's script: the number of checks, and what it could not check.

use serde_json::Value;

use super::case::Case;
use xtask::process::Finished;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed {
        checks: u64,
        /// The checks that this client does not support, each with the reason.
        cannot: Vec<String>,
    },
    Failed(String),
    Skipped(String),
}

impl Verdict {
    /// Reads a script's output. A script that passes without making a check has failed.
    pub(super) fn of(finished: &Finished) -> Self {
        let report =
            finished.stdout.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
        if !finished.success {
            return Self::Failed(reason(report.as_ref(), &finished.stderr));
        }
        let member = |name| report.as_ref().and_then(|report| report.get(name));
        let cannot = member("cannot").and_then(Value::as_array);
        match member("checks").and_then(Value::as_u64) {
            None | Some(0) => Self::Failed("it made no check".to_owned()),
            Some(checks) => Self::Passed {
                checks,
                cannot: cannot
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            },
        }
    }

    /// A missing client is reported as skipped on a developer's machine, and as a failure in CI.
    pub(super) fn without(missing: &str, is_ci: bool) -> Self {
        if is_ci {
            Self::Failed(missing.to_owned())
        } else {
            Self::Skipped(format!("{missing} (set CI=true to make this a failure)"))
        }
    }

    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// A row of the table, plus one row for each item that was not checked.
    pub(super) fn lines(&self, case: &Case) -> Vec<String> {
        let head = format!(
            "{:<18}{:<12}{:<8}{:<7}",
            case.client.script,
            case.scenario.name(),
            case.era.name(),
            case.transport.name()
        );
        match self {
            Self::Passed { checks, cannot } => {
                let row = format!("{head}passed, {checks} checks");
                let cannot = cannot.iter().map(|what| format!("  not checked: {what}"));
                std::iter::once(row).chain(cannot).collect()
            }
            Self::Failed(reason) => vec![format!("{head}FAILED: {reason}")],
            Self::Skipped(reason) => vec![format!("{head}skipped: {reason}")],
        }
    }
}

pub(super) fn closing_line(verdicts: &[Verdict]) -> String {
    let (mut passed, mut failed, mut skipped, mut all) = (0, 0, 0, 0_u64);
    for verdict in verdicts {
        match verdict {
            Verdict::Passed { checks, .. } => {
                passed += 1;
                all = all.saturating_add(*checks);
            }
            Verdict::Failed(_) => failed += 1,
            Verdict::Skipped(_) => skipped += 1,
        }
    }
    let counts = format!("{passed} passed with {all} checks, {failed} failed");
    match skipped {
        0 => counts,
        skipped => format!("{counts}, {skipped} skipped"),
    }
}

/// The reason that a failed script reports, or else the end of its stderr output.
fn reason(report: Option<&Value>, stderr: &str) -> String {
    let told = report.and_then(|report| report.get("error")).and_then(Value::as_str);
    told.or_else(|| stderr.lines().rfind(|line| !line.trim().is_empty()))
        .unwrap_or("no reason given")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::case::cases;
    use super::*;

    fn finished(success: bool, stdout: &str, stderr: &str) -> Finished {
        Finished { success, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    #[test]
    fn a_missing_client_is_skipped_in_sight_and_fails_in_ci() {
        let skipped =
            Verdict::Skipped("node not found (set CI=true to make this a failure)".into());
        assert_eq!(Verdict::without("node not found", false), skipped);
        let failed = Verdict::without("node not found", true);
        assert_eq!(failed, Verdict::Failed("node not found".into()));
        assert!(failed.is_failure() && !skipped.is_failure());
        let case = cases().next().expect("a case");
        let lines = skipped.lines(&case);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with("skipped: node not found (set CI=true to make this a failure)"));
    }

    #[test]
    fn what_was_checked_is_counted_and_what_was_not_is_told() {
        let told = r#"{"ok":true,"checks":7,"cannot":["ping: there is none"]}"#;
        let passed = Verdict::of(&finished(true, &format!("noise\n{told}\n"), ""));
        let lines = passed.lines(&cases().next().expect("a case"));
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("passed, 7 checks"), "{}", lines[0]);
        assert_eq!(lines[1], "  not checked: ping: there is none");
        for nothing in ["", r#"{"ok":true}"#, r#"{"ok":true,"checks":0}"#] {
            assert!(Verdict::of(&finished(true, nothing, "")).is_failure());
        }
    }

    #[test]
    fn the_closing_line_counts() {
        let failed = || Verdict::Failed(String::new());
        let passed = |checks| Verdict::Passed { checks, cannot: Vec::new() };
        assert_eq!(
            closing_line(&[passed(3), passed(4), failed()]),
            "2 passed with 7 checks, 1 failed"
        );
        assert_eq!(
            closing_line(&[Verdict::Skipped(String::new()), failed()]),
            "0 passed with 0 checks, 1 failed, 1 skipped"
        );
    }

    #[test]
    fn the_reason_is_the_scripts_own_or_the_end_of_stderr() {
        let of = |stdout, stderr| match Verdict::of(&finished(false, stdout, stderr)) {
            Verdict::Failed(reason) => reason,
            other => panic!("{other:?}"),
        };
        let told = "noise\n{\"ok\":false,\"error\":\"no such tool\"}\n";
        assert_eq!(of(told, "trace"), "no such tool");
        assert_eq!(of("", "first\nlast \n\n"), "last");
        assert_eq!(of("", ""), "no reason given");
    }
}
