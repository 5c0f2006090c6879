//! The command line: arguments, their execution, and the exit code.
//!
//! 0 is fine, 1 is not found or not possible, 2 is wrong usage, 3 is that an import has left something out.

mod check;
mod document;
mod error;
mod import;
mod list;
mod messages;
mod output;
mod paths;
mod serve;
mod transcribe;

use std::convert::Infallible;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use service_host::block_on;

use paths::Paths;
pub use serve::host;

/// The name of the program.
pub const PROGRAM: &str = "chat-server";

/// A person's chats, from Telegram, WhatsApp and Signal, for their agent and for themselves.
#[derive(Debug, Parser)]
#[command(
    name = "chat-server",
    version,
    after_help = "Exit code: 0 fine, 1 not found or not possible, 2 wrong usage, 3 imported, but something was left out."
)]
struct ChatServerArgs {
    #[command(flatten)]
    paths: Paths,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves MCP: on stdin and stdout, or on a port with --port or --listen.
    Mcp(Box<serve::ServeArgs>),
    /// Reads the exports into the index; all of them unless some are named.
    Import(import::ImportArgs),
    /// Lists the sources.
    Sources(list::Sources),
    /// Lists the chats of a source.
    Chats(list::Chats),
    /// Prints messages, newest first.
    Messages(Box<messages::MessagesArgs>),
    /// Finds messages by words: search "boat OR ship" -rain.
    Search(Box<messages::Search>),
    /// Transcribes recordings in exports, by the program that the configuration names.
    Transcribe,
    /// Says what is wrong with the configuration: files that are not there, lists of chats that match nothing.
    CheckConfig,
    /// Says how the dates of an export of WhatsApp are written, in the configuration, and reads it again.
    DayOrder(check::DayOrderArgs),
}

/// Does what the arguments of the process say. What goes wrong is one line on stderr.
pub fn main() -> ExitCode {
    let ChatServerArgs { paths, command } = ChatServerArgs::parse();
    let done = async {
        match command {
            Command::Mcp(asked) => asked.run(&paths).await,
            Command::Import(asked) => asked.run(&paths).await,
            Command::Sources(asked) => asked.run(&paths).await,
            Command::Chats(asked) => asked.run(&paths).await,
            Command::Messages(asked) => asked.run(&paths).await,
            Command::Search(asked) => asked.run(&paths).await,
            Command::Transcribe => transcribe::run(&paths).await,
            Command::CheckConfig => check::run(&paths).await,
            Command::DayOrder(asked) => asked.run(&paths).await,
        }
    };
    let done = async { done.await.unwrap_or_else(|error| error::code_of(&error)) };
    block_on(PROGRAM, async { Ok::<_, Infallible>(done.await) })
}
