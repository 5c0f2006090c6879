//! `cargo fuzz run sse`; see `src/sse.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::sse::run(data));
