//! The client that the official conformance suite tests: `conformance client --command conformance_client`. It plays
//! the one scenario that the environment names, against the URL that is its last argument.

#[path = "conformance_client/authorized.rs"]
mod authorized;

use std::env;
use std::error::Error;
use std::sync::Arc;

use mcp_proto::input::ElicitResult;
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto_client::{Client, ClientConfig, ClientError};
use mcp_skills::SkillsClient as _;
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The settings that the suite passes in the environment.
struct Scenario {
    name: String,
    url: String,
    context: Value,
}

#[tokio::main]
async fn main() -> Result<()> {
    let scenario = Scenario::read()?;
    if scenario.name.starts_with("auth/") {
        return authorized::run(&scenario).await;
    }
    // Every question of a server is accepted, with the defaults of its form.
    let config = ClientConfig::default()
        .with_elicitation(async |_| ElicitResult::accept(Map::new()))
        .with_sampling(async |_| Err(ErrorObject::method_not_found("sampling/createMessage")))
        .with_roots(Vec::new())
        .with_defaults();
    let client = Client::http(&scenario.url, config).await?;
    match scenario.name.as_str() {
        "initialize" | "request-metadata" => drop(client.list_tools().await?),
        "json-schema-ref-no-deref" => drop(client.list_tools().await?),
        "tools_call" => call(&client, "add_numbers", json!({ "a": 5, "b": 3 })).await?,
        "elicitation-sep1034-client-defaults" => {
            call(&client, "test_client_elicitation_defaults", json!({})).await?;
        }
        "sse-retry" => call(&client, "test_reconnection", json!({})).await?,
        "sep-2322-client-request-state" => rounds(&client).await?,
        "http-standard-headers" => headers(&client).await?,
        "http-custom-headers" => given_calls(&client, &scenario).await?,
        "http-invalid-tool-headers" => call(&client, "valid_tool", json!({})).await?,
        "json-schema-2020-12-preservation" => echo(&client).await?,
        "sep-2640-client-no-prefetch" => drop(client.list_skills().await?),
        name if name.starts_with("sep-2640-client-verify-") => skills(&client).await?,
        other => return Err(format!("{other} is not a scenario of this client").into()),
    }
    client.close().await?;
    Ok(())
}

/// Lists the tools and calls one of them.
async fn call(client: &Client, name: &str, arguments: Value) -> Result<()> {
    let tools = client.list_tools().await?;
    let is_listed = tools.iter().any(|it| it.name == name);
    is_listed.then_some(()).ok_or_else(|| format!("there is no tool {name}"))?;
    client.call_tool_raw(name, arguments).await?;
    Ok(())
}

/// A call that takes rounds, beside one that does not.
async fn rounds(client: &Client) -> Result<()> {
    client.list_tools().await?;
    let (asking, other) = tokio::join!(
        client.call_tool_raw("test_mrtr_echo_state", json!({})),
        client.call_tool_raw("test_mrtr_unrelated", json!({})),
    );
    asking.and(other)?;
    for name in ["test_mrtr_no_state", "test_mrtr_no_result_type"] {
        client.call_tool_raw(name, json!({})).await?;
    }
    Ok(())
}

/// Calls everything whose name is sent in a header.
async fn headers(client: &Client) -> Result<()> {
    for tool in client.list_tools().await? {
        client.call_tool_raw(&tool.name, json!({})).await?;
    }
    for resource in client.list_resources().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        client.get_prompt(&prompt.name, [("", ""); 0]).await?;
    }
    Ok(())
}

/// Makes the calls that the suite expects.
async fn given_calls(client: &Client, scenario: &Scenario) -> Result<()> {
    client.list_tools().await?;
    let calls = scenario.context.get("toolCalls").and_then(Value::as_array);
    for call in calls.ok_or("the context has no toolCalls")? {
        let name = call.get("name").and_then(Value::as_str).ok_or("a call has no name")?;
        let arguments = call.get("arguments").cloned().unwrap_or_default();
        client.call_tool_raw(name, arguments).await?;
    }
    Ok(())
}

/// Sends a schema back unchanged.
async fn echo(client: &Client) -> Result<()> {
    let tools = client.list_tools().await?;
    let tool = tools.iter().find(|it| it.name == "json_schema_2020_12_tool");
    let schema = &tool.ok_or("there is no json_schema_2020_12_tool")?.input_schema;
    client.call_tool_raw("json_schema_echo", json!({ "schema": schema })).await?;
    Ok(())
}

/// Loads each skill, and its other files if its `SKILL.md` matches the listing.
async fn skills(client: &Client) -> Result<()> {
    for skill in client.list_skills().await? {
        match client.read_skill_file(&skill, &skill.uri).await {
            Ok(_) => {
                return Err(format!("{} was changed, and the client took it", skill.uri).into());
            }
            Err(ClientError::Protocol(_)) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

impl Scenario {
    fn read() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
        let context = variable("MCP_CONFORMANCE_CONTEXT").map(|it| serde_json::from_str(&it));
        Ok(Self {
            name: variable("MCP_CONFORMANCE_SCENARIO")
                .ok_or("MCP_CONFORMANCE_SCENARIO is not set")?,
            url: env::args().next_back().ok_or("the URL is missing")?,
            context: context.transpose()?.unwrap_or(Value::Null),
        })
    }

    /// The value of a name in the context.
    fn given(&self, name: &str) -> Result<&str> {
        let value = self.context.get(name).and_then(Value::as_str);
        value.ok_or_else(|| format!("the context has no {name}").into())
    }
}
