//! `cargo fuzz run uri_template`; see `src/uri_template.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::uri_template::run(data));
