//! The other end of a stdio connection, in memory.

use mcp_proto::Server;
use mcp_proto::stdio::{StdioConfig, serve};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

use crate::common::{PATIENCE, request, with_meta};

/// A good modern request as a line without its end.
pub(crate) fn list(id: impl serde::Serialize) -> String {
    request(id, "tools/list", &with_meta(json!({}))).to_string()
}

/// An open connection.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Peer {
    pub(crate) fn new(server: Server) -> Self {
        Self::with(server, StdioConfig::default())
    }

    /// One with bounds of its own.
    pub(crate) fn with(server: Server, config: StdioConfig) -> Self {
        let (near, far) = tokio::io::duplex(4_096);
        let (reader, writer) = tokio::io::split(far);
        let served = tokio::spawn(serve(server, reader, writer, config));
        let (reader, writer) = tokio::io::split(near);
        Self { lines: BufReader::new(reader).lines(), writer, served }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes()).await;
    }

    /// Several lines at once.
    pub(crate) async fn send_raw(&mut self, lines: &[u8]) {
        self.writer.write_all(lines).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// The next line as it is.
    pub(crate) async fn line(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("no line came").unwrap().unwrap()
    }

    /// Ends the input and waits for the end of the server; gives what it still said.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        self.writer.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.served.await.unwrap().unwrap();
        rest
    }
}
