//! The library as its users and their clients see it: raw requests over HTTP and stdio, both eras, and the client.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

mod apps;
mod around;
mod asked;
mod asking;
mod asking_common;
mod asking_forms;
mod asking_kinds;
mod asking_legacy;
mod asking_replaced;
mod asking_state;
mod asking_wire;
mod authorize;
#[cfg(feature = "jwt")]
mod authorize_bound;
#[cfg(feature = "jwt")]
mod authorize_common;
#[cfg(feature = "jwt")]
mod authorize_dpop;
#[cfg(feature = "jwt")]
mod authorize_jwks;
#[cfg(feature = "jwt")]
mod authorize_jwt;
mod batches;
mod bodies;
mod bounds;
mod caching;
mod cancel;
mod cards;
mod common;
mod completion;
mod degrade;
mod dialects;
mod ends;
mod events;
mod extension_methods;
mod field_reports;
#[cfg(feature = "file-sessions")]
mod file_sessions;
mod fits;
mod forms;
mod handler_checked;
mod handshake;
mod header_annotations;
mod header_params;
mod headers;
mod hosts_origins;
mod icons;
mod identity;
mod items;
mod keepalive;
mod kept;
mod large;
mod layers;
mod lenient;
mod lenient_plain;
mod listen;
mod load;
mod local;
mod logging;
mod logs;
mod memory;
mod observed;
mod offered;
mod open_streams;
mod order;
mod outputs;
mod pages;
mod peer;
mod pipe;
mod polling;
mod process;
mod progress;
mod prompts;
mod property;
mod rate_limit;
mod required;
mod resources;
mod results;
mod resume;
mod returns;
mod schema;
mod serving;
mod session_headers;
mod sessions;
mod shared;
#[path = "../../examples/everything/twins/events.rs"]
mod shared_store;
mod shown;
mod spans;
mod standalone;
mod state;
mod stdio;
mod stores;
mod streams;
mod strict;
mod subscribe;
mod subscriptions;
mod tasks;
mod tasks_asking;
mod tasks_bounds;
mod tasks_common;
mod tasks_legacy;
mod tasks_listen;
mod tasks_names;
#[path = "../../examples/everything/twins/tasks.rs"]
mod tasks_store;
mod tasks_together;
mod time_limit;
mod tools;
mod traces;
#[cfg(unix)]
mod unix;
mod update;
mod uri_matching;
mod uri_template;
mod visible;
mod wanted;
