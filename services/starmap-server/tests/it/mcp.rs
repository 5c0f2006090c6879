//! The server as clients meet it, in both eras.

mod connections;
mod danger;
mod feed;
mod hostile;
mod live;
mod looking;
mod parameters;
mod planning;
mod prompts;
mod reasons;
mod reload;
mod resources;
mod rules;
mod spaces;
mod tools;
mod transports;
