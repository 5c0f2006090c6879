//! The effect of one attack on the victim and on the server, and whether it is within the limits.

use serde_json::{Value, json};

/// The minimum percentage of calls that must succeed.
const SUCCEEDING: u64 = 99;
/// The limit for the 99th percentile: this factor times that of the quiet run, plus this number of microseconds.
const SLOWER: u64 = 5;
const SLOWER_BY_US: u64 = 50_000;
/// The maximum resident memory, and the maximum growth that may remain afterwards, in MiB.
const PEAK: u64 = 512;
pub(super) const LEFT: u64 = 64;

/// The outcome of one attack, or of a quiet run.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) server: &'static str,
    pub(super) attack: &'static str,
    /// The victim's report. Null if the victim did not finish.
    pub(super) victim: Value,
    /// The attacker's report.
    pub(super) attacker: Value,
    /// Resident memory in MiB: before, at its peak, and some seconds after.
    pub(super) before: u64,
    pub(super) peak: u64,
    pub(super) after: u64,
    /// Whether the server's process has ended.
    pub(super) died: bool,
}

/// An outcome compared with a quiet run, in printed and in JSON form.
#[derive(Debug)]
pub(super) struct Report {
    /// A line of figures, a line on what the attacker achieved, and a line for each fault.
    pub(super) text: String,
    pub(super) json: Value,
    failed: bool,
}

impl Report {
    pub(super) fn new(outcome: &Outcome, quiet: &Outcome) -> Self {
        let faults = outcome.faults(quiet);
        let mut lines = vec![outcome.line(quiet)];
        if !outcome.attacker.is_null() {
            lines.push(format!("    attacker: {}", outcome.attacker));
        }
        lines.extend(faults.iter().map(|fault| format!("    FAILED: {fault}")));
        Self {
            text: lines.join("\n"),
            failed: !faults.is_empty(),
            json: outcome.json(quiet, &faults),
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.failed
    }
}

impl Outcome {
    /// The 99th percentile of the victim's calls in microseconds.
    fn p99(&self) -> u64 {
        self.number("p99_us")
    }

    /// The exceeded limits, compared with a quiet run. Empty if there are none.
    fn faults(&self, quiet: &Self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.died {
            faults.push("the server's process ended".to_owned());
        }
        if self.victim.is_null() {
            faults.push("the victim came to no end".to_owned());
            return faults;
        }
        let (calls, succeeded) = (self.number("calls"), self.number("succeeded"));
        if calls == 0 || succeeded * 100 < calls * SUCCEEDING {
            let failure = self.text("failure");
            let failed = calls - succeeded.min(calls);
            faults.push(format!("{failed} of {calls} calls failed, first {failure}"));
        }
        let limit = quiet.p99() * SLOWER + SLOWER_BY_US;
        if succeeded > 0 && self.p99() > limit {
            let (p99, limit) = (milliseconds(self.p99()), milliseconds(limit));
            faults.push(format!("p99 is {p99} ms, the limit {limit} ms"));
        }
        let held = self.victim.get("held").and_then(Value::as_object);
        for (name, wrong) in held.into_iter().flatten() {
            if let Some(wrong) = wrong.as_str() {
                faults.push(format!("the victim's {name}: {wrong}"));
            }
        }
        if self.peak > PEAK {
            faults.push(format!("{} MiB at the peak, the limit {PEAK}", self.peak));
        }
        if self.after > self.before + LEFT {
            let (before, after) = (self.before, self.after);
            faults.push(format!("{after} MiB afterwards, {before} before, the limit {LEFT} more"));
        }
        faults
    }

    /// One line of figures.
    fn line(&self, quiet: &Self) -> String {
        let held = self.victim.get("held").and_then(Value::as_object);
        let lost: Vec<&str> = held
            .into_iter()
            .flatten()
            .filter(|(_, wrong)| !wrong.is_null())
            .map(|(name, _)| name.as_str())
            .collect();
        let held = match lost.as_slice() {
            _ if self.victim.is_null() => "unknown".to_owned(),
            [] => "all live".to_owned(),
            lost => format!("lost: {}", lost.join(", ")),
        };
        format!(
            "{:<10} {:<20} {:>5}/{:<5} p50 {:>6} ms ({}) p99 {:>7} ms ({})  {:>5} > {:>5} > {:>5} MiB  {held}{}",
            self.server,
            self.attack,
            self.number("succeeded"),
            self.number("calls"),
            milliseconds(self.number("p50_us")),
            milliseconds(quiet.number("p50_us")),
            milliseconds(self.p99()),
            milliseconds(quiet.p99()),
            self.before,
            self.peak,
            self.after,
            if self.died { "  DEAD" } else { "" },
        )
    }

    fn json(&self, quiet: &Self, faults: &[String]) -> Value {
        json!({
            "server": self.server,
            "attack": self.attack,
            "victim": self.victim,
            "attacker": self.attacker,
            "rss_mib": { "before": self.before, "peak": self.peak, "after": self.after },
            "died": self.died,
            "quiet_p99_us": quiet.p99(),
            "faults": faults,
        })
    }

    fn number(&self, name: &str) -> u64 {
        self.victim.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    fn text(&self, name: &str) -> &str {
        let text = self.victim.get(name).and_then(Value::as_str);
        text.unwrap_or("without a reason")
    }
}

fn milliseconds(microseconds: u64) -> String {
    format!("{}.{}", microseconds / 1_000, microseconds % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(victim: Value) -> Outcome {
        Outcome {
            server: "universe",
            attack: "idle",
            victim,
            attacker: Value::Null,
            before: 20,
            peak: 100,
            after: 30,
            died: false,
        }
    }

    fn good() -> Value {
        json!({ "calls": 1_000, "succeeded": 995, "p50_us": 300, "p99_us": 2_000, "held": { "session": null } })
    }

    #[test]
    fn what_stays_within_the_limits_has_no_fault() {
        let quiet = outcome(good());
        assert!(quiet.faults(&quiet).is_empty());
    }

    #[test]
    fn each_limit_is_a_fault_of_its_own() {
        let quiet = outcome(good());
        let mut bad = good();
        bad["succeeded"] = json!(989);
        bad["failure"] = json!("modern: timed out");
        bad["p99_us"] = json!(60_001);
        bad["held"]["session"] = json!("status 404");
        let mut bad = outcome(bad);
        bad.peak = 513;
        bad.after = 85;
        bad.died = true;
        let faults = bad.faults(&quiet);
        assert_eq!(faults.len(), 6, "{faults:?}");
        let none = outcome(Value::Null);
        assert_eq!(none.faults(&quiet), ["the victim came to no end"]);
    }
}
