//! The plan for archiving a change, made before anything is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::apply::{Applied, apply};
use super::check::{self, Remark};
use super::commit::{Step, commit};
use super::outcome::{archived_id, is_prose, not_for_a_new_one};
use super::{ArchiveError, Archived, How, Preview, PreviewSpec};
use crate::model::{CapabilityDelta, Change, Source, Spec};
use crate::parse::{self, Outline, is_day, normalise};
use crate::project::{Dialect, Project, RawFile, ReadError};
use crate::validate::{self, ChangePart, Finding, NOT_ARCHIVABLE};

/// The plan for archiving a change. Nothing is written until [`Plan::apply`].
#[derive(Debug)]
pub struct Plan {
    project: Project,
    change: Arc<Change>,
    folder: PathBuf,
    specs: Vec<PlannedSpec>,
    problems: Vec<Finding>,
    warnings: Vec<Finding>,
    /// The problem of open tasks.
    open: Option<Finding>,
}

#[derive(Debug)]
struct PlannedSpec {
    preview: PreviewSpec,
    step: Step,
}

impl Plan {
    /// Plans archiving the change `id`.
    ///
    /// # Errors
    /// [`ReadError`] if the change or a spec that it affects cannot be read.
    pub fn of(project: &Project, id: &str) -> Result<Self, ReadError> {
        let change = project.change(id)?;
        let mut plan = Self::judged(project, &change, &validate::change(project, &change))?;
        plan.warnings.extend(validate::overtaken(project, &change));
        Ok(plan)
    }

    /// The same for a change that validation has these findings about.
    ///
    /// # Errors
    /// [`ReadError`] if a spec that it affects cannot be read.
    pub(super) fn judged(
        project: &Project,
        change: &Arc<Change>,
        found: &[Finding],
    ) -> Result<Self, ReadError> {
        let mut plan = Self {
            project: project.clone(),
            folder: project.folder_of(change),
            specs: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            open: None,
            change: Arc::clone(change),
        };
        let of = |finding: &&Finding, delta: &CapabilityDelta| delta.source.path == *finding.file;
        let invalid: Vec<&Finding> = found.iter().filter(|finding| plan.refuses(finding)).collect();
        let others = invalid.iter().filter(|one| !change.deltas.iter().any(|delta| of(one, delta)));
        for finding in others {
            let path = PathBuf::from(&finding.file);
            plan.refuse(&path, vec![(finding.line, finding.message.clone())]);
        }
        plan.look_at_change();
        for delta in &change.deltas {
            let invalid = invalid.iter().filter(|finding| of(finding, delta));
            let invalid = invalid.map(|finding| (finding.line, finding.message.clone()));
            plan.take(delta, invalid.collect())?;
        }
        plan.name_parts();
        Ok(plan)
    }

    /// The plan as a preview.
    pub fn preview(&self) -> Preview {
        Preview {
            specs: self.specs.iter().map(|spec| spec.preview.clone()).collect(),
            problems: self.problems.clone(),
            warnings: self.warnings.iter().chain(&self.open).cloned().collect(),
        }
    }

    /// Archives the change as described at [`archive_change`](super::archive_change).
    ///
    /// # Errors
    /// [`ArchiveError`], and [`ArchiveError::Changed`] if a file has changed since this plan was made.
    pub fn apply(mut self, day: &str, how: How) -> Result<Archived, ArchiveError> {
        if !is_day(day) {
            return Err(ArchiveError::BadDay(day.to_owned()));
        }
        if how.skip_specs {
            self.specs.clear();
            self.problems.clear();
        }
        if !self.problems.is_empty() {
            return Err(ArchiveError::Refused(self.problems));
        }
        match self.open.take() {
            Some(open) if !how.force => return Err(ArchiveError::OpenTasks(open)),
            open => self.warnings.extend(open),
        }
        let id = archived_id(&self.change.id, day);
        let target = self.project.layout().archive.join(&id);
        let project = self.project.clone();
        let _alone = project.writing()?;
        self.check_again(&target)?;
        let changed = |spec: &PlannedSpec| spec.preview.retired || spec.preview.is_changed();
        let (steps, specs) = self
            .specs
            .into_iter()
            .filter(changed)
            .map(|spec| (spec.step, spec.preview))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        commit(&steps, &self.folder, &target, &project.layout().specs)?;
        Ok(Archived { id, path: project.relative(&target), specs, warnings: self.warnings })
    }

