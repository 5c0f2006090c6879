//! Two servers that share sessions, the streams of calls, tasks and keys, as several processes do through a database.
//! Each of them serves every request of every client.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use mcp_proto::http::{HttpConfig, listen};
use mcp_proto::session::{MemorySessions, SessionStore};
use mcp_proto::{Change, Context, Keys, Server, StreamableHttpService};

use super::{App, everything, runtime};

#[path = "twins/events.rs"]
#[expect(clippy::unwrap_used, dead_code, reason = "tests have it, too")]
mod events;
#[path = "twins/tasks.rs"]
#[expect(clippy::unwrap_used, dead_code, reason = "tests have it, too")]
mod tasks;

/// Passes a server's changes to the clients of its twin. With a database, its notifications do this.
#[derive(Debug, Clone, Default)]
pub(super) struct Bus(Arc<OnceLock<[Server; 2]>>);

impl Bus {
    /// Notifies the listeners of both servers; without a twin, those of the only server.
    pub(super) fn notify(&self, context: &Context, change: Change) {
        match self.0.get() {
            None => context.notify(change),
            Some(twins) => twins.iter().for_each(|twin| twin.notify(change.clone())),
        }
    }
}

/// Serves at both addresses until the process is asked to end.
pub(super) async fn on(addresses: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let (app, keys, tasks) = (App::default(), Keys::random(), tasks::Memory::new());
    let build = |node| -> Result<Server, Box<dyn Error>> {
        let builder = everything(app.clone())?.keys(keys.clone());
        Ok(builder.task_store(tasks.of(node)).build()?)
    };
    let twins = [build(0)?, build(1)?];
    let bus = app.bus.clone();
    bus.0.get_or_init(|| twins.clone());
    let sessions: Arc<dyn SessionStore> = Arc::new(MemorySessions::default());
    let logs = events::Logs::default();
    let [a, b] = twins;
    let service = |server, number| {
        let events = Arc::new(logs.process(number));
        let config = HttpConfig::default();
        StreamableHttpService::with_stores(server, config, Arc::clone(&sessions), events)
    };
    let [at_a, at_b] = addresses;
    // Both are bound first, so that the line that reports where one listens means that both do.
    let (at_a, at_b) = (listen(at_a.parse()?)?, listen(at_b.parse()?)?);
    tokio::try_join!(runtime::on(at_a, service(a, 0)), runtime::on(at_b, service(b, 1)))?;
    Ok(())
}
