//! The binary `chat-server`.

use std::process::ExitCode;

fn main() -> ExitCode {
    chat_server::cli::main()
}
