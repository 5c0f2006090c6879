//! The verdict on one run. Every check must succeed or be excused, and every scenario must have run with a check.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::excused::{Excuse, TRACES};
use super::results::{Check, Status};

/// The maximum number of characters reported of a suite's message, which can contain a whole conversation.
const MESSAGE: usize = 600;

/// The verdict on a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warnings: usize,
    pub(super) skipped: usize,
    /// The number of scenarios with a result.
    pub(super) scenarios: usize,
    /// The excused skips with their reasons, one line each.
    pub(super) excused: Vec<String>,
    /// The findings, one line each; empty when the run passes.
    pub(super) findings: Vec<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} warnings, {} skipped, {} scenarios, {} findings",
            self.passed,
            self.failed,
            self.warnings,
            self.skipped,
            self.scenarios,
            self.findings.len()
        )
    }
}

/// Judges the scenarios that `ran` against those that the suite `listed`.
pub(super) fn judge(
    listed: &BTreeSet<String>,
    ran: &BTreeMap<String, Vec<Check>>,
    excused: &[Excuse],
) -> Verdict {
    let mut verdict = Verdict { scenarios: ran.len(), ..Verdict::default() };
    for missing in listed.iter().filter(|name| !ran.contains_key(*name)) {
        verdict.findings.push(format!("{missing}: listed by the suite, but left no result"));
    }
    for (scenario, checks) in ran {
        if !listed.contains(scenario) {
            verdict.findings.push(format!("{scenario}: not listed by the suite"));
        }
        if checks.iter().all(|check| check.status == Status::Info) {
            verdict.findings.push(format!("{scenario}: ran no check"));
        }
        for check in checks {
            verdict.count(scenario, check, excused);
        }
    }
    let stale = excused.iter().filter(|excuse| {
        ran.get(excuse.scenario)
            .is_some_and(|checks| !checks.iter().any(|check| excuse.covers(excuse.scenario, check)))
    });
    verdict.findings.extend(stale.map(|excuse| {
        let (scenario, check) = (excuse.scenario, excuse.check);
        format!(
            "{scenario}: {check} is no longer {}; take it off the list in xtask/src/suites/excused.rs",
            word(&excuse.status)
        )
    }));
    verdict
}

impl Verdict {
    fn count(&mut self, scenario: &str, check: &Check, excused: &[Excuse]) {
        let excuse = excused.iter().find(|excuse| excuse.covers(scenario, check));
        let excused = excuse.is_some();
        let (count, fine) = match check.status {
            Status::Success => (&mut self.passed, true),
            Status::Failure => (&mut self.failed, false),
            Status::Warning => (&mut self.warnings, false),
            Status::Skipped => {
                let reasons =
                    excuse.map(|excuse| format!("{scenario}: skipped: {}", excuse.reason));
                self.excused.extend(reasons);
                (&mut self.skipped, excused)
            }
            Status::Info => (&mut 0, excused || TRACES.contains(&check.id.as_str())),
            Status::Unknown(_) => (&mut 0, false),
        };
        *count += 1;
        if !fine {
            self.findings.push(format!(
                "{scenario}: {} {}: {}: {}",
                word(&check.status),
                check.id,
                one_line(&check.description),
                one_line(&check.message)
            ));
        }
    }
}

impl Excuse {
    fn covers(&self, scenario: &str, check: &Check) -> bool {
        (self.scenario, self.check) == (scenario, check.id.as_str())
            && self.status == check.status
            && check.message.contains(self.saying)
    }
}

fn word(status: &Status) -> &str {
    match status {
        Status::Success => "passed",
        Status::Failure => "FAILED",
        Status::Warning => "WARNING",
        Status::Skipped => "skipped",
        Status::Info => "info",
        Status::Unknown(word) => word,
    }
}

