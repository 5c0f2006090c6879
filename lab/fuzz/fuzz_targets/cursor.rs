//! `cargo fuzz run cursor`; see `src/cursor.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::cursor::run(data));
