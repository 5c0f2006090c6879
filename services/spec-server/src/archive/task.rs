//! Ticking and unticking a task.

use service_host::{ReplaceError, replace_unless_changed};

use super::ArchiveError;
use super::lines;
use crate::model::{Change, Line, Task, Tasks};
use crate::parse::{self, box_of, fold};
use crate::project::{Project, ReadError};

/// A task that was ticked or unticked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// The task in its new state.
    pub task: Task,
    /// Its file, below the root of the project.
    pub file: String,
    /// Whether its state was changed. If not, nothing was written.
    pub changed: bool,
    /// How many tasks are ticked after the call.
    pub completed: usize,
    /// The total number of tasks.
    pub total: usize,
}

/// How often a tick is tried again while another program writes the same file.
const TRIES: usize = 5;

/// The most tasks that the error for an unknown task names.
const NAMED: usize = 8;

/// Ticks one task of an active change, or unticks it without `done`. It is called by its number or mark (`1.2`,
/// `T001`), by its text or a part of it that no other task has, or by its line (`line 6`). Only the text between the
/// brackets of its box is written; every other byte of the file stays. A task that already has this state is not
/// written.
///
/// # Errors
/// [`ArchiveError::Task`] if no task, or several, are called so; [`ArchiveError::Changed`] if another program writes
/// the file again and again; [`ArchiveError::Read`], [`ArchiveError::Write`].
pub fn complete_task(
    project: &Project,
    change: &str,
    called: &str,
    done: bool,
) -> Result<Ticked, ArchiveError> {
    let _alone = project.writing()?;
    let mut tries = 1;
    loop {
        match tick(project, change, called, done) {
            Err(ArchiveError::Changed(_)) if tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

fn tick(project: &Project, change: &str, called: &str, done: bool) -> Result<Ticked, ArchiveError> {
    let change = project.change(change)?;
    let (file, task) = find(&change, called).map_err(ArchiveError::Task)?;
    let shown = file.source.path.clone();
    let read = project.raw_file(&project.root().join(&shown))?;
    let read = read.ok_or_else(|| ArchiveError::Changed(shown.clone()))?;
    let text = parse::normalise(&read.bytes)
        .map_err(|problem| ReadError::NotUtf8 { path: shown.clone(), problem })?;
    // The change was read a moment before the file.
    if *text != *file.source.text {
        return Err(ArchiveError::Changed(shown));
    }
    let changed = task.done != done;
    if changed {
        let raw = String::from_utf8_lossy(&read.bytes);
        let new = ticked(&raw, task.line, done).ok_or_else(|| {
            ArchiveError::Task(format!("{}:{}: has no box", shown.display(), task.line))
        })?;
        match replace_unless_changed(&read.path, read.stamp.as_ref(), new.as_bytes()) {
            Err(ReplaceError::Changed(_)) => return Err(ArchiveError::Changed(shown)),
            written => written?,
        }
    }
    let (before, total) = change.progress();
    let completed = match (changed, done) {
        (true, true) => before + 1,
        (true, false) => before.saturating_sub(1),
        (false, _) => before,
    };
    let task = Task { done, ..task.clone() };
    let file = project.display_path(&read.path);
    Ok(Ticked { task, file, changed, completed, total })
}

/// The one task that is called so. A number is never taken for a line, nor a line for a number.
fn find<'c>(change: &'c Change, called: &str) -> Result<(&'c Tasks, &'c Task), String> {
    let all: Vec<(&Tasks, &Task)> = change.all_tasks().collect();
    if all.is_empty() {
        return Err(format!("the change {:?} has no tasks", change.id));
    }
    let wanted = plain(called);
    let line = wanted.strip_prefix("line ").and_then(|line| line.trim().parse::<Line>().ok());
    let is_number = wanted.chars().all(|c| c.is_ascii_digit() || c == '.');
    let ways: [&dyn Fn(&Task) -> bool; 3] = [
        &|task| match (line, &task.id) {
            (Some(line), _) => task.line == line,
            (None, Some(id)) => fold(id) == wanted || plain(id) == wanted,
            (None, None) => false,
        },
        &|task| line.is_none() && (plain(&task.text) == wanted || plain(&whole(task)) == wanted),
        &|task| line.is_none() && !is_number && plain(&whole(task)).contains(&wanted),
    ];
    for is in ways {
        let found: Vec<_> = all.iter().filter(|(_, task)| is(task)).copied().collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(*only),
            several => {
                return Err(format!(
                    "{} tasks are called {called:?}: {}",
                    several.len(),
                    names(several)
                ));
            }
        }
    }
    let open: Vec<_> = all.iter().filter(|(_, task)| !task.done).copied().collect();
    let hint = match (line, wanted.parse::<Line>()) {
        (None, Ok(line)) if all.iter().any(|(_, task)| task.line == line) => {
            format!("; if the line is meant, write \"line {line}\"")
        }
        _ => String::new(),
    };
    let named = if open.is_empty() { &all } else { &open };
    Err(format!("no task is called {called:?}{hint}; the open ones are {}", names(named)))
}

/// A task as it is written, with its number or mark.
fn whole(task: &Task) -> String {
    match &task.id {
        Some(id) => format!("{id} {}", task.text),
        None => task.text.clone(),
    }
}

/// A text for comparison, without emphasis.
fn plain(text: &str) -> String {
    let bare: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '_')).collect();
    fold(bare.trim().trim_matches(|c: char| matches!(c, '[' | ']' | ':')))
}

/// Tasks as an answer names them.
fn names(tasks: &[(&Tasks, &Task)]) -> String {
    let name = |(file, task): &(&Tasks, &Task)| {
        let text: String = whole(task).chars().take(40).collect();
        let file = file.source.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{text:?} (line {} of {file})", task.line)
    };
    let mut named: Vec<String> = tasks.iter().take(NAMED).map(name).collect();
    if tasks.len() > NAMED {
        named.push(format!("and {} more", tasks.len() - NAMED));
    }
    named.join(", ")
}

/// `raw` with the mark in the box of `line` replaced.
fn ticked(raw: &str, line: Line, done: bool) -> Option<String> {
    let mut all = lines::split(raw);
    let line = all.get_mut(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let (head, tail) = box_of(&line.text)?;
    line.text = format!("{head}{}{tail}", if done { 'x' } else { ' ' });
    Some(all.into_iter().flat_map(|line| [line.text, line.end.to_owned()]).collect())
}
