//! The binary `universe-server`.

use std::process::ExitCode;

fn main() -> ExitCode {
    universe_server::run::main()
}
