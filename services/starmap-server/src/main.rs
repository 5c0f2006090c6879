//! The binary `starmap-server`.

use std::process::ExitCode;

fn main() -> ExitCode {
    starmap_server::cli::main()
}
