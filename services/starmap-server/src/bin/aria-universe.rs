//! The binary `aria-universe`: starts the server immediately, under the name in its contract.

use std::process::ExitCode;

fn main() -> ExitCode {
    starmap_server::main()
}
