//! `cargo fuzz run stdio`; see `src/stdio.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::stdio::run(data));
