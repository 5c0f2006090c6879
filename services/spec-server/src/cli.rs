//! The command line: arguments, their execution, and the exit code.
//!
//! 0 means success, 1 means invalid, not found or not possible, and 2 means wrong usage.

mod error;
mod find;
mod index;
mod list;
mod output;
mod project;
mod search;
mod serve;
mod show;
mod step;
mod validate;
mod write;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use crate::repository::Repository;
pub use error::CliError;
pub use output::{Output, Style};

/// The name of the program.
pub const PROGRAM: &str = "spec-server";

/// Specifications and changes of a repository, for coding agents and for people.
///
/// Reads repositories of Spec Oxide (.spox/config.toml) and of OpenSpec (openspec/) as they are.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "spec-server",
    version,
    after_help = "Exit code: 0 fine, 1 invalid or not found, 2 wrong usage."
)]
pub struct SpecServerArgs {
    #[command(flatten)]
    repository: Repository,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Serves MCP: on stdin and stdout, or on a port with --listen.
    Mcp(Box<serve::ServeArgs>),
    /// Lists specs and active changes.
    List(list::ListArgs),
    /// Prints a spec or a change.
    Show(show::ShowArgs),
    /// Checks specs and active changes; all of them unless some are named.
    Validate(validate::ValidateArgs),
    /// Shows how far a change is, and what comes next with all that is needed for it.
    Next(step::Next),
    /// Makes an empty change.
    New(step::New),
    /// Writes a whole file of a change, from standard input.
    Write(step::Write),
    /// Shows what archiving a change would make of the specs, and what stands in its way.
    Preview(write::OfChange),
    /// Applies a finished change to the specs and moves it to the archive: all of it or nothing.
    Archive(write::Archive),
    /// Ticks a task of a change off.
    Task(write::Task),
    /// Prints the project's own words for the workflow: its context, its rules, its schema.
    Project(project::ProjectArgs),
    /// Finds requirements by words.
    Search(search::SearchArgs),
    /// Allows searches by servers that run with --index explicit.
    Index,
}

/// Runs the command in the arguments of the process. An error is one line on stderr.
pub fn main() -> ExitCode {
    let arguments = SpecServerArgs::parse();
    let done = match arguments.command {
        // Stdout is reserved for the protocol.
        Command::Mcp(asked) => asked.run(arguments.repository),
        _ => {
            let stdout = io::stdout();
            let style = Style::of(&stdout);
            run(&arguments, Output::new(stdout.lock(), style)).map(ExitCode::from)
        }
    };
    match done {
        Ok(code) => code,
        // The reader of stdout has closed it.
        Err(CliError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{PROGRAM}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs any command except `mcp`, writes the answer, and returns the exit code.
///
/// # Errors
/// [`CliError`], as a sentence for the user. The exit code is then 1.
pub fn run(arguments: &SpecServerArgs, mut output: Output<'_>) -> Result<u8, CliError> {
    let project = || arguments.repository.project();
    let code = match &arguments.command {
        Command::Mcp(_) => {
            let problem = "a server does not write its answers here";
            return Err(CliError::Usage(problem.to_owned()));
        }
        Command::List(asked) => asked.run(&project()?, &mut output),
        Command::Show(asked) => asked.run(&project()?, &mut output),
        Command::Validate(asked) => asked.run(&project()?, &mut output),
        Command::Next(asked) => asked.run(&project()?, &mut output),
        Command::New(asked) => asked.run(&project()?, &mut output),
        Command::Write(asked) => asked.run(&project()?, &mut output),
        Command::Preview(asked) => asked.preview(&project()?, &mut output),
        Command::Archive(asked) => asked.run(&project()?, &mut output),
        Command::Task(asked) => asked.run(&project()?, &mut output),
        Command::Project(asked) => asked.run(&project()?, &mut output),
        Command::Search(asked) => asked.run(&project()?, &mut output),
        Command::Index => index::run(&project()?, &mut output),
    }?;
    output.finish()?;
    Ok(code)
}
