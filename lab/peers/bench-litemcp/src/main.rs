//! The server on `litemcp`, which supports only 2026-07-28 over HTTP, and keeps no sessions.

use litemcp::prelude::*;
use serde_json::json;

/// 102,000 bytes of prose in 1,500 lines.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_default();
    let bound = ServerBuilder::new("bench", "0.1.0")
        .tool_typed(
            "echo",
            "Says it back.",
            zod::object().field("text", zod::string()),
            |arguments| Ok(json!({ "text": arguments.get("text") })),
        )
        .tool("large", "Returns 100 KB of text.", |_| Ok(json!({ "text": LINE.repeat(1_500) })))
        .bind(&address)?;
    eprintln!("listening on http://{}/", bound.local_addr()?);
    bound.serve()
}
