//! MCP Apps: pages, the tools that name them, and who is told of it.

use std::sync::Arc;

use mcp_proto::apps::{UI_EXTENSION, UI_MIME_TYPE, UiCsp, UiPermission, UiResource, UiVisibility};
use mcp_proto::{
    BuildError, CallToolResult, Context, Era, RequestError, Resource, ResourceContents, Server,
    ServerBuilder, Tool,
};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use crate::common::{Raw, every_client};

const URI: &str = "ui://weather/dashboard";
const HTML: &str = "<!DOCTYPE html><title>Weather</title>";

fn page() -> UiResource {
    let mut csp = UiCsp::default();
    csp.connect_domains =
        vec!["https://api.example.com".to_owned(), "wss://live.example.com".to_owned()];
    csp.resource_domains = vec!["https://*.example.com".to_owned()];
    let mut page = UiResource::new(URI, "dashboard")
        .with_title("Weather")
        .with_description("Shows the weather.")
        .with_csp(csp)
        .with_permission(UiPermission::Geolocation)
        .with_permission(UiPermission::ClipboardWrite);
    page.domain = Some("weather.example.net".to_owned());
    page.prefers_border = Some(false);
    page
}

fn page_meta() -> Value {
    json!({"ui": {
        "csp": {
            "connectDomains": ["https://api.example.com", "wss://live.example.com"],
            "resourceDomains": ["https://*.example.com"],
        },
        "permissions": {"geolocation": {}, "clipboardWrite": {}},
        "domain": "weather.example.net",
        "prefersBorder": false,
    }})
}

fn tool(name: &str) -> Tool {
    Tool::new(name, "").with_input_schema(json!({"type": "object"}))
}

fn with(builder: ServerBuilder<()>, tool: Tool) -> ServerBuilder<()> {
    builder.raw_tool(tool, async |(), _, context: Context| {
        let shown = context.client_capabilities.can_show_apps();
        Ok(CallToolResult::text(if shown { "shown" } else { "in words" }))
    })
}

fn builder() -> ServerBuilder<()> {
    Server::builder("s", "1", ())
}

