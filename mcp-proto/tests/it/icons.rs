//! Icons are judged when the server is built, wherever they stand, and arrive as they are.

use mcp_proto::{
    BuildError, CallToolResult, GetPromptResult, Icon, Prompt, Resource, ResourceContents,
    ResourceTemplate, Server, ServerBuilder, Tool,
};
use serde_json::{Value, json};

use crate::common::every_client;

const PLACES: [&str; 5] = ["server", "tool", "resource", "template", "prompt"];

/// A server with an icon in one place.
fn with(place: &str, icon: Icon) -> Result<Server, BuildError> {
    let builder: ServerBuilder<()> = Server::builder("s", "1", ());
    let mut tool = Tool::new("t", "").with_input_schema(json!({"type": "object"}));
    let mut resource = Resource::new("x://r", "r");
    let mut template = ResourceTemplate::new("x://t/{a}", "t");
    let mut prompt = Prompt::new("p", "");
    let builder = match place {
        "tool" => {
            tool.icons.push(icon);
            builder
        }
        "resource" => {
            resource.icons.push(icon);
            builder
        }
        "template" => {
            template.icons.push(icon);
            builder
        }
        "prompt" => {
            prompt.icons.push(icon);
            builder
        }
        _ => builder.icon(icon),
    };
    builder
        .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("x")))
        .resource(resource, async |(), _| Ok(ResourceContents::text("x://r", "x")))
        .resource_template(template, async |(), _, _| Ok(ResourceContents::text("x://t/a", "x")))
        .raw_prompt(prompt, async |(), _, _| Ok(GetPromptResult::text("x")))
        .build()
}

#[test]
fn what_could_run_or_read_something_is_refused_in_every_place() {
    for place in PLACES {
        for src in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "file:///etc/passwd",
            "ftp://example.com/i.png",
            "ws://example.com/i.png",
            "http://example.com/i.png",
            "blob:https://example.com/1",
            "/i.png",
            "i.png",
            " https://example.com/i.png",
            "dätä:image/png;base64,",
            "",
        ] {
            let error = with(place, Icon::new(src)).expect_err(src).to_string();
            let told = format!("the icon {src:?} must be an https: or data: URI");
            assert!(error.contains(&told), "{place}: {error}");
            assert_eq!(error.contains("\"t\""), place == "tool", "{error}");
            assert_eq!(error.contains("\"x://r\""), place == "resource", "{error}");
            assert_eq!(error.contains("\"x://t/{a}\""), place == "template", "{error}");
            assert_eq!(error.contains("\"p\""), place == "prompt", "{error}");
        }
        let long = format!("ftp://{}", "x".repeat(5000));
        let error = with(place, Icon::new(long)).unwrap_err().to_string();
        assert!(error.len() < 200, "{error}");
    }
}

#[tokio::test]
async fn good_icons_arrive_as_they_are() {
    for place in PLACES {
        for src in
            ["https://example.com/i.png", "HTTPS://example.com/i.svg", "data:image/png;base64,cG5n"]
        {
            let mut icon = Icon::new(src);
            icon.mime_type = Some("image/png".to_owned());
            icon.sizes = vec!["48x48".to_owned(), "any".to_owned()];
            let wire = json!([{"src": src, "mimeType": "image/png", "sizes": ["48x48", "any"]}]);
            let (clients, _served) = every_client(&with(place, icon).unwrap()).await;
            for (name, client) in &clients {
                let (method, list) = match place {
                    "tool" => ("tools/list", "tools"),
                    "resource" => ("resources/list", "resources"),
                    "template" => ("resources/templates/list", "resourceTemplates"),
                    "prompt" => ("prompts/list", "prompts"),
                    _ => ("", ""),
                };
                if method.is_empty() {
                    if name.contains("Modern") {
                        let result = client.request("tools/list", json!({})).await.unwrap();
                        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
                        assert_eq!(info["icons"], wire, "{name}");
                    }
                    continue;
                }
                let result = client.request(method, json!({})).await.unwrap();
                assert_eq!(result[list][0]["icons"], wire, "{name} {place}");
            }
        }
    }
    let plain = with("nowhere", Icon::new("https://example.com/i.png")).unwrap();
    let (clients, _served) = every_client(&plain).await;
    let result: Value = clients[0].1.request("tools/list", json!({})).await.unwrap();
    assert_eq!(result["tools"][0].get("icons"), None);
}
