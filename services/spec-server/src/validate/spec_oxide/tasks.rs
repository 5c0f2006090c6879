//! The rules of `tasks.md`.

use super::{Rows, rules};
use crate::model::{Line, Tasks};
use crate::parse::{is_space, trim};
use crate::validate::finding::FindingsAt;

/// How many characters of a task a message shows.
const PREVIEW: usize = 30;

/// Checks a task list. Lines in code blocks count, because they also count as tasks.
pub(super) fn check(tasks: &Tasks, findings: &mut FindingsAt<'_>) {
    let rows = Rows::of(&tasks.source.text);
    let boxes: Vec<(Line, bool, &str)> = rows
        .all()
        .filter_map(|line| {
            let (done, text) = task(rows.line(line))?;
            Some((line, done, text))
        })
        .collect();
    if boxes.is_empty() {
        let message = "there is no task; write each like `- [ ] 1.1 Do this`";
        findings.add(rules::TASKS_EMPTY, 1, message);
    }
    for (line, _, text) in boxes.iter().filter(|(.., text)| !is_numbered(text)) {
        let mut shown: String = text.chars().take(PREVIEW).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        let message = format!("the task {shown:?} has no number; begin it with one such as 1.1");
        findings.add(rules::TASK_NUMBER, *line, message);
    }
    if !boxes.is_empty() && rows.all().any(|line| is_group(rows.line(line))) {
        findings.add(rules::TASKS_GROUPED, None, "the tasks are in groups");
    }
    let done = boxes.iter().filter(|(_, done, _)| *done).count();
    let percent = (done * 200 + boxes.len()) / (boxes.len() * 2).max(1);
    let percent = if boxes.is_empty() { 0 } else { percent };
    let message = format!("{done} of {} tasks are done ({percent} %)", boxes.len());
    findings.add(rules::TASK_PROGRESS, None, message);
}

/// Whether a task is done, and its text. Fewer lines count as tasks here than in the parser: only bullets `-` and `*`
/// with a box `[ ]`, `[x]` or `[X]`.
fn task(line: &str) -> Option<(bool, &str)> {
    let text = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (mark, text) = text.strip_prefix('[')?.split_once("] ")?;
    let done = match mark {
        " " => false,
        "x" | "X" => true,
        _ => return None,
    };
    Some((done, trim(text)))
}

/// Whether a text begins with two or more numbers separated by dots, such as 1.1, and a blank.
fn is_numbered(text: &str) -> bool {
    let number = text.split([' ', '\t']).next().unwrap_or_default();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    number.contains('.') && number.split('.').all(digits)
}

/// Whether a line has the form of `## 1. Setup`.
fn is_group(line: &str) -> bool {
    let title = line.strip_prefix("## ").map(|title| title.trim_start_matches(is_space));
    let behind = title.and_then(|title| {
        let (number, name) = title.split_once('.')?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        digits.then_some(name)
    });
    behind.is_some_and(|name| !name.is_empty())
}
