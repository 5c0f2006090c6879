//! What people have reported of exports and of other servers, each with its thread.

mod answers;
mod bot;
mod fresh;
mod inputs;
mod live;
mod signal;
mod telegram;
mod whatsapp;
