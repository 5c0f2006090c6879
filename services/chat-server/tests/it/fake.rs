//! What chats come from, played by the tests themselves.

pub(crate) mod bot_api;
pub(crate) mod signal_daemon;
