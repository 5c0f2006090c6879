//! `watch`

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::Method;
use http::header::ETAG;
use serde_json::{Value, json};

use super::connection::path_of;
use super::feed::{Event, Feed};
use super::{ClientError, Common, Connection, Result, print};
use crate::store::UniverseId;

/// The pause before the client reconnects to a server.
const PAUSE: Duration = Duration::from_secs(1);

/// The most characters of a command that are shown.
const SHOWN: usize = 160;

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// The universe's id.
    id: UniverseId,

    /// Begins after this revision; 0 is the whole history. By default it begins now.
    #[arg(long, value_name = "N")]
    after: Option<u64>,

    /// Ends after so many events.
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::to_server(&self.common, dir).await?;
        let mut last = match self.after {
            Some(after) => after,
            None => head(&mut connection, &self.id).await?,
        };
        let mut printed = 0;
        let mut away = false;
        loop {
            if self.count.is_some_and(|count| printed >= count) {
                return Ok(ExitCode::SUCCESS);
            }
            let path = format!("{}/events", path_of(&self.id));
            let opened = connection.feed(&path, &[("last-event-id", &last.to_string())]).await;
            let broken = match opened {
                Ok(body) => {
                    if away {
                        service_host::say(&format!("continuing after revision {last}"));
                    }
                    away = false;
                    let mut feed = Feed::new(body);
                    loop {
                        match feed.next().await {
                            Ok(Some(event)) => {
                                last = event.id.unwrap_or(last);
                                self.report(&event)?;
                                printed += 1;
                                if event.kind == "deleted" || self.count == Some(printed) {
                                    return Ok(ExitCode::SUCCESS);
                                }
                            }
                            Ok(None) => break "the feed has ended".to_owned(),
                            Err(broken) => break broken,
                        }
                    }
                }
                // It is starting or stopping, or overloaded.
                Err(
                    error @ (ClientError::Server { .. }
                    | ClientError::NoServer(_)
                    | ClientError::Refused { status: 429 | 503, .. }),
                ) => error.to_string(),
                Err(error) => return Err(error),
            };
            if !away {
                service_host::say(&format!("{}; waiting for it", service_host::visible(&broken)));
                away = true;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn report(&self, event: &Event) -> Result<()> {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if self.common.json {
            let line = json!({ "revision": event.id, "event": event.kind, "data": data });
            return Ok(print::json(&line)?);
        }
        let revision = event.id.map_or("-".to_owned(), |id| id.to_string());
        let what = match (event.kind.as_str(), data) {
            ("command", Value::Object(mut command)) => {
                let kind = command.remove("type").unwrap_or_default();
                let rest = Value::Object(command).to_string();
                format!("{} {}", kind.as_str().unwrap_or("?"), cut(&rest))
            }
            (kind, data) => format!("{kind} {}", cut(&data.to_string())),
        };
        Ok(service_host::print(&format!("{revision}  {}", service_host::one_line(&what)))?)
    }
}

/// The present revision of a universe.
async fn head(connection: &mut Connection, id: &UniverseId) -> Result<u64> {
    let path = path_of(id);
    let reply = match connection.ask(Method::HEAD, &path, &[], Bytes::new()).await {
        // An error response to HEAD has no body.
        Err(ClientError::Refused { status: 404, .. }) => {
            connection.ask(Method::GET, &path, &[], Bytes::new()).await
        }
        answered => answered,
    }?;
    let tag = reply.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    let revision = tag.and_then(|tag| tag.trim_matches('"').parse().ok());
    revision.ok_or_else(|| ClientError::Given("the server names no revision".to_owned()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", known_range::text(text, ..end)),
        None => text.to_owned(),
    }
}
