//! Skills as servers offer them and as clients read them, over every transport in both eras.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod client;
#[expect(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../../mcp-proto/tests/it/common.rs"]
mod common;
#[expect(dead_code, reason = "shared with the tests of the client")]
#[path = "../../../../mcp-client/tests/it/fake.rs"]
mod fake;
mod listen;
mod skills;
mod skills_folder;
mod skills_paths;
mod skills_served;
