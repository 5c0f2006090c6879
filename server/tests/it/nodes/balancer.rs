//! A balancer for tests: gives connections in turn to those servers that say that they are ready.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::harness::Client;

/// How often each server is asked whether it is ready.
const LOOK: Duration = Duration::from_millis(50);

/// Listens as long as it is there.
pub(super) struct Balancer {
    pub(super) client: Client,
    servers: Arc<Mutex<Vec<Client>>>,
    _tasks: JoinSet<()>,
}

impl Balancer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client(listener.local_addr().unwrap());
        let servers = Arc::new(Mutex::new(Vec::new()));
        let ready = Arc::new(Mutex::new(Vec::<SocketAddr>::new()));
        let mut tasks = JoinSet::new();
        let (asked, found) = (Arc::clone(&servers), Arc::clone(&ready));
        tasks.spawn(async move {
            loop {
                let all: Vec<Client> = asked.lock().unwrap().clone();
                let mut fit = Vec::new();
                for server in all {
                    if is_ready(server).await {
                        fit.push(server.0);
                    }
                }
                *found.lock().unwrap() = fit;
                tokio::time::sleep(LOOK).await;
            }
        });
        tasks.spawn(async move {
            let (turn, mut connections) = (AtomicUsize::new(0), JoinSet::new());
            while let Ok((near, _)) = listener.accept().await {
                let fit = ready.lock().unwrap().clone();
                let turn = turn.fetch_add(1, Ordering::Relaxed);
                // Where no server is ready the client's connection is closed.
                if let Some(server) = fit.get(turn % fit.len().max(1)) {
                    connections.spawn(pass(near, *server));
                }
                while connections.try_join_next().is_some() {}
            }
        });
        Self { client, servers, _tasks: tasks }
    }

    pub(super) fn add(&self, server: Client) {
        self.servers.lock().unwrap().push(server);
    }
}

async fn pass(mut near: TcpStream, server: SocketAddr) {
    if let Ok(mut far) = TcpStream::connect(server).await {
        let _broken = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    }
}

async fn is_ready(server: Client) -> bool {
    let Some(mut connection) = server.try_connect().await else {
        return false;
    };
    let reply = connection.try_call("GET", "/readyz", &[], &serde_json::Value::Null).await;
    reply.is_some_and(|reply| reply.status == 200)
}
