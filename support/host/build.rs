//! Compiles what only C can say to the allocator: see `c/purge.c`.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=c/purge.c");
    let is_msvc = env::var_os("CARGO_CFG_TARGET_ENV").is_some_and(|name| name == "msvc");
    let include = env::var_os("DEP_MIMALLOC_INCLUDE_DIR").map(PathBuf::from);
    // Without constructors the allocator's own delay stays.
    if let (false, Some(include)) = (is_msvc, include) {
        cc::Build::new()
            .file("c/purge.c")
            .include(include)
            // Nothing refers to it: without this the linker would leave it out.
            .link_lib_modifier("+whole-archive")
            .compile("purge");
    }
}
