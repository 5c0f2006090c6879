//! A signal-cli daemon that can die and come back.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chat_server::config::SignalAddress;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Where a daemon listens.
pub(crate) enum Endpoint {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, SocketAddr),
}

/// A daemon to which somebody is connected.
pub(crate) enum Daemon {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Endpoint {
    pub(crate) fn unix(socket: &Path) -> Self {
        Self::Unix(UnixListener::bind(socket).unwrap(), socket.to_owned())
    }

    pub(crate) async fn tcp() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self::Tcp(listener, address)
    }

    pub(crate) fn address(&self) -> SignalAddress {
        match self {
            Self::Unix(_, socket) => SignalAddress::Socket(socket.clone()),
            Self::Tcp(_, address) => SignalAddress::Tcp(*address),
        }
    }

    /// The line of a configuration that leads here.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Unix(_, socket) => format!("socket = {:?}", socket.to_str().unwrap()),
            Self::Tcp(_, address) => format!("tcp = \"{address}\""),
        }
    }

    /// Waits for the client and answers what it asks first.
    pub(crate) async fn accept(&self) -> Daemon {
        let mut daemon = self.meet().await;
        daemon.answer().await;
        daemon
    }

    /// Waits for the client.
    pub(crate) async fn meet(&self) -> Daemon {
        match self {
            Self::Unix(listener, _) => Daemon::Unix(listener.accept().await.unwrap().0),
            Self::Tcp(listener, _) => {
                let stream = listener.accept().await.unwrap().0;
                // What is written is under way, and is not lost with a reset.
                stream.set_nodelay(true).unwrap();
                Daemon::Tcp(stream)
            }
        }
    }

    /// The place after the daemon has died, and before it is there again. A port stays, so that no other program takes
    /// it.
    pub(crate) fn gone(self) -> Gone {
        match self {
            Self::Unix(listener, socket) => {
                drop(listener);
                std::fs::remove_file(&socket).unwrap();
                Gone::Unix(socket)
            }
            Self::Tcp(..) => Gone::Tcp(self),
        }
    }
}

/// Where a daemon was.
pub(crate) enum Gone {
    Unix(PathBuf),
    Tcp(Endpoint),
}

impl Gone {
    pub(crate) fn back(self) -> Endpoint {
        match self {
            Self::Unix(socket) => Endpoint::unix(&socket),
            Self::Tcp(endpoint) => endpoint,
        }
    }
}

impl Daemon {
    /// Answers what the client asks first.
    pub(crate) async fn answer(&mut self) {
        let requests = self.requests().await;
        self.introduce(&requests).await;
    }

    /// Answers these.
    pub(crate) async fn introduce(&mut self, requests: &[Value]) {
        for request in requests {
            let answer = match request["method"].as_str().unwrap() {
                "listGroups" => json!({"id": request["id"], "result": [
                    {"id": "Zm9v", "name": "Team", "isMember": true, "members": [{}, {}, {}]}]}),
                "listContacts" => json!({"id": request["id"], "result": [
                    {"number": "+1", "uuid": "u-anna", "name": "Anna"}, {"number": "+2", "uuid": null, "name": ""}]}),
                _ => {
                    json!({"id": request["id"], "error": {"code": -1, "message": "not in manual mode"}})
                }
            };
            self.write(format!("{answer}\n").as_bytes()).await;
        }
    }

    /// What the client asks first: three requests if it listens, one if it sends.
    pub(crate) async fn requests(&mut self) -> Vec<Value> {
        let reader: &mut (dyn AsyncRead + Unpin + Send) = match self {
            Self::Unix(stream) => stream,
            Self::Tcp(stream) => stream,
        };
        let mut lines = BufReader::new(reader).lines();
        let mut requests: Vec<Value> = Vec::new();
        let listens = |first: &Value| first["method"] == "listGroups";
        while requests.first().is_none_or(listens) && requests.len() < 3 {
            let line = lines.next_line().await.unwrap().unwrap();
            requests.push(serde_json::from_str(&line).unwrap());
        }
        requests
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).await.unwrap();
    }

    /// The same to a client that may have gone.
    pub(crate) async fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes).await,
            Self::Tcp(stream) => stream.write_all(bytes).await,
        }
    }

    pub(crate) async fn send(&mut self, envelope: Value) {
        self.write(&receive(&envelope)).await;
    }

    /// Dies within a line; over TCP the connection is reset, not closed.
    pub(crate) async fn die(mut self) {
        self.write(b"{\"jsonrpc\":\"2.0\",\"meth").await;
        if let Self::Tcp(stream) = self {
            stream.set_zero_linger().unwrap();
        }
    }
}

/// The line with an envelope.
pub(crate) fn receive(envelope: &Value) -> Vec<u8> {
    let line = json!({"jsonrpc": "2.0", "method": "receive", "params": {"envelope": envelope, "account": "+9"}});
    format!("{line}\n").into_bytes()
}

/// What Anna says.
pub(crate) fn from_anna(at: i64, data: Value) -> Value {
    let mut data = data;
    data["timestamp"] = json!(at);
    json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "sourceName": "Anna", "timestamp": at, "dataMessage": data})
}

/// The `n`th of many messages of hers.
pub(crate) fn numbered(n: usize) -> Value {
    let at = 1_700_000_000_000 + i64::try_from(n).unwrap();
    from_anna(at, json!({"message": format!("number {n}")}))
}
