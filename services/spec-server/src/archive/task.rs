//! Ticking and unticking a task.

use std::str::FromStr;

use service_host::replace_unless_changed;

use super::ArchiveError;
use super::lines;
use crate::model::{Line, Task};
use crate::parse::{self, box_of};
use crate::project::{Project, ReadError};

/// Identifies a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAt {
    /// The task with this number, such as `1.2`.
    Number(String),
    /// The task on this line.
    Line(Line),
}

/// A task that was ticked or unticked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// The task in its new state.
    pub task: Task,
    /// Whether its state was changed. If not, nothing was written.
    pub changed: bool,
    /// How many tasks are ticked after the call.
    pub completed: usize,
    /// The total number of tasks.
    pub total: usize,
}

impl FromStr for TaskAt {
    type Err = ArchiveError;

    /// `1.2` is a number, `12` a line.
    fn from_str(text: &str) -> Result<Self, ArchiveError> {
        let text = text.trim();
        match text.parse() {
            Ok(line) => Ok(Self::Line(line)),
            Err(_) if text.contains('.') => Ok(Self::Number(text.to_owned())),
            Err(_) => Err(ArchiveError::Task(format!(
                "{text:?} is neither the number of a task, such as 1.2, nor a line"
            ))),
        }
    }
}

/// Ticks one task of an active change, or unticks it without `done`. Only the text between the brackets of its box is
/// written; every other byte of the file stays. A task that already has this state is not written.
///
/// # Errors
/// [`ArchiveError::Task`] if no task, or several, have the number; [`ArchiveError::Changed`] if another program writes
/// the file in the meantime; [`ArchiveError::Read`], [`ArchiveError::Write`].
pub fn complete_task(
    project: &Project,
    change: &str,
    at: &TaskAt,
    done: bool,
) -> Result<Ticked, ArchiveError> {
    let _alone = project.writing();
    let folder = project.change_folder(change)?;
    let path = folder.join("tasks.md");
    let Some(file) = project.raw_file(&path)? else {
        return Err(ArchiveError::Task(format!("the change {change:?} has no tasks.md")));
    };
    let relative = project.relative(&path);
    let text = parse::normalise(&file.bytes)
        .map_err(|problem| ReadError::NotUtf8 { path: relative.clone(), problem })?;
    let mut tasks = parse::tasks(crate::model::Source {
        path: relative.clone(),
        text: text.into(),
        hash: [0; 32],
    });
    let total = tasks.items.len();
    let task = find(&mut tasks.items, at)
        .map_err(|problem| ArchiveError::Task(format!("{}: {problem}", relative.display())))?;
    let changed = task.done != done;
    task.done = done;
    let task = task.clone();
    if changed {
        let raw = String::from_utf8_lossy(&file.bytes);
        let new = ticked(&raw, task.line, done).ok_or_else(|| {
            ArchiveError::Task(format!("{}:{}: has no box", relative.display(), task.line))
        })?;
        replace_unless_changed(&file.path, file.stamp.as_ref(), new.as_bytes())?;
    }
    Ok(Ticked { task, changed, completed: tasks.completed(), total })
}

/// The most tasks that the error for an unknown task names.
const NAMED: usize = 8;

fn find<'t>(tasks: &'t mut [Task], at: &TaskAt) -> Result<&'t mut Task, String> {
    let is = |task: &Task| match at {
        TaskAt::Number(number) => task.number.as_ref() == Some(number),
        TaskAt::Line(line) => task.line == *line,
    };
    let several = tasks.iter().filter(|task| is(task)).count() > 1;
    let named = |task: &Task| match &task.number {
        Some(number) => format!("{number} (line {})", task.line),
        None => format!("line {}", task.line),
    };
    let meant = tasks.iter().filter(|task| !several || is(task));
    let named: Vec<String> = meant.take(NAMED).map(named).collect();
    let named = match named.as_slice() {
        [] => "the file has none".to_owned(),
        named if several => format!("name one by its line: {}", named.join(", ")),
        named => format!("name one by its number or line: {}", named.join(", ")),
    };
    match tasks.iter_mut().find(|task| is(task)) {
        Some(task) if !several => Ok(task),
        Some(_) => Err(format!("several tasks have this number; {named}")),
        None => Err(match at {
            TaskAt::Line(line) => format!("line {line} has no task; {named}"),
            TaskAt::Number(number) => format!("no task has the number {number}; {named}"),
        }),
    }
}

/// `raw` with the mark in the box of `line` replaced.
fn ticked(raw: &str, line: Line, done: bool) -> Option<String> {
    let mut all = lines::split(raw);
    let line = all.get_mut(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let (head, tail) = box_of(&line.text)?;
    line.text = format!("{head}{}{tail}", if done { 'x' } else { ' ' });
    Some(all.into_iter().flat_map(|line| [line.text, line.end.to_owned()]).collect())
}