    /// Sets the part of the change that each problem belongs to.
    fn name_parts(&mut self) {
        let folder = self.project.display_path(&self.folder);
        let problems = self.problems.iter_mut().chain(&mut self.warnings);
        for problem in problems.chain(&mut self.open) {
            let below = problem.file.strip_prefix(&folder);
            let is_tasks = self.change.tasks.iter().any(|one| one.source.path == *problem.file);
            problem.part = below.map(|below| match below {
                _ if is_tasks => ChangePart::Tasks,
                "/design.md" => ChangePart::Design,
                path if path.starts_with("/specs") => ChangePart::Deltas,
                _ => ChangePart::Proposal,
            });
        }
    }

    /// Whether validation refuses the change for this reason, and so does archiving. A change without deltas may be
    /// archived: it changes no spec. Text that a delta would drop is refused in any case.
    fn refuses(&self, finding: &Finding) -> bool {
        finding.fails(false)
            && (finding.part == Some(ChangePart::Deltas)
                || self.project.layout().kind == Dialect::OpenSpec)
            && !matches!(finding.rule, "deltas-missing" | "scenarios-dropped")
    }

    fn look_at_change(&mut self) {
        let change = Arc::clone(&self.change);
        if let Some(metadata) = &change.metadata {
            for problem in &metadata.problems {
                let finding = (Some(problem.line), problem.text.clone());
                // It declares nothing then. Validation refuses it where that would matter.
                self.warnings.push(at(&metadata.source.path, finding));
            }
        }
        self.open = validate::open_tasks(&change).map(|open| Finding {
            message: format!("{}; to archive the change all the same, use force", open.message),
            ..open
        });
        if change.deltas.is_empty() {
            let folder = self.project.relative(&self.folder);
            let message = "changes no spec".to_owned();
            self.warnings.push(at(&folder, (None, message)));
        }
    }

    /// Plans one delta, which is `invalid` for these reasons.
    fn take(&mut self, delta: &CapabilityDelta, invalid: Vec<Remark>) -> Result<(), ReadError> {
        let spec = self.project.existing_spec(&delta.capability)?;
        let mut problems = check::problems(delta, spec.as_deref());
        if problems.is_empty() {
            problems.extend(invalid);
        }
        let path = self.project.spec_path(&delta.capability)?;
        let old = self.project.raw_spec(&delta.capability)?;
        if old.is_none() {
            problems.extend(not_for_a_new_one(delta));
        }
        if !problems.is_empty() {
            self.refuse(&delta.source.path, problems);
            return Ok(());
        }
        let before = match &old {
            Some(file) => Some(text(&self.project, file)?),
            None => None,
        };
        let raw = match &before {
            Some(raw) => raw.clone(),
            None => self.skeleton(delta),
        };
        let text = normalise(raw.as_bytes()).unwrap_or_default();
        let outline = Outline::of(&text);
        let relative = self.project.relative(&path);
        let structure = validate::structure(&parsed(&delta.capability, &relative, &text));
        if !structure.is_empty() {
            let structure = structure.into_iter();
            let structure = structure.map(|finding| (finding.line, finding.message));
            self.refuse(&relative, structure.collect());
            return Ok(());
        }
        match apply(&raw, &outline, delta) {
            Ok(applied) => {
                if before.is_some() {
                    self.compare_purpose(delta, &outline);
                }
                self.planned(delta, path, old, before.map(|_| text), applied);
            }
            Err(problems) => self.refuse(&delta.source.path, problems),
        }
        Ok(())
    }

    fn planned(
        &mut self,
        delta: &CapabilityDelta,
        path: PathBuf,
        old: Option<RawFile>,
        before: Option<String>,
        applied: Applied,
    ) {
        let relative = self.project.relative(&path);
        for warning in applied.warnings {
            self.warnings.push(at(&delta.source.path, warning));
        }
        let retiring =
            self.change.metadata.as_ref().is_some_and(|metadata| metadata.retire_capabilities);
        let retired = retiring && applied.left == 0 && applied.removed && old.is_some();
        if retiring && applied.left == 0 && old.is_none() {
            // It was already removed.
            return;
        }
        let after = if retired {
            String::new()
        } else {
            normalise(applied.text.as_bytes()).unwrap_or_default()
        };
        if retired && let Some(line) = applied.other {
            let message = "the file would go with its last requirement, and has more in it than a title, a purpose and \
                           requirements; move that elsewhere";
            self.problems.push(at(&relative, (Some(line), message.to_owned())));
        } else if !retired {
            self.check_result(delta, &relative, &after, applied.removed);
        }
        self.specs.push(PlannedSpec {
            preview: PreviewSpec {
                capability: delta.capability.clone(),
                before,
                after,
                path: relative,
                retired,
            },
            step: Step { path, old, new: (!retired).then_some(applied.text) },
        });
    }

