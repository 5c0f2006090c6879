//! `cargo fuzz run headers`; see `src/headers.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::headers::run(data));
