//! `cargo fuzz run schema`; see `src/schema.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::schema::run(data));
