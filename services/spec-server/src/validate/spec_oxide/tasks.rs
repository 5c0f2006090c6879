//! The rules of `tasks.md`.

use super::{Rows, rules};
use crate::model::{Line, Tasks};
use crate::parse::trim;
use crate::validate::finding::FindingsAt;

/// How many characters of a task a message shows.
const PREVIEW: usize = 30;

/// Checks a task list. Lines in code blocks count, because they also count as tasks.
pub(super) fn check(tasks: &Tasks, findings: &mut FindingsAt<'_>) {
    let rows = Rows::of(&tasks.source.text);
    let tasks = rows.all().filter_map(|line| Some((line, task(rows.line(line))?)));
    let tasks: Vec<(Line, &str)> = tasks.collect();
    if tasks.is_empty() {
        let message = "there is no task; write each like `- [ ] 1.1 Do this`";
        findings.add(rules::TASKS_EMPTY, 1, message);
    }
    for (line, text) in tasks.into_iter().filter(|(_, text)| !is_numbered(text)) {
        let mut shown: String = text.chars().take(PREVIEW).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        let message = format!("the task {shown:?} has no number; begin it with one such as 1.1");
        findings.add(rules::TASK_NUMBER, line, message);
    }
}

/// The text of a task. Fewer lines count as tasks here than in the parser: only bullets `-` and `*` with a box `[ ]`,
/// `[x]` or `[X]`.
fn task(line: &str) -> Option<&str> {
    let text = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (mark, text) = text.strip_prefix('[')?.split_once("] ")?;
    matches!(mark, " " | "x" | "X").then(|| trim(text))
}

/// Whether a text begins with two or more numbers separated by dots, such as 1.1, and a blank.
fn is_numbered(text: &str) -> bool {
    let number = text.split([' ', '\t']).next().unwrap_or_default();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    number.contains('.') && number.split('.').all(digits)
}
