//! The client as its users see it: against servers in memory and on sockets, and against answers written by hand.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod asked;
mod asking_client;
#[expect(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../mcp-proto/tests/it/asking_common.rs"]
mod asking_common;
mod bounds;
mod cache;
#[cfg(unix)]
mod children;
mod client;
#[expect(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../mcp-proto/tests/it/common.rs"]
mod common;
mod eras;
mod fake;
mod headers;
mod network;
#[cfg(feature = "oauth")]
mod oauth_answers;
#[cfg(feature = "oauth")]
mod oauth_common;
#[cfg(feature = "oauth")]
mod oauth_discovery;
#[cfg(feature = "oauth")]
mod oauth_grants;
#[cfg(feature = "oauth")]
mod oauth_kept;
#[cfg(feature = "oauth")]
mod oauth_tokens;
#[expect(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../mcp-proto/tests/it/peer.rs"]
mod peer;
mod people;
#[cfg(unix)]
mod pipe;
mod reports;
mod returns;
mod streams;
#[expect(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../mcp-proto/tests/it/tasks_common.rs"]
mod tasks_common;
#[cfg(feature = "tls")]
mod tls;
mod typed;
mod ways;