    /// Checks that validation accepts the text to be written.
    fn check_result(
        &mut self,
        delta: &CapabilityDelta,
        relative: &Path,
        after: &str,
        emptied: bool,
    ) {
        let kind = self.project.layout().kind;
        let spec = parsed(&delta.capability, relative, after);
        let findings = validate::spec(&spec, kind).into_iter();
        let problems = findings.filter(|finding| finding.fails(false)).map(|finding| {
            let way_out = match (finding.rule, kind) {
                ("requirements-empty", Dialect::OpenSpec) if emptied => {
                    "; or write `retire_capabilities: true` into the .openspec.yaml of the change, to remove the spec \
                     with its last requirement"
                }
                _ => "",
            };
            (None, format!("the spec would not be valid: {}{way_out}", finding.message))
        });
        self.refuse(relative, problems.collect());
    }

    fn refuse(&mut self, path: &Path, problems: Vec<Remark>) {
        let problems = problems.into_iter().map(|finding| at(path, finding));
        self.problems.extend(problems);
    }

    /// The text of a spec that this change creates, before its requirements are added.
    fn skeleton(&mut self, delta: &CapabilityDelta) -> String {
        let capability = &delta.capability;
        let own = delta.purpose.as_ref().filter(|purpose| !purpose.text.is_empty());
        let usable = own.filter(|purpose| is_prose(&delta.source, purpose.line, &purpose.text));
        if let Some(purpose) = own.filter(|_| usable.is_none()) {
            let message =
                "the purpose is not copied: it is, or is in, a comment or code; write it as prose";
            let finding = (Some(purpose.line), message.to_owned());
            self.warnings.push(at(&delta.source.path, finding));
        }
        let purpose = match usable {
            Some(purpose) => purpose.text.clone(),
            // OpenSpec recognizes by these words that the purpose is still to be written.
            None => format!(
                "TBD - created by archiving change {}. Update Purpose after archive.",
                self.change.id
            ),
        };
        format!("# {capability} Specification\n\n## Purpose\n{purpose}\n\n## Requirements\n")
    }

    fn compare_purpose(&mut self, delta: &CapabilityDelta, outline: &Outline<'_>) {
        let (Some(new), Some(old)) = (&delta.purpose, outline.section("Purpose")) else {
            return;
        };
        if !new.text.is_empty() && new.text != old.text {
            let message =
                "the purpose is not copied: the spec has one already; change it there".to_owned();
            self.warnings.push(at(&delta.source.path, (Some(new.line), message)));
        }
    }

    /// Checks that all files are unchanged since they were read, and that the target folder does not exist.
    fn check_again(&self, target: &Path) -> Result<(), ArchiveError> {
        let project = &self.project;
        let now = project.change(&self.change.id)?;
        if *now != *self.change {
            return Err(ArchiveError::Changed(project.relative(&self.folder)));
        }
        for spec in &self.specs {
            let now = project.raw_spec(&spec.preview.capability)?;
            let bytes = |file: &Option<RawFile>| file.as_ref().map(|file| file.bytes.clone());
            if bytes(&now) != bytes(&spec.step.old) {
                return Err(ArchiveError::Changed(project.relative(&spec.step.path)));
            }
            project.holds(&spec.step.path)?;
        }
        project.holds(target)?;
        match target.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                Err(ArchiveError::Write(format!("{}: {error}", project.relative(target).display())))
            }
            Ok(_) => {
                let message =
                    "is in the archive already; move it away, or give the change another name";
                Err(ArchiveError::Refused(vec![at(
                    &project.relative(target),
                    (None, message.to_owned()),
                )]))
            }
        }
    }
}

fn parsed(id: &str, path: &Path, text: &str) -> Spec {
    let source = Source { path: path.to_owned(), text: text.into(), hash: [0; 32] };
    parse::spec(id, source)
}

fn at(path: &Path, (line, message): Remark) -> Finding {
    NOT_ARCHIVABLE.finding(&path.to_string_lossy(), line, None, message)
}

fn text(project: &Project, file: &RawFile) -> Result<String, ReadError> {
    match String::from_utf8(file.bytes.clone()) {
        Ok(text) => Ok(text),
        Err(_) => Err(ReadError::NotUtf8 {
            path: project.relative(&file.path),
            problem: normalise(&file.bytes).err().unwrap_or(parse::NotUtf8 { line: 1 }),
        }),
    }
}
