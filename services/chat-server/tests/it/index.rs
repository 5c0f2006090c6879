//! The index: what goes in comes out, once, in order, whatever happens.

mod find_chat;
mod keep;
mod samples;
