//! The REST dialect over real sockets.

mod bodies;
mod conditions;
mod described;
mod doors;
mod encodings;
mod pages;
mod table;
mod uploads;
