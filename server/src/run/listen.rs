//! Listening: REST and MCP over HTTP.

use std::io;

use mcp_proto::StreamableHttpService;
use mcp_proto::http::{ServeConfig, listen};

use service_host::{Place, RequiredAuthorization, serve_as, snippets};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backend::Backend;
use super::sessions::Sessions;
use super::share::{self, Tenure};
use super::{PATIENCE, RETRY_PAUSE, RunError, stop_signal};
use crate::config::{Arguments, Config, StoreKind};
use crate::engine::Shared;
use crate::http::{App, MCP_PATH};
use crate::mcp;
use crate::socket;
use crate::store::sqlite::OpenError;

/// The longest time, beyond [`PATIENCE`], that a holder which promised to release the directory may take to finish its
/// work.
const HANDOVER_TIME: std::time::Duration = std::time::Duration::from_secs(15);

pub(super) async fn run(arguments: &Arguments, mut config: Config) -> Result<(), RunError> {
    let stop = stop_signal()?;
    let listening = |error| RunError::Listen { address: arguments.address(), error };
    let listener = listen(arguments.address()).map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    // Done after binding the address, so that a start that fails at the address has changed nothing.
    let Some(backend) = take(arguments, &config, &stop).await? else {
        return Ok(());
    };
    let place = Place {
        address,
        names: &arguments.allowed_host,
        is_https: config.https.is_some(),
        public_url: arguments.public_url.as_deref(),
    };
    let url = place.url();
    let server = mcp::server(backend.service.clone(), arguments.tools(), url.as_deref())?;
    config.mcp.card = place.card(&server, &config.mcp);
    if arguments.read_only {
        server.hide_writing_tools();
    }
    let mut serving = ServeConfig::default();
    serving.proxies = config.mcp.proxies.clone();
    serving.callers = config.callers;
    let sessions = Sessions::open(arguments, &config.data_dir).await;
    let mcp = match backend.shared.clone() {
        Some(Shared { sessions, events }) => {
            StreamableHttpService::with_stores(server.clone(), config.mcp, sessions, events)
        }
        None => {
            let sessions = sessions.store();
            StreamableHttpService::with_sessions(server.clone(), config.mcp, sessions)
        }
    };
    let app = App::new(backend.service.clone(), mcp.clone(), config.rest);
    // Key changes are followed as long as the server runs.
    let _keys = config.keys.map(|keys| keys.give(server.keys()));
    let socket = match backend.online() {
        Some(online) => {
            let (dir, app) = (&config.data_dir, app.clone());
            share::start(dir, server, config.stdio, Tenure::Keeps, online, app)
        }
        None => None,
    };
    let token = config.asked.as_ref().and_then(RequiredAuthorization::shown_token);
    greet(arguments, &config.data_dir, place, token);
    // Changes of the authorization files are followed as long as the server runs.
    let _followed = config.asked.map(RequiredAuthorization::follow);
    let mut failed = false;
    let shutdown = async {
        tokio::select! {
            () = stop.cancelled() => {
                app.drain();
                tokio::select! {
                    () = tokio::time::sleep(arguments.drain_wait()) => {}
                    () = backend.failed() => failed = true,
                }
            }
            () = backend.failed() => failed = true,
        }
        app.close();
        if let Some(socket) = &socket {
            socket.stop();
        }
    };
    let served = serve_as(listener, config.https, app.clone(), serving, shutdown).await;
    // Messages for clients that will reconnect to another server are stored now.
    mcp.ended().await;
    if let Some(socket) = socket {
        socket.close().await;
    }
    sessions.close().await;
    backend.close().await;
    served.map_err(io::Error::from)?;
    if failed {
        return Err(RunError::Store);
    }
    Ok(())
}

/// Opens the store. Asks a process that holds the directory for one client to release it. A process that listens keeps
/// the directory. `None` when this process was stopped.
async fn take(
    arguments: &Arguments,
    config: &Config,
    stop: &CancellationToken,
) -> Result<Option<Backend>, RunError> {
    let start = Instant::now();
    let mut patience = PATIENCE;
    loop {
        let in_use = match Backend::open(arguments, config).await {
            Err(RunError::Open(error @ OpenError::InUse { .. })) => error,
            opened => return opened.map(Some),
        };
        let asked = async {
            let asked = socket::ask_for_directory(&config.data_dir).await;
            if !matches!(asked, Ok(false)) {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            asked
        };
        let kept = tokio::select! {
            () = stop.cancelled() => return Ok(None),
            asked = asked => match asked {
                Ok(true) => {
                    patience = PATIENCE + HANDOVER_TIME;
                    false
                }
                Ok(false) => true,
                // It is just starting or ending, or it hangs.
                Err(_) => start.elapsed() > patience,
            },
        };
        if kept || start.elapsed() > PATIENCE + HANDOVER_TIME {
            return Err(in_use.into());
        }
    }
}

/// Prints the addresses of the endpoints, for the person who started the server.
fn greet(arguments: &Arguments, data_dir: &std::path::Path, place: Place<'_>, token: Option<&str>) {
    let version = env!("CARGO_PKG_VERSION");
    let kept = match &arguments.store {
        StoreKind::Embedded => format!("universes in {}", data_dir.display()),
        StoreKind::Shared(url) => format!("universes in {url}"),
        StoreKind::Memory => "universes in memory, gone at the exit".to_owned(),
    };
    // If the URL is not known, only the paths are printed.
    let (url, address) = (place.url(), place.address);
    let base = url.as_deref().unwrap_or_default();
    let demo = if arguments.demo {
        format!("\n  demo  {base}/universes/{}", crate::demo::ID)
    } else {
        String::new()
    };
    let client = match &url {
        Some(url) => {
            let snippets = snippets("universe", &format!("{url}{MCP_PATH}"), token);
            format!("For the configuration of an MCP client:\n{snippets}\n")
        }
        None => String::new(),
    };
    let listening = if address.ip().is_unspecified() {
        format!("port {} of every address", address.port())
    } else {
        format!("{}://{address}", if place.is_https { "https" } else { "http" })
    };
    service_host::say(&format!(
        "universe-server {version}, {kept}\n  page  {base}/\n  REST  {base}/universes\n  MCP   {base}{MCP_PATH}{demo}\n{client}\
         listening on {listening}"
    ));
}
