//! The client that the official conformance suite is turned on: `conformance client --command conformance_client`. It
//! runs the one scenario that the environment names, against the URL that is its last argument.

#[path = "conformance_client/authorized.rs"]
mod authorized;

use std::env;
use std::error::Error;
use std::sync::Arc;

use mcp_proto::ProtocolVersion;
use mcp_proto::client::{Client, ClientConfig};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the suite says by the environment.
struct Scenario {
    name: String,
    url: String,
    version: ProtocolVersion,
    context: Value,
}

#[tokio::main]
async fn main() -> Result<()> {
    let scenario = Scenario::read()?;
    if scenario.name.starts_with("auth/") {
        return authorized::run(&scenario).await;
    }
    Err(format!("{} is no scenario of this client", scenario.name).into())
}

impl Scenario {
    fn read() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
        let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION").map(|it| it.parse());
        let context = variable("MCP_CONFORMANCE_CONTEXT").map(|it| serde_json::from_str(&it));
        Ok(Self {
            name: variable("MCP_CONFORMANCE_SCENARIO")
                .ok_or("MCP_CONFORMANCE_SCENARIO is not set")?,
            url: env::args().last().ok_or("the URL is missing")?,
            version: version
                .transpose()?
                .unwrap_or(ProtocolVersion::LATEST_LEGACY),
            context: context.transpose()?.unwrap_or(Value::Null),
        })
    }

    /// What the context says under a name.
    fn given(&self, name: &str) -> Result<&str> {
        let value = self.context.get(name).and_then(Value::as_str);
        value.ok_or_else(|| format!("the context has no {name}").into())
    }

    fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new(self.version.era());
        config.version = self.version;
        config
    }
}
