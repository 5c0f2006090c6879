//! `cargo fuzz run skill`; see `src/skill.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_proto_fuzz::skill::run(data));
