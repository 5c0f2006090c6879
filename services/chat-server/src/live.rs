//! Sources that continue while the program runs: networks, and exports that grow.

mod back_off;
pub mod export;
pub mod signal_cli;
pub mod telegram_bot;