fn server() -> Server {
    let both = with(builder(), tool("both").with_ui(URI));
    let button = tool("button").with_ui(URI).with_ui_visibility(UiVisibility::App);
    with(with(both, button), tool("plain"))
        .ui_page(page(), HTML)
        .ui_resource(UiResource::new("ui://weather/hour", "hour"), async |(), context: Context| {
            Ok(format!("<!DOCTYPE html>{}", context.protocol_version))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn tools_name_their_pages_and_pages_say_what_they_need() {
    let (clients, _served) = every_client(&server()).await;
    for (name, client) in &clients {
        let list = client.request("tools/list", json!({})).await.unwrap();
        let metas: Vec<_> =
            list["tools"].as_array().unwrap().iter().map(|tool| tool.get("_meta")).collect();
        let both = json!({"ui": {"resourceUri": URI}});
        let button = json!({"ui": {"resourceUri": URI, "visibility": ["app"]}});
        assert_eq!(metas, [Some(&both), Some(&button), None], "{name}");
        let list = client.request("resources/list", json!({})).await.unwrap();
        let listed = json!([
            {"uri": URI, "name": "dashboard", "title": "Weather", "description": "Shows the weather.",
             "mimeType": UI_MIME_TYPE, "_meta": page_meta()},
            {"uri": "ui://weather/hour", "name": "hour", "mimeType": UI_MIME_TYPE},
        ]);
        assert_eq!(list["resources"], listed, "{name}");
        let read = async |uri: &str| {
            let read = client.request("resources/read", json!({"uri": uri})).await;
            read.unwrap()["contents"].clone()
        };
        let contents =
            json!([{"uri": URI, "mimeType": UI_MIME_TYPE, "text": HTML, "_meta": page_meta()}]);
        assert_eq!(read(URI).await, contents, "{name}");
        let version = match client.era() {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        let made = read("ui://weather/hour").await;
        assert_eq!(made[0]["text"], format!("<!DOCTYPE html>{version}"));
        assert_eq!(made[0]["mimeType"], UI_MIME_TYPE);
    }
}

async fn extensions(server: Server) -> [Value; 2] {
    let service = mcp_proto::StreamableHttpService::new(server);
    let discovered = Raw::modern("server/discover", json!({})).send(&service).await.result();
    let initialized = Raw::initialize("2025-11-25").send(&service).await.result();
    [discovered, initialized].map(|result| result["capabilities"]["extensions"].clone())
}

#[tokio::test]
async fn the_extension_is_declared_where_it_is_used() {
    let mine = |builder: ServerBuilder<()>| builder.build().unwrap();
    let pages = mine(builder().ui_page(UiResource::new("ui://x", "x"), HTML));
    let visible = tool("button").with_ui_visibility(UiVisibility::Model);
    let visible = mine(with(builder(), visible));
    for used in [server(), pages, visible] {
        for declared in extensions(used).await {
            assert_eq!(declared, json!({UI_EXTENSION: {}}));
        }
    }
    for declared in extensions(mine(with(builder(), tool("plain")))).await {
        assert_eq!(declared, Value::Null);
    }
    // What the embedder says of it stands.
    let settings = serde_json::Map::from_iter([("own".to_owned(), json!(1))]);
    let own = builder().extension(UI_EXTENSION, settings);
    for declared in extensions(mine(own.ui_page(page(), HTML))).await {
        assert_eq!(declared, json!({UI_EXTENSION: {"own": 1}}));
    }
}

#[tokio::test]
async fn a_handler_knows_whether_the_client_shows_pages() {
    for (capabilities, said) in [
        (json!({}), "in words"),
        (json!({"extensions": {}}), "in words"),
        (json!({"extensions": {UI_EXTENSION: {}}}), "in words"),
        (json!({"extensions": {UI_EXTENSION: {"mimeTypes": ["text/html"]}}}), "in words"),
        (
            json!({"extensions": {UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}}),
            "shown",
        ),
    ] {
        for era in [Era::Legacy, Era::Modern] {
            let mut config = ClientConfig::new(era);
            config.capabilities = capabilities.as_object().unwrap().clone();
            let client = Client::memory(server(), config).await.unwrap();
            let result = client.call_tool_raw("both", json!({})).await.unwrap();
            assert_eq!(result["content"][0]["text"], said, "{capabilities} {era:?}");
        }
    }
}

#[test]
fn a_page_that_is_not_there_or_is_none_is_refused_when_the_server_is_built() {
    fn tool_problem(built: Result<Server, BuildError>) -> String {
        match built {
            Err(BuildError::Tool { name, problem }) if name == "t" => problem,
            other => panic!("{other:?}"),
        }
    }
    let problem = |uri: &str| {
        tool_problem(with(builder(), tool("t").with_ui(uri)).ui_page(page(), HTML).build())
    };
    assert!(problem("ui://weather/nope").contains("there is no such resource: add it by ui_page"));
    for uri in ["https://example.com/", "ui:/x", "ui://", "weather", ""] {
        assert!(problem(uri).contains("must be ui://"), "{uri}");
    }
    // By hand, too.
    let mut by_hand = tool("t");
    by_hand.meta = json!({"ui": {"resourceUri": "ui://nope"}}).as_object().cloned();
    assert!(tool_problem(with(builder(), by_hand).build()).contains("no such resource"));
    let mut by_hand = tool("t");
    by_hand.meta = json!({"ui": {"resourceUri": 5}}).as_object().cloned();
    assert!(tool_problem(with(builder(), by_hand).build()).contains("must be ui://"));
    let resource = |mime: &str| {
        let resource = Resource::new("ui://x", "x").with_mime_type(mime);
        with(builder(), tool("t").with_ui("ui://x"))
            .resource(resource, async |(), _| Ok(ResourceContents::text("ui://x", HTML)))
            .build()
    };
    assert!(tool_problem(resource("text/html")).contains("whose media type must be"));
    assert!(resource(UI_MIME_TYPE).is_ok());
    let resource_problem = |page: UiResource| match builder().ui_page(page, HTML).build() {
        Err(BuildError::Resource { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    for uri in ["https://example.com/", "ui://", "UI://x", "x"] {
        let told = resource_problem(UiResource::new(uri, "x"));
        assert!(told.contains("is ui://"), "{uri}: {told}");
    }
    for origin in
        ["", "https://a b", "https://a; script-src *", "'unsafe-eval'", "https://ä.example"]
    {
        let mut csp = UiCsp::default();
        csp.frame_domains = vec!["https://ok.example".to_owned(), origin.to_owned()];
        let told = resource_problem(UiResource::new("ui://x", "x").with_csp(csp));
        assert_eq!(
            told,
            format!("{origin:?} is not an origin such as \"https://api.example.com\"")
        );
    }
}

#[tokio::test]
async fn a_page_may_refuse_to_be_made() {
    let server = builder()
        .ui_resource(UiResource::new("ui://x", "x"), async |(), _| {
            Err::<String, _>(RequestError::not_found("not now"))
        })
        .build()
        .unwrap();
    let request = mcp_proto::jsonrpc::Request::new(1, "resources/read", json!({"uri": "ui://x"}));
    let response = server.handle(request, Context::test()).await;
    assert_eq!(response.outcome.unwrap_err().code, -32602);
}

#[test]
fn every_visibility_and_permission_has_its_name() {
    for (visibility, wire) in [
        (UiVisibility::ModelAndApp, json!(["model", "app"])),
        (UiVisibility::Model, json!(["model"])),
        (UiVisibility::App, json!(["app"])),
    ] {
        let tool = tool("t").with_ui_visibility(visibility);
        assert_eq!(tool.meta.unwrap()["ui"], json!({"visibility": wire}));
    }
    let every = [
        UiPermission::Camera,
        UiPermission::Microphone,
        UiPermission::Geolocation,
        UiPermission::ClipboardWrite,
    ];
    let page = every.into_iter().fold(UiResource::new("ui://x", "x"), UiResource::with_permission);
    let server = Arc::new(builder().ui_page(page, HTML).build().unwrap());
    let request = mcp_proto::jsonrpc::Request::new(1, "resources/list", json!({}));
    let response = futures_util::FutureExt::now_or_never(server.handle(request, Context::test()));
    let list = response.unwrap().outcome.unwrap().to_value();
    assert_eq!(
        list["resources"][0]["_meta"]["ui"]["permissions"],
        json!({"camera": {}, "microphone": {}, "geolocation": {}, "clipboardWrite": {}})
    );
}
