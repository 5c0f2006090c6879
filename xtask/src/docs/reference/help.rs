//! The page of a program, with the output of `--help` for the program and for each of its subcommands.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::heading;
use xtask::{Result, process};

const DEADLINE: Duration = Duration::from_secs(20);

/// The maximum depth of nested subcommands.
const DEPTH: usize = 3;

/// The page of a program.
///
/// # Errors
/// When `--help` fails.
pub(super) fn page(program: &str, binary: &Path) -> Result<String> {
    let mut page = heading(program, "What the program says of its options and verbs.");
    // Subcommands still to be shown, in reverse order.
    let mut waiting: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(verb) = waiting.pop() {
        let said = said(binary, &verb)?;
        let name = verb.iter().fold(program.to_owned(), |name, word| format!("{name} {word}"));
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}\n```\n", said.trim_end()));
        if verb.len() < DEPTH {
            let below = verbs(&said).into_iter().rev();
            waiting.extend(below.map(|word| [verb.clone(), vec![word.to_owned()]].concat()));
        }
    }
    Ok(page)
}

/// The help text, without this machine's `UNIVERSE_…` and similar environment variables.
fn said(binary: &Path, verb: &[String]) -> Result<String> {
    let mut command = Command::new(binary);
    command.args(verb).arg("--help");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["UNIVERSE_", "OTEL_", "CHAT_", "SPEC_", "STARMAP_", "MCP_"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    let said = process::run(&mut command, DEADLINE)?;
    if !said.success {
        return Err(format!("{}: {}", binary.display(), said.stderr).into());
    }
    let lines: Vec<&str> = said.stdout.lines().map(str::trim_end).collect();
    Ok(lines.join("\n"))
}

/// The subcommands listed in a help text.
fn verbs(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    listed
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn verbs_are_those_of_the_list() {
        let help = "About\n\nUsage: a\n\nCommands:\n  list  Lists\n        more of it\n  help  Help\n\nOptions:\n  -h  Help\n";
        assert_eq!(super::verbs(help), ["list"]);
        assert!(super::verbs("Usage: a\n").is_empty());
    }
}
