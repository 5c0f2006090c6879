//! What surrounds the MCP server of a program: stdio or a port, authorization, signals, logs on stderr, answers on
//! stdout, watched folders, and files that are written whole or not at all.
//!
//! A program includes [`EndpointArgs`] in its own arguments, builds its [`mcp_proto::Server`], and passes both to
//! [`Host::run`]. [`guard`] requires scopes of callers and records writes. [`block_on`] owns the runtime around it.

mod completion;
mod endpoint;
mod failure;
mod files;
mod guard;
mod log;
mod print;
mod process;
mod run;
mod snippet;
mod tls;
#[cfg(feature = "watch")]
mod watch;

pub use completion::completion;
pub use endpoint::{
    Asking, EndpointArgs, EndpointError, KeysFile, Local, RequiredAuthorization, SharedKeys,
    answer_size, keep_alive, memory, read_token,
};
pub use failure::{Failure, Fault, quotable};
pub use files::{ReplaceError, Stamp, replace, replace_unless_changed};
pub use guard::{audit, guard};
pub use log::{LogFormat, complain, dropped_lines, log_to_stderr, log_to_stderr_as, say, visible};
pub use mcp_proto::blocking::{NotDone, run as run_blocking, run_long};
pub use print::{one_line, print, print_json, table};
pub use run::{Host, HostError, UntilStopped, block_on, serve_as, stop_signal};
pub use snippet::{Place, public_url, snippets};
pub use tls::{Https, Tls, TlsError, Trust, TrustError};
#[cfg(feature = "watch")]
pub use watch::{Changes, Depth, WatchError, Watcher};
