//! A running `signal-cli daemon`: JSON-RPC, one object per line, over a Unix socket or TCP.
//!
//! Signal keeps no history for linked devices: messages that arrive without a listener are held by the daemon or lost
//! with it, and received ones are kept in the index alone.

mod envelope;
mod inbox;
mod lines;
mod names;
mod send;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

use super::back_off::BackOff;
use crate::config::SignalAddress;
use crate::outgoing::{Outgoing, SendError, Sent};
use crate::source::{Batch, ChatSource, Connection, Event, Head, MAX_BATCH, Sink, SourceError};
use inbox::{CONTACTS, GROUPS, Inbox};
use lines::Lines;
use names::Names;

/// The longest line of the daemon, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How long to wait before connecting again, at first and at most.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long connecting may take, and then how long the first answer and the names may take.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// How long the daemon must be silent before the program ends.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The id of the request that subscribes to messages; the others are in [`inbox`].
const SUBSCRIBE: u64 = 3;

/// A source that listens to signal-cli.
#[derive(Debug)]
pub struct SignalCli {
    head: Head,
    address: SignalAddress,
    account: Option<String>,
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

impl SignalCli {
    /// Creates the source, which connects when it is run.
    pub fn new(id: String, name: String, address: SignalAddress, account: Option<String>) -> Self {
        let connection = Connection::Disconnected(advice(&address, "not connected yet"));
        Self { head: Head::new(id, name, connection), address, account }
    }

    /// Connects and listens, again and again.
    async fn listen(&self, sink: &dyn Sink, stop: &CancellationToken) -> Result<(), SourceError> {
        let mut back_off = BackOff::new(PAUSE, LONGEST_PAUSE);
        let mut names = Names::default();
        loop {
            let connected = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                connected = self.connect() => connected,
            };
            let ended = match connected {
                // The writing half is held: without it the connection counts as ended.
                Ok((reader, _writer)) => {
                    let account = self.account.as_deref();
                    let inbox = Inbox::new(&self.head.id, account, &mut names);
                    self.receive(reader, inbox, sink, &mut back_off, stop).await
                }
                Err(ended) => ended,
            };
            let problem = match ended {
                Ended::Daemon(problem) => problem,
                Ended::Index(error) => return Err(error),
                Ended::Stopped => return Ok(()),
            };
            tracing::info!(source = self.head.id, problem, "signal-cli is not connected");
            self.head.set(Connection::Disconnected(advice(&self.address, &problem)));
            if !back_off.wait(stop).await {
                return Ok(());
            }
        }
    }

    /// Keeps the daemon's messages until it disconnects, or until it is silent after `stop`: it does not send a message
    /// twice.
    async fn receive(
        &self,
        reader: Reader,
        mut inbox: Inbox<'_>,
        sink: &dyn Sink,
        back_off: &mut BackOff,
        stop: &CancellationToken,
    ) -> Ended {
        let mut lines = FramedRead::new(reader, Lines::new(MAX_LINE_BYTES));
        let mut late = pin!(tokio::time::sleep(CONNECT_TIME));
        let mut has_spoken = false;
        loop {
            let mut events = Vec::new();
            let mut read = tokio::select! {
                biased;
                line = lines.next() => self.read(line, &mut inbox, &mut events),
                () = stop.cancelled() => match tokio::time::timeout(LAST_WORDS, lines.next()).await {
                    Ok(line) => self.read(line, &mut inbox, &mut events),
                    Err(_silent) => Err(Ended::Stopped),
                },
                () = &mut late, if inbox.waits() => {
                    if !has_spoken {
                        return Ended::Daemon("it does not answer within 30 s".to_owned());
                    }
                    inbox.wait_no_longer(&mut events);
                    Ok(())
                }
            };
            // Lines that have arrived are kept together, even if the connection breaks after them.
            while read.is_ok()
                && events.len() < MAX_BATCH / 2
                && let Some(line) = lines.next().now_or_never()
            {
                read = self.read(line, &mut inbox, &mut events);
            }
            if read.is_err() {
                inbox.wait_no_longer(&mut events);
            }
            for chunk in events.chunks(MAX_BATCH) {
                let batch = Batch { events: chunk.to_vec(), ..Batch::default() };
                if let Err(error) = sink.keep(batch).await {
                    return Ended::Index(error);
                }
            }
            if let Err(ended) = read {
                return ended;
            }
            has_spoken = true;
            let connection = match inbox.served() {
                None => continue,
                Some(Ok(())) => Connection::Connected,
                Some(Err(problem)) => Connection::Disconnected(format!(
                    "signal-cli refuses all requests ({problem}): set account to one that `signal-cli listAccounts` shows"
                )),
            };
            if self.head.connection() != connection {
                self.head.set(connection);
                back_off.reset();
            }
        }
    }

