//! Known failures: they do not fail a run, but a listed one that now passes does.

use serde::{Deserialize, Serialize};

use super::{Outcome, Results};

/// The version of the format.
const FORMAT: u32 = 1;

/// Failures that are known, by target, case and revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of this format: 1.
    baseline: u32,
    known: Vec<BaselineEntry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    /// The name of the target; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    name: String,
    revision: String,
    /// What was seen when it was written: for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<String>,
}

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is not JSON of this form.
    #[error("the baseline cannot be read: {0}; --write-baseline writes a valid one")]
    Unreadable(#[from] serde_json::Error),
    /// It has another version.
    #[error("the baseline has version {0} of the format; this program reads version {FORMAT}")]
    Version(u32),
}

impl Baseline {
    /// Reads one.
    ///
    /// # Errors
    /// The text is not a baseline.
    pub fn from_json(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text)?;
        match baseline.baseline {
            FORMAT => Ok(baseline),
            other => Err(BaselineError::Version(other)),
        }
    }

    /// The findings in these results. Targets are named only if there are several.
    #[must_use]
    pub fn of(results: &Results) -> Self {
        let several = results.targets.len() > 1;
        let known = results
            .cases()
            .filter(|(_, case)| matches!(case.verdict, Outcome::Finding | Outcome::Known))
            .map(|(target, case)| BaselineEntry {
                target: several.then(|| target.name.clone()),
                name: case.name.clone(),
                revision: case.revision.clone(),
                seen: case.seen.clone(),
            });
        Self { baseline: FORMAT, known: known.collect() }
    }

    /// It as a text to be kept in a file.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings and numbers can always be written.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }

    /// Marks the findings that are known, and the known ones that hold now.
    pub fn apply(&self, results: &mut Results) {
        for target in &mut results.targets {
            let name = &target.name;
            for case in &mut target.cases {
                let is_known = self.known.iter().any(|known| {
                    known.target.as_ref().is_none_or(|it| it == name)
                        && known.name == case.name
                        && known.revision == case.revision
                });
                match case.verdict {
                    Outcome::Finding if is_known => case.verdict = Outcome::Known,
                    Outcome::Holds if is_known => {
                        case.verdict = Outcome::Fixed;
                        case.seen =
                            Some("listed in the baseline as failing, but holds now".to_owned());
                        case.fix = Some("remove it from the baseline".to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
}
