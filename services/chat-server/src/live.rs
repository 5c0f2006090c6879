//! Sources that go on while the program runs: networks that are listened to, and exports that grow.

mod back_off;
pub mod export;
pub mod signal_cli;
mod status;
pub mod telegram_bot;
