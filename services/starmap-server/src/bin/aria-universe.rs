//! The binary `aria-universe`: the server under the name of its contract, started at once.

use std::process::ExitCode;

fn main() -> ExitCode {
    starmap_server::main()
}