    /// Connects and sends the first requests.
    async fn connect(&self) -> Result<(Reader, Writer), Ended> {
        let connecting = async {
            let (reader, mut writer) = open(&self.address).await?;
            for request in self.requests() {
                let line = format!("{request}\n");
                writer.write_all(line.as_bytes()).await?;
            }
            writer.flush().await?;
            Ok::<_, io::Error>((reader, writer))
        };
        match tokio::time::timeout(CONNECT_TIME, connecting).await {
            Ok(connected) => Ok(connected?),
            Err(_late) => Err(Ended::Daemon("no connection within 30 s".to_owned())),
        }
    }

    /// The first requests: names, and a subscription to messages. A daemon that sends messages anyway refuses the last,
    /// which does no harm.
    fn requests(&self) -> [Value; 3] {
        let request = |id: u64, method: &str| {
            let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
            if let (Some(account), Some(object)) = (&self.account, request.as_object_mut()) {
                object.insert("params".to_owned(), json!({"account": account}));
            }
            request
        };
        [
            request(GROUPS, "listGroups"),
            request(CONTACTS, "listContacts"),
            request(SUBSCRIBE, "subscribeReceive"),
        ]
    }

    /// Reads a line; `None` at the end.
    fn read(
        &self,
        line: Option<io::Result<Result<String, &'static str>>>,
        inbox: &mut Inbox<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Ended> {
        match line {
            Some(Ok(Ok(line))) => inbox.line(&line, events),
            Some(Ok(Err(problem))) => {
                tracing::warn!(source = self.head.id, problem, "passed over a line");
            }
            Some(Err(error)) => return Err(error.into()),
            None => {
                let problem = "the daemon has closed the connection";
                return Err(Ended::Daemon(problem.to_owned()));
            }
        }
        Ok(())
    }
}

/// A connection to the daemon.
async fn open(address: &SignalAddress) -> io::Result<(Reader, Writer)> {
    Ok(match address {
        SignalAddress::Socket(path) => {
            let (reader, writer) = UnixStream::connect(path).await?.into_split();
            (Box::new(reader), Box::new(writer))
        }
        SignalAddress::Tcp(address) => {
            let (reader, writer) = TcpStream::connect(address).await?.into_split();
            (Box::new(reader), Box::new(writer))
        }
    })
}

/// Why listening ended.
enum Ended {
    /// The daemon is not reachable, and why.
    Daemon(String),
    /// The index accepts no more batches.
    Index(SourceError),
    /// The program is to stop.
    Stopped,
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Daemon(error.to_string())
    }
}

fn advice(address: &SignalAddress, problem: &str) -> String {
    let (place, option) = match address {
        SignalAddress::Socket(path) => {
            (path.display().to_string(), format!("--socket {}", path.display()))
        }
        SignalAddress::Tcp(address) => (address.to_string(), format!("--tcp {address}")),
    };
    format!(
        "signal-cli is not reached at {place} ({problem}): start it with `signal-cli daemon {option}`"
    )
}

impl ChatSource for SignalCli {
    fn head(&self) -> &Head {
        &self.head
    }

    fn run(
        self: Arc<Self>,
        sink: Arc<dyn Sink>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Result<(), SourceError>> {
        async move { self.listen(&*sink, &stop).await }.boxed()
    }

    fn send(self: Arc<Self>, outgoing: Outgoing) -> BoxFuture<'static, Result<Sent, SendError>> {
        async move { self.deliver(outgoing).await }.boxed()
    }
}
