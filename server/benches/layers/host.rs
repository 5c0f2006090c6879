//! The whole server inside this process, on a store of its own, and plain hyper beside it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::{HttpConfig, ServeConfig, serve};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use universe_core::State;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::http::App;
use universe_server::mcp;
use universe_server::rest::RestConfig;
use universe_server::store::sqlite::Options;
use universe_server::store::{SqliteStore, UniverseId};

/// A server that ends when it is dropped.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) service: CommandService,
    task: JoinHandle<()>,
    _dir: TempDir,
}

/// A store in a folder of its own.
pub(crate) fn store() -> (TempDir, Arc<SqliteStore>) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
    (dir, Arc::new(store))
}

pub(crate) fn service(store: Arc<SqliteStore>) -> CommandService {
    let limits = ServiceLimits {
        // A universe of 100,000 bodies has some 30 MB as JSON.
        max_universe_bytes: 64 << 20,
        ..ServiceLimits::default()
    };
    CommandService::new(store, limits)
}

impl Host {
    pub(crate) fn start(runtime: &Runtime) -> Self {
        let (dir, store) = store();
        let service = service(store);
        let server = mcp::server(service.clone(), mcp::ToolSet::Core, None).unwrap();
        let mcp = StreamableHttpService::with_config(server, HttpConfig::default());
        let app = App::new(service.clone(), mcp, RestConfig::default());
        let (address, task) = runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let config = ServeConfig::default();
            let serving = serve(listener, app, config, std::future::pending());
            let task = tokio::spawn(async move { serving.await.unwrap() });
            (address, task)
        });
        Self { address, service, task, _dir: dir }
    }

    /// Creates a universe of one star with all other bodies in orbit around it.
    pub(crate) fn create(&self, runtime: &Runtime, id: &str, size: usize) {
        let state = State::from_partial(bodies(size)).unwrap();
        let created = self.service.create(self::id(id), String::new(), state);
        runtime.block_on(created).unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn id(id: &str) -> UniverseId {
    UniverseId::new(id).unwrap()
}

/// Plain hyper that answers each request by these bytes.
pub(crate) fn plain(runtime: &Runtime, text: Bytes) -> SocketAddr {
    runtime.block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let text = text.clone();
                let answer = service_fn(move |_| {
                    let response = Response::new(Full::new(text.clone()));
                    async move { Ok::<_, Infallible>(response) }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(async move { connection.await.unwrap() });
            }
        });
        address
    })
}

fn bodies(size: usize) -> Value {
    let ids: Vec<_> = (1..size).map(|number| format!("body-{number}")).collect();
    let body = |id: &str, parent: Option<&str>, children: &[String]| {
        json!({
            "id": id, "name": "A body", "mass": 0.5, "radius": 0.25, "color": "#3366CC",
            "children": children, "parentId": parent, "orbitalDistance": 5, "orbitalSpeed": 2.25,
            "orbitalPhase": 90, "bodyType": "planet", "eccentricity": 0.1, "semiMajorAxis": 5.5,
        })
    };
    let others = ids.iter().map(|id| (id.clone(), body(id, Some("sol"), &[])));
    let mut stars: Map<_, _> = others.collect();
    stars.insert("sol".to_owned(), body("sol", None, &ids));
    json!({ "stars": stars, "rootIds": ["sol"] })
}
