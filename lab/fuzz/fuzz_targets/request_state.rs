//! `cargo fuzz run request_state`; see `src/request_state.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::request_state::run(data));
