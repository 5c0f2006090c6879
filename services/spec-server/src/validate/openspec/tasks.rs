//! The rules of task lists.

use std::collections::HashMap;

use super::rules;
use crate::model::{Line, Task, Tasks};
use crate::parse::{bullet, is_space, trim};
use crate::validate::finding::{ChangePart, Findings, FindingsAt};

/// A task file of a change: its path relative to the root of the project, and its contents.
pub(super) type Document<'c> = (String, &'c Tasks);

/// Checks for numbers that belong to another group, and for duplicate numbers. Only files with groups like `## 1.
/// Setup` are checked, and in them only the lines of such a group. Lines in code blocks count, because they also count
/// as tasks.
pub(super) fn check_numbers(documents: &[Document<'_>], findings: &mut Findings) {
    let mut known: HashMap<&str, (&str, Line)> = HashMap::new();
    for (path, tasks) in documents {
        let findings = &mut findings.at(path, Some(ChangePart::Tasks));
        let mut items = tasks.items.iter().peekable();
        let mut group = None;
        for (line, text) in (1..).zip(tasks.source.text.split('\n')) {
            if let Some(heading) = heading_of_level_2(text) {
                group = number_of_group(heading);
            }
            let item = items.next_if(|item| item.line == line);
            let (Some(group), Some(item)) = (group, item) else {
                continue;
            };
            let Some(number) = item.number.as_deref() else {
                continue;
            };
            check_group(group, number, item, findings);
            match known.get(number) {
                Some((file, first)) => {
                    let of =
                        if *file == path.as_str() { String::new() } else { format!(" of {file}") };
                    let message = format!(
                        "the number {number} is taken by the task on line {first}{of}; give this one another number"
                    );
                    findings.add(rules::TASK_DUPLICATE, line, message);
                }
                None => {
                    known.insert(number, (path.as_str(), line));
                }
            }
        }
    }
}

fn check_group(group: &str, number: &str, item: &Task, findings: &mut FindingsAt<'_>) {
    let own = number.split('.').next().unwrap_or_default();
    if without_zeros(own) != without_zeros(group) {
        let message = format!(
            "the task {number} stands in group {group}; move it to group {own}, or number it {group}.…"
        );
        findings.add(rules::TASK_GROUP, item.line, message);
    }
}

/// The text after `##` and a blank, indented by at most three blanks. It need not be a heading in the outline, because
/// OpenSpec ignores code blocks when it reads task lists.
fn heading_of_level_2(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let title = line.trim_start_matches(' ').strip_prefix("##")?;
    let blank = title.is_empty() || title.starts_with([' ', '\t']);
    (indent <= 3 && blank).then(|| title.trim_start_matches([' ', '\t']))
}

/// The number in a title such as `1. Setup`.
fn number_of_group(title: &str) -> Option<&str> {
    let (number, rest) = title.split_once('.')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some(number)
}

fn without_zeros(number: &str) -> &str {
    let short = number.trim_start_matches('0');
    if short.is_empty() && !number.is_empty() { "0" } else { short }
}

/// Checks for lists when no file has a checkbox: no task would ever count as open or done.
pub(super) fn check_boxes(documents: &[Document<'_>], findings: &mut Findings) {
    if documents.iter().any(|(_, tasks)| !tasks.items.is_empty()) {
        return;
    }
    for (path, tasks) in documents {
        if let Some(line) = first_list_item(&tasks.source.text) {
            let message = "no line has a box, so this change counts as having no tasks; write them like `- [ ] 1.1 Do this`";
            let mut at = findings.at(path, Some(ChangePart::Tasks));
            at.add(rules::TASK_BOXES, line, message);
        }
    }
}

/// The line of the first list item that a reader would see as one: not in front matter, a comment or code.
fn first_list_item(text: &str) -> Option<Line> {
    let lines: Vec<&str> = text.split('\n').collect();
    let start = front_matter(&lines);
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    for (number, line) in (1..).zip(lines).skip(start) {
        if in_comment {
            in_comment = !line.contains("-->");
            continue;
        }
        if let Some((mark, length, info)) = fence_mark(line) {
            match fence {
                None => fence = Some((mark, length)),
                Some((open, least)) if open == mark && length >= least && trim(info).is_empty() => {
                    fence = None;
                }
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if let Some(comment) = trim(line).strip_prefix("<!--") {
            in_comment = !comment.contains("-->");
            continue;
        }
        if columns(line) < CODE_COLUMNS && is_list_item(line) {
            return Some(number);
        }
    }
    None
}

/// A line with this much indentation is code in CommonMark. The fences found here also follow CommonMark, unlike those
/// of the parser.
const CODE_COLUMNS: usize = 4;

fn fence_mark(line: &str) -> Option<(char, usize, &str)> {
    let open = line.trim_start_matches(' ');
    let mark = open.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = open.trim_start_matches(mark);
    let length = open.len() - rest.len();
    (line.len() - open.len() < CODE_COLUMNS && length >= 3).then_some((mark, length, rest))
}

fn is_list_item(line: &str) -> bool {
    let behind = bullet(line.trim_start_matches(is_space));
    behind.is_some_and(|text| text.starts_with(is_space) && !trim(text).is_empty())
}

fn columns(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.fold(0, |column, blank| match blank {
        '\t' => column + CODE_COLUMNS - column % CODE_COLUMNS,
        _ => column + 1,
    })
}

/// The number of front matter lines at the start.
fn front_matter(lines: &[&str]) -> usize {
    let is_rule = |line: &&str| trim(line) == "---" && line.starts_with("---");
    let mut all = lines.iter();
    match all.next() {
        Some(first) if is_rule(first) => all.position(is_rule).map_or(0, |index| index + 2),
        _ => 0,
    }
}
