//! The fenced blocks of a page, and the comments above a block that control how it is run.
//!
//! | comment on the line above | meaning |
//! |---|---|
//! | `<!-- not run: REASON -->` | the block needs something that a test does not have; the reason is required |
//! | `<!-- serves -->` | the block starts a server, which runs until the page ends |
//! | `<!-- exits with N -->` | the block ends with this exit code |
//! | `<!-- printed -->` | the block is what the one before it prints; `…` stands for anything |
//! | `<!-- given: COMMAND -->` | a command that prepares what the text assumes; may be repeated |

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The line number of its first line inside the fence.
    pub(super) line: usize,
    /// The word after the opening fence, such as `sh` or `rust,ignore`; empty if there is none.
    pub(super) language: String,
    pub(super) text: String,
    /// The comments directly above it, without their brackets.
    pub(super) notes: Vec<String>,
}

/// How a block of commands is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) how: How,
    /// Commands that run before the block.
    pub(super) given: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// To its end, with this exit code.
    Ends(i32),
    /// In the background, until the page ends.
    Serves,
    /// The block is not run.
    Skipped,
}

/// Names other than `sh` for languages whose blocks are commands.
const OTHER_SHELLS: [&str; 5] = ["bash", "console", "shell", "zsh", "shell-session"];

/// All blocks of a page, in order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let mut open: Option<(Block, String)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let bare = line.trim_start();
        if let Some((block, fence)) = &mut open {
            if bare.trim_end() == fence {
                found.extend(open.take().map(|(block, _)| block));
            } else {
                block.text.push_str(line);
                block.text.push('\n');
            }
        } else if bare.starts_with("```") {
            let language = bare.trim_start_matches('`').trim();
            let ticks = bare.len() - bare.trim_start_matches('`').len();
            let block = Block {
                line: number + 1,
                language: language.to_owned(),
                text: String::new(),
                notes: std::mem::take(&mut notes),
            };
            open = Some((block, "`".repeat(ticks)));
        } else if let Some(note) = comment(line) {
            notes.push(note.to_owned());
        } else {
            notes.clear();
        }
    }
    found
}

fn comment(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    Some(inner.trim())
}

impl Block {
    /// Whether it shows what the block before it prints.
    pub(super) fn is_printed(&self) -> bool {
        self.notes.iter().any(|note| note == "printed")
    }

    /// How the block is run. `None` if it is not a block of commands.
    ///
    /// # Errors
    /// A description of the error in its language or its comments.
    pub(super) fn plan(&self) -> Result<Option<Plan>, String> {
        if OTHER_SHELLS.contains(&self.language.as_str()) {
            return Err(format!("a block of commands is marked sh, not {}", self.language));
        }
        if self.language != "sh" {
            return Ok(None);
        }
        let mut plan = Plan { how: How::Ends(0), given: Vec::new() };
        for note in &self.notes {
            if let Some(reason) = note.strip_prefix("not run:") {
                if reason.trim().len() < 10 {
                    return Err("a block that is not run says why".to_owned());
                }
                plan.how = How::Skipped;
            } else if note == "serves" {
                plan.how = How::Serves;
            } else if let Some(code) = note.strip_prefix("exits with ") {
                let code = code.parse();
                plan.how = How::Ends(code.map_err(|_| format!("not an exit code: {note}"))?);
            } else if let Some(command) = note.strip_prefix("given:") {
                plan.given.push(command.trim().to_owned());
            } else {
                return Err(format!(
                    "unknown comment above a block: {note:?}; known are not run, serves, exits with, given, printed"
                ));
            }
        }
        Ok(Some(plan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(page: &str) -> Result<Option<Plan>, String> {
        blocks(page).first().expect("a block").plan()
    }

    #[test]
    fn blocks_are_found_with_their_lines_and_notes() {
        let page = "# A\n<!-- far -->\ntext\n<!-- serves -->\n```sh\none\n```\n- list\n  ```json\n  {}\n  ```\n````md\n```sh\n````\n";
        let found = blocks(page);
        let seen: Vec<_> = found
            .iter()
            .map(|block| (block.line, block.language.as_str(), block.text.as_str()))
            .collect();
        assert_eq!(seen, [(6, "sh", "one\n"), (10, "json", "  {}\n"), (13, "md", "```sh\n")]);
        assert_eq!(found[0].notes, ["serves"]);
        assert!(found[1].notes.is_empty());
    }

    #[test]
    fn comments_say_how_a_block_is_run() {
        let ends = |code| How::Ends(code);
        for (page, how) in [
            ("```sh\nx\n```", ends(0)),
            ("<!-- exits with 3 -->\n```sh\nx\n```", ends(3)),
            ("<!-- serves -->\n```sh\nx\n```", How::Serves),
            ("<!-- not run: needs a database -->\n```sh\nx\n```", How::Skipped),
        ] {
            assert_eq!(plan(page).expect("good").expect("commands").how, how, "{page}");
        }
        let given = plan("<!-- given: a -->\n<!-- given: b -->\n```sh\nx\n```");
        assert_eq!(given.expect("good").expect("commands").given, ["a", "b"]);
        assert_eq!(plan("```json\n{}\n```"), Ok(None));
    }

    #[test]
    fn what_would_not_be_run_by_mistake_is_found() {
        for page in [
            "<!-- not run: -->\n```sh\nx\n```",
            "<!-- exits with three -->\n```sh\nx\n```",
            "<!-- server -->\n```sh\nx\n```",
            "```bash\nx\n```",
        ] {
            assert!(plan(page).is_err(), "{page}");
        }
    }
}
