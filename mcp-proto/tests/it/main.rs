//! The library as its users and their clients see it: raw requests over HTTP and stdio, both eras, and the client.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod asked;
mod batches;
mod bodies;
mod bounds;
mod cancel;
mod client;
mod common;
mod doors;
mod ends;
mod events;
mod handshake;
mod headers;
mod keepalive;
mod kept;
mod large;
mod listen;
mod load;
mod logs;
mod order;
mod outputs;
mod peer;
mod pipe;
mod polling;
mod property;
mod results;
mod resume;
mod schema;
mod serving;
mod session_headers;
mod sessions;
mod skills;
mod skills_folder;
mod standalone;
mod stdio;
mod streams;
mod tools;
#[cfg(unix)]
mod unix;
mod uri_matching;
mod uri_template;
mod wanted;
