//! The library as its users and their clients see it: raw requests over HTTP and stdio, both eras, and the client.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod bodies;
mod bounds;
mod cancel;
mod client;
mod common;
mod doors;
mod ends;
mod handshake;
mod headers;
mod keepalive;
mod large;
mod listen;
mod load;
mod logs;
mod order;
mod outputs;
mod peer;
mod pipe;
mod property;
mod results;
mod schema;
mod serving;
mod sessions;
mod skills;
mod skills_folder;
mod stdio;
mod streams;
mod tools;
#[cfg(unix)]
mod unix;
mod uri_matching;
mod uri_template;
mod wanted;
