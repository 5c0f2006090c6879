//! The REST dialect over real sockets.

mod bodies;
mod conditions;
mod doors;
mod pages;
mod table;
