//! The changes of a contract, for people and as data.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::change::{Change, Impact, TextChange};
use super::compare::ContractDiff;
use crate::shorten::shorten;

/// How many items a line names.
const MAX_NAMES: usize = 8;
/// How much of a text is shown around the place where it changed, in characters.
const AROUND: usize = 100;

impl ContractDiff {
    /// Writes the changes for people: those that break callers first, and the same change of several items as one.
    /// `texts` shows the texts that changed, too.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_text(&self, texts: bool, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{} → {}", self.old, self.new)?;
        for (impact, title) in [
            (Impact::Breaking, "breaking"),
            (Impact::Compatible, "not breaking"),
            (Impact::Text, "texts only"),
        ] {
            let changes = self.changes.iter().filter(|it| it.impact == impact);
            let groups = groups(changes);
            if groups.is_empty() {
                continue;
            }
            writeln!(out, "{title}:")?;
            for group in groups {
                writeln!(out, "  {}", in_words(&group))?;
                if texts {
                    for change in group {
                        change.texts.iter().try_for_each(|it| text(change, it, &mut out))?;
                    }
                }
            }
        }
        for note in &self.notes {
            writeln!(out, "note: {note}")?;
        }
        let count = |impact| self.count(impact);
        if self.changes.is_empty() {
            return writeln!(out, "no changes");
        }
        writeln!(
            out,
            "{}: {} breaking, {} not breaking, {} in texts only",
            if self.is_breaking() { "breaking" } else { "not breaking" },
            count(Impact::Breaking),
            count(Impact::Compatible),
            count(Impact::Text),
        )
    }

    /// The changes as data.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            let texts = change.texts.iter();
            let texts = texts.map(|it| json!({"part": it.part, "old": it.old, "new": it.new}));
            json!({
                "kind": change.kind,
                "name": change.name,
                "what": change.what,
                "impact": match change.impact {
                    Impact::Breaking => "breaking",
                    Impact::Compatible => "compatible",
                    Impact::Text => "text",
                },
                "texts": texts.collect::<Vec<_>>(),
            })
        });
        json!({
            "old": self.old,
            "new": self.new,
            "breaking": self.is_breaking(),
            "changes": changes.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

/// The same change of several items together, in the order in which it first came.
fn groups<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<Vec<&'a Change>> {
    let mut groups: Vec<Vec<&Change>> = Vec::new();
    for change in changes {
        let same = groups.iter_mut().find(|group| {
            group.first().is_some_and(|it| (it.kind, &it.what) == (change.kind, &change.what))
        });
        match same {
            Some(group) => group.push(change),
            None => groups.push(vec![change]),
        }
    }
    groups
}

fn in_words(group: &[&Change]) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let (kind, what) = (first.kind, &first.what);
    if first.name.is_empty() {
        return format!("{kind}: {what}");
    }
    let separator = if what.starts_with("was ") || what.starts_with("is ") { " " } else { ": " };
    let named: Vec<_> = group.iter().take(MAX_NAMES).map(|it| format!("`{}`", it.name)).collect();
    match group {
        [_] => format!("{kind} {}{separator}{what}", named.concat()),
        _ => {
            let more = match group.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let what = match (what.strip_prefix("was "), what.strip_prefix("is ")) {
                (Some(rest), _) => format!(" were {rest}"),
                (_, Some(rest)) => format!(" are {rest}"),
                _ => format!(": {what}"),
            };
            format!("{} {kind}s{what} ({}{more})", group.len(), named.join(", "))
        }
    }
}

fn text(change: &Change, text: &TextChange, out: &mut impl Write) -> io::Result<()> {
    let (old, new) = excerpts(text);
    writeln!(out, "    {} {}, {}", change.kind, change.name, text.part)?;
    for (sign, text) in [("-", old), ("+", new)] {
        if let Some(text) = text {
            writeln!(out, "      {sign} {text}")?;
        }
    }
    Ok(())
}

/// Both texts from shortly before the place where they part, on one line each.
fn excerpts(text: &TextChange) -> (Option<String>, Option<String>) {
    let (old, new) = (text.old.as_deref(), text.new.as_deref());
    let both = old.unwrap_or_default().chars().zip(new.unwrap_or_default().chars());
    let same = both.take_while(|(one, other)| one == other).count();
    let begin = same.saturating_sub(AROUND / 4);
    let excerpt = |text: &str| {
        let rest: String = text.chars().skip(begin).collect();
        let dots = if begin > 0 { "…" } else { "" };
        format!("{dots}{}", shorten(&rest, AROUND).replace(['\n', '\r'], " "))
    };
    (old.map(excerpt), new.map(excerpt))
}