fn one_line(text: &str) -> String {
    let mut characters = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = characters.char_indices().nth(MESSAGE) {
        characters.truncate(end);
        characters.push('…');
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCUSES: [Excuse; 2] = [
        Excuse {
            scenario: "tasks",
            check: "later",
            saying: "",
            status: Status::Skipped,
            reason: "not there yet",
        },
        Excuse {
            scenario: "polling",
            check: "trace",
            saying: "",
            status: Status::Info,
            reason: "no check",
        },
    ];

    fn check(id: &str, status: Status) -> Check {
        Check {
            id: id.to_owned(),
            description: "what it wants".to_owned(),
            status,
            message: "what\n it  got".to_owned(),
        }
    }

    /// Judges scenarios, with exactly those that ran as the list.
    fn judged(ran: &[(&str, Vec<Check>)]) -> Verdict {
        let ran: BTreeMap<_, _> =
            ran.iter().map(|(name, checks)| ((*name).to_owned(), checks.clone())).collect();
        judge(&ran.keys().cloned().collect(), &ran, &EXCUSES)
    }

    #[test]
    fn successes_and_what_is_excused_pass_and_are_counted() {
        let verdict = judged(&[
            ("ping", vec![check("a", Status::Success), check("b", Status::Success)]),
            ("tasks", vec![check("later", Status::Skipped)]),
            ("polling", vec![check("trace", Status::Info), check("c", Status::Success)]),
        ]);
        assert_eq!(
            verdict.to_string(),
            "3 passed, 0 failed, 0 warnings, 1 skipped, 3 scenarios, 0 findings"
        );
        assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
        assert_eq!(verdict.excused, ["tasks: skipped: not there yet"]);
    }

    #[test]
    fn every_other_status_is_a_finding_with_what_the_suite_says() {
        for (status, word) in [
            (Status::Failure, "FAILED"),
            (Status::Warning, "WARNING"),
            (Status::Skipped, "skipped"),
            (Status::Info, "info"),
            (Status::Unknown("LOST".to_owned()), "LOST"),
        ] {
            let verdict =
                judged(&[("ping", vec![check("a", Status::Success), check("b", status)])]);
            assert_eq!(verdict.findings, [format!("ping: {word} b: what it wants: what it got")]);
        }
    }

    #[test]
    fn an_excuse_holds_for_its_scenario_check_and_status_only() {
        let elsewhere = judged(&[("ping", vec![check("later", Status::Skipped)])]);
        assert_eq!(elsewhere.findings.len(), 1);
        let failed = judged(&[(
            "tasks",
            vec![check("later", Status::Failure), check("later", Status::Skipped)],
        )]);
        assert_eq!(failed.findings.len(), 1);
        assert!(failed.findings[0].starts_with("tasks: FAILED later"));
    }

    #[test]
    fn an_excuse_that_is_not_needed_any_more_is_a_finding() {
        let verdict = judged(&[("tasks", vec![check("later", Status::Success)])]);
        assert_eq!(
            verdict.findings,
            ["tasks: later is no longer skipped; take it off the list in \
                 xtask/src/suites/excused.rs"]
        );
    }

    #[test]
    fn a_scenario_without_a_check_is_a_finding() {
        assert_eq!(judged(&[("ping", Vec::new())]).findings, ["ping: ran no check"]);
        assert_eq!(
            judged(&[("polling", vec![check("trace", Status::Info)])]).findings,
            ["polling: ran no check"]
        );
    }

    #[test]
    fn a_scenario_that_is_listed_but_missing_and_one_that_is_not_listed_are_findings() {
        let ran = BTreeMap::from([("new".to_owned(), vec![check("a", Status::Success)])]);
        let verdict = judge(&BTreeSet::from(["old".to_owned()]), &ran, &[]);
        assert_eq!(
            verdict.findings,
            ["old: listed by the suite, but left no result", "new: not listed by the suite"]
        );
    }

    #[test]
    fn a_long_message_is_cut() {
        let mut long = check("b", Status::Failure);
        long.message = "ä ".repeat(5000);
        let verdict = judged(&[("ping", vec![long])]);
        assert!(verdict.findings[0].ends_with('…'));
        assert!(verdict.findings[0].chars().count() < 2 * MESSAGE);
    }
}
