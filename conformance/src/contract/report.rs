//! The changes of a contract, for people and as data.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::change::{Change, Impact, TextChange};
use super::compare::ContractDiff;
use crate::shorten::{Printable, few, shorten};

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
    pub fn write_text(&self, texts: bool, out: impl Write) -> io::Result<()> {
        let mut out = Printable(out);
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
            for (first, group) in groups {
                writeln!(out, "  {}", in_words(first, &group))?;
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
        if self.changes.is_empty() {
            return writeln!(out, "no changes");
        }
        writeln!(
            out,
            "{} breaking, {} not breaking, {} in texts only",
            self.count(Impact::Breaking),
            self.count(Impact::Compatible),
            self.count(Impact::Text),
        )
    }

    /// The changes as data.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "old": self.old,
            "new": self.new,
            "breaking": self.is_breaking(),
            "changes": self.changes,
            "notes": self.notes,
        })
    }
}

/// The same change of several items together, each with its first item, in the order in which it first came.
fn groups<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<(&'a Change, Vec<&'a Change>)> {
    let mut groups: Vec<(&Change, Vec<&Change>)> = Vec::new();
    for change in changes {
        let is_same = |first: &Change| (first.kind, &first.what) == (change.kind, &change.what);
        match groups.iter_mut().find(|(first, _)| is_same(first)) {
            Some((_, group)) => group.push(change),
            None => groups.push((change, vec![change])),
        }
    }
    groups
}

fn in_words(Change { kind, name, what, .. }: &Change, group: &[&Change]) -> String {
    if name.is_empty() {
        return format!("{kind}: {what}");
    }
    let named: Vec<_> = group.iter().map(|it| format!("`{}`", it.name)).collect();
    if let [named] = named.as_slice() {
        let is_verb = what.starts_with("was ") || what.starts_with("is ");
        return format!("{kind} {named}{}{what}", if is_verb { " " } else { ": " });
    }
    let what = match what.split_once(' ') {
        Some(("was", rest)) => format!(" were {rest}"),
        Some(("is", rest)) => format!(" are {rest}"),
        _ => format!(": {what}"),
    };
    format!("{} {kind}s{what} ({})", group.len(), few(&named, MAX_NAMES))
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
