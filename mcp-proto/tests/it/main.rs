//! The library as its users and their clients see it: raw requests over HTTP and stdio, both eras, and the client.

mod bodies;
mod cancel;
mod client;
mod common;
mod doors;
mod headers;
mod keepalive;
mod listen;
mod load;
mod order;
mod property;
mod schema;
mod serving;
mod sessions;
mod stdio;
mod streams;
mod tools;
mod wanted;
