//! `cargo fuzz run jsonrpc`; see `src/jsonrpc.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::jsonrpc::run(data));
