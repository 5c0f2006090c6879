//! The index: what goes in comes out, once, in order, whatever happens.

mod context;
mod crash;
mod cursor;
mod find_chat;
mod follow;
mod hostile;
mod keep;
mod model;
mod open;
mod people;
mod samples;
mod search;
mod share;
mod statistics;
mod text;
