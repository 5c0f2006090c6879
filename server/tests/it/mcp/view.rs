//! The view inside conversations (MCP Apps): which tools have it, and that the page needs nothing from elsewhere.

use data_encoding::BASE64;
use serde_json::json;

use crate::harness::{Era, Local, Mcp, Ways};

const URI: &str = "ui://universe/view";

#[tokio::test]
async fn the_tools_that_return_a_state_have_the_view() {
    for arguments in [vec![], vec!["--extra-tools"]] {
        let mut ways = Ways::start(&arguments).await;
        for (_, caller) in ways.each() {
            for tool in caller.tools().await {
                let name = tool["name"].as_str().unwrap();
                let has = matches!(name, "get_universe_state" | "send_universe_command");
                let expected = if has { json!(URI) } else { json!(null) };
                assert_eq!(tool["_meta"]["ui"]["resourceUri"], expected, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn the_page_loads_nothing_and_runs_only_what_it_has() {
    let server = Local::start().await;
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let listed = mcp.result("resources/list", json!({})).await;
        let listed = listed["resources"].as_array().unwrap().clone();
        assert!(listed.iter().any(|it| it["uri"] == URI), "{listed:?}");
        let page = mcp.read(URI).await;
        assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
        assert_eq!(page["_meta"]["ui"]["prefersBorder"], true);
        let html = page["text"].as_str().unwrap();
        assert!(html.len() < 32 << 10, "{} bytes", html.len());
        for outside in ["http:", "https:", "//cdn", "src=", "href=", "@import", "url(", "eval("] {
            assert!(!html.contains(outside), "{outside}");
        }
        // Its policy names its one script and its one style by their digests.
        for (tag, policy) in [("script", "script-src"), ("style", "style-src")] {
            let (_, rest) = html.split_once(&format!("<{tag}>")).unwrap();
            let (inside, _) = rest.split_once(&format!("</{tag}>")).unwrap();
            let digest = ring::digest::digest(&ring::digest::SHA256, inside.as_bytes());
            let allowed = format!("{policy} 'sha256-{}'", BASE64.encode(digest.as_ref()));
            assert!(html.contains(&allowed), "the policy should have {allowed}");
        }
        assert!(html.contains("default-src 'none'"));
    }
}
