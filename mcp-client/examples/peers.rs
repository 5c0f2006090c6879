//! The client against a server that others wrote, step by step, as a row of the table in `docs/peers.md`:
//! `peers NAME ERA --url URL` or `peers NAME ERA --command PROGRAM ARGUMENTS`, where `ERA` is `found`, `legacy` or
//! `modern`.
//!
//! A step knows the tools of the small servers in `lab/peers/`, of `server-everything` and of `server-filesystem`.
//! Only its effect decides whether it passes: what a server echoes, counts, writes, reports or has stopped.

#[path = "peers/steps.rs"]
mod steps;

use std::io::{self, Write as _};
use std::path::Path;
use std::{env, fs};

use mcp_proto::Era;
use mcp_proto::input::{CreateMessageResult, ElicitResult, Root};
use mcp_proto_client::{Client, ClientConfig, Elicitation, ElicitationKind};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use steps::{Peer, SAID};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [name, era, by, target, arguments @ ..] = words.as_slice() else {
        return Err(
            "peers NAME found|legacy|modern --url URL | --command PROGRAM [ARGUMENTS]".into()
        );
    };
    let root = env::temp_dir().join(format!("peers-{}", std::process::id()));
    fs::create_dir_all(&root)?;
    let config = config(era, &root)?;
    let (transport, client) = match by.as_str() {
        "--url" => ("HTTP", Client::http(target, config).await),
        "--command" => {
            let mut command = Command::new(target);
            command.args(arguments);
            ("stdio", Client::stdio(command, config).await)
        }
        other => return Err(format!("{other} is neither --url nor --command").into()),
    };
    let mut cells = vec![name.clone(), transport.to_owned()];
    let mut has_failed = false;
    match client {
        Ok(client) => {
            let version = client.server().await?.version;
            let how = if era == "found" { "found" } else { "given" };
            cells.push(format!("{version}, {how}"));
            let peer = Peer::new(client, root.clone()).await?;
            for step in peer.steps().await {
                has_failed |= step.is_err();
                cells.push(match step {
                    Ok(true) => "yes".to_owned(),
                    Ok(false) => "–".to_owned(),
                    Err(error) => format!("NO: {error}"),
                });
            }
        }
        Err(error) => {
            has_failed = true;
            cells.push(format!("NO: {error}"));
        }
    }
    fs::remove_dir_all(root)?;
    writeln!(io::stdout(), "| {} |", cells.join(" | "))?;
    std::process::exit(i32::from(has_failed));
}

/// A client that answers every question, and is configured with the given era.
fn config(era: &str, root: &Path) -> Result<ClientConfig, Error> {
    let config = match era {
        "found" => ClientConfig::default(),
        "legacy" => ClientConfig::new(Era::Legacy),
        "modern" => ClientConfig::new(Era::Modern),
        other => return Err(format!("{other} is neither found, legacy nor modern").into()),
    };
    Ok(config
        // On a busy machine an interpreter may take a while to start, and a server that is silent meanwhile would be
        // taken for a legacy one.
        .with(|it| it.probe = it.timeout)
        .with_tasks()
        .with_roots([Root::new(format!("file://{}", root.display()))])
        .with_elicitation(async |asked| answer(&asked))
        .with_sampling(async |_| Ok(CreateMessageResult::new("none", SAID))))
}

/// The first choice of each required field, or a name.
fn answer(asked: &Elicitation) -> ElicitResult {
    let ElicitationKind::Form { schema } = &asked.kind else {
        return ElicitResult::decline();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten();
    let fields = required.filter_map(Value::as_str).map(|field| {
        let choice = schema.pointer(&format!("/properties/{field}/oneOf/0/const"));
        (field.to_owned(), choice.cloned().unwrap_or_else(|| json!("Alice")))
    });
    ElicitResult::accept(Map::from_iter(fields))
}
