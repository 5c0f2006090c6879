//! A validation finding, and the limited list of all findings about one item.

use crate::model::Line;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The item is not valid.
    Error,
    /// The item is not valid in strict mode.
    Warning,
    /// Worth knowing.
    Info,
}

/// The part of a change that a finding concerns, or that is read alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangePart {
    /// `proposal.md`, and what is true of the change as a whole.
    Proposal,
    /// `tasks.md`, or the files a schema names in its place.
    Tasks,
    /// `design.md`.
    Design,
    /// The folder `specs`.
    Deltas,
}

/// One rule, with its severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in kebab-case. It is stable, so that programs and people can refer to it.
    pub name: &'static str,
    /// The severity of breaking it.
    pub severity: Severity,
    /// Whether it is only advice, which makes nothing invalid, strict or not. These rules are additional: the tools
    /// whose verdicts are reproduced here do not have them.
    pub advice: bool,
}

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The file or folder, relative to the root of the project, with `/` between its parts.
    pub file: String,
    /// The line, if the finding has one.
    pub line: Option<Line>,
    /// The part of the change; `None` for a spec.
    pub part: Option<ChangePart>,
    /// What is wrong, and how to fix it.
    pub message: String,
    /// The name of the broken rule.
    pub rule: &'static str,
    /// Whether it is only advice, see [`Rule::advice`].
    pub advice: bool,
}

/// The findings of one item, in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Findings {
    listed: Vec<Finding>,
    unlisted: [usize; 3],
    last: Option<Finding>,
}

/// Adds findings about one file, or one part of a change.
#[derive(Debug)]
pub(super) struct FindingsAt<'f> {
    findings: &'f mut Findings,
    file: &'f str,
    part: Option<ChangePart>,
}

/// At most this many findings of one item are listed. The rest is counted.
pub const MAX_FINDINGS: usize = 1000;

impl Severity {
    /// The name for clients.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl ChangePart {
    /// The name for clients: a section of a change.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::Tasks => "tasks",
            Self::Design => "design",
            Self::Deltas => "deltas",
        }
    }
}

impl Rule {
    /// A rule that makes the item invalid.
    pub const fn error(name: &'static str) -> Self {
        Self::new(name, Severity::Error)
    }

    /// A rule that makes the item invalid in strict mode.
    pub const fn warning(name: &'static str) -> Self {
        Self::new(name, Severity::Warning)
    }

    /// A rule that only informs.
    pub const fn info(name: &'static str) -> Self {
        Self::new(name, Severity::Info)
    }

    /// The same rule, as advice.
    #[must_use]
    pub const fn advice(self) -> Self {
        Self { advice: true, ..self }
    }

    /// That a file breaks it.
    pub(crate) fn finding(
        self,
        file: &str,
        line: Option<Line>,
        part: Option<ChangePart>,
        message: String,
    ) -> Finding {
        let Self { name: rule, severity, advice } = self;
        Finding { severity, file: file.to_owned(), line, part, message, rule, advice }
    }

    const fn new(name: &'static str, severity: Severity) -> Self {
        Self { name, severity, advice: false }
    }
}

impl Finding {
    /// Whether it makes its item invalid.
    pub fn fails(&self, strict: bool) -> bool {
        match self.severity {
            Severity::Error => !self.advice,
            Severity::Warning => strict && !self.advice,
            Severity::Info => false,
        }
    }
}

impl FindingsAt<'_> {
    pub(super) fn add(
        &mut self,
        rule: Rule,
        line: impl Into<Option<Line>>,
        message: impl Into<String>,
    ) {
        self.findings.add(rule.finding(self.file, line.into(), self.part, message.into()));
    }

    /// Whether a finding about this line contains `text`.
    pub(super) fn has(&self, line: Line, text: &str) -> bool {
        let mut listed = self.findings.listed.iter();
        listed.any(|finding| {
            finding.line == Some(line)
                && finding.file == self.file
                && finding.message.contains(text)
        })
    }
}

impl Findings {
    /// Adds findings about this file, and this part of a change.
    pub(super) fn at<'f>(&'f mut self, file: &'f str, part: Option<ChangePart>) -> FindingsAt<'f> {
        FindingsAt { findings: self, file, part }
    }

    fn add(&mut self, finding: Finding) {
        if self.listed.len() < MAX_FINDINGS {
            self.listed.push(finding);
            return;
        }
        if let Some(count) = self.unlisted.get_mut(finding.severity as usize) {
            *count += 1;
        }
        // The worst of the remaining findings represents them, so that the verdict is that of all findings.
        let worse =
            |last: &Finding| (finding.severity, finding.advice) < (last.severity, last.advice);
        if self.last.as_ref().is_none_or(worse) {
            self.last = Some(finding);
        }
    }

    /// All findings by file and line. Findings without a line come first in each file.
    pub(super) fn into_sorted(mut self) -> Vec<Finding> {
        self.listed.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        if let Some(mut last) = self.last {
            let [errors, warnings, infos] = self.unlisted;
            last.message = format!(
                "{} (and so on: {errors} errors, {warnings} warnings and {infos} hints more than the {MAX_FINDINGS} findings listed)",
                last.message
            );
            self.listed.push(last);
        }
        self.listed
    }
}
