//! The binary `spec-server`.

use std::process::ExitCode;

fn main() -> ExitCode {
    spec_server::cli::main()
}
