//! The REST dialect over real sockets.

mod bodies;
mod conditions;
mod described;
mod encodings;
mod hosts_origins;
mod methods;
mod pages;
mod table;
mod uploads;
