//! Our verdicts beside the tool's.

use std::path::Path;

use spec_server::project::Project;
use spec_server::validate::{Item, Severity};

use super::tool::{Verdict, Verdicts};
use crate::validate::all;

/// How the verdicts of two sides compare.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) items: usize,
    /// Items with the same verdicts and as many errors and warnings.
    pub(crate) same_counts: usize,
    /// Items with other verdicts, strict or not, and what both sides say.
    pub(crate) different: Vec<(String, String)>,
    /// Items with the same verdicts, but more or less errors or warnings.
    pub(crate) other_counts: Vec<(String, String)>,
}

/// What we find in a project.
pub(crate) fn ours(root: &Path) -> Vec<Item> {
    let project = Project::open(root).expect("a project");
    all(&project)
}

/// Our verdicts.
pub(crate) fn verdicts(items: &[Item]) -> Verdicts {
    let verdict = |item: &Item| {
        let count = |severity| {
            let findings = item.findings.iter().filter(|finding| !finding.advice);
            findings.filter(|finding| finding.severity == severity).count()
        };
        let reasons = item.findings.iter().map(|finding| {
            let severity = finding.severity.name();
            format!("{severity} {} {:?}: {}", finding.rule, finding.line, finding.message)
        });
        Verdict {
            valid: item.is_valid(false),
            strictly: item.is_valid(true),
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            reasons: reasons.collect(),
        }
    };
    let key = |item: &Item| format!("{}/{}", item.kind.name(), item.id);
    items.iter().map(|item| (key(item), verdict(item))).collect()
}

/// Puts both side by side; an item that only one side has differs.
pub(crate) fn compare(ours: &Verdicts, theirs: &Verdicts) -> Comparison {
    let mut comparison = Comparison::default();
    let keys: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for key in keys {
        comparison.items += 1;
        let (our, their) = (ours.get(key), theirs.get(key));
        let told = format!("ours {our:#?}\ntheirs {their:#?}");
        let verdict =
            |verdict: Option<&Verdict>| verdict.map(|verdict| (verdict.valid, verdict.strictly));
        let counts =
            |verdict: Option<&Verdict>| verdict.map(|verdict| (verdict.errors, verdict.warnings));
        if verdict(our) != verdict(their) {
            comparison.different.push((key.clone(), told));
        } else if counts(our) != counts(their) {
            comparison.other_counts.push((key.clone(), told));
        } else {
            comparison.same_counts += 1;
        }
    }
    comparison
}
