//! A balancer that gives each request to the next server, regardless of its session.
//!
//! It is a test for servers that share all state, not a balancer for users. Each request has a separate connection on
//! both sides, so that no client can stay with one server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::{Result, say};

/// The maximum length of a request's head, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// The end of a head.
const BLANK: &[u8] = b"\r\n\r\n";

/// A running balancer. It serves until the process ends.
#[derive(Debug)]
pub struct Balancer {
    address: SocketAddr,
    turns: Arc<Vec<AtomicUsize>>,
}

impl Balancer {
    /// Listens on a port that the system chooses.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start(servers: Vec<SocketAddr>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let turns: Arc<Vec<AtomicUsize>> =
            Arc::new(servers.iter().map(|_| AtomicUsize::new(0)).collect());
        let counts = Arc::clone(&turns);
        thread::spawn(move || {
            let around = servers.iter().zip(counts.iter()).cycle();
            for (near, (server, count)) in listener.incoming().flatten().zip(around) {
                count.fetch_add(1, Ordering::Relaxed);
                let server = *server;
                // If one side disconnects, both are closed, and the client sees that.
                thread::spawn(move || drop(pass(near, server)));
            }
        });
        Ok(Self { address, turns })
    }

    /// The URL of the MCP endpoint behind the balancer.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Prints how many requests each server has received so far. `false` if one server received all of them.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn all_served(&self) -> Result<bool> {
        let given: Vec<_> = self.turns.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        say(&format!("requests to each server: {given:?}"))?;
        let served = given.iter().filter(|count| **count > 0).count();
        Ok(served == 0 || served == given.len())
    }
}

/// Forwards one request to the server, and everything that the server sends back until it closes its connection.
fn pass(mut near: TcpStream, server: SocketAddr) -> io::Result<()> {
    near.set_nodelay(true)?;
    let Some((head, rest)) = head(&mut near)? else {
        return Ok(());
    };
    let mut far = TcpStream::connect(server)?;
    far.set_nodelay(true)?;
    far.write_all(&closing(&head))?;
    far.write_all(&rest)?;
    let (mut from, mut to) = (near.try_clone()?, far.try_clone()?);
    thread::spawn(move || {
        let copied = io::copy(&mut from, &mut to);
        // A client that disconnects cancels its request.
        drop(copied.and_then(|_| to.shutdown(Shutdown::Both)));
    });
    let copied = io::copy(&mut far, &mut near);
    near.shutdown(Shutdown::Both)?;
    copied.map(drop)
}

/// A head with its blank line, and the bytes read after it. `None` if the client sends no head.
fn head(near: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(at) = read.windows(BLANK.len()).position(|four| four == BLANK) {
            let rest = read.split_off(at + BLANK.len());
            return Ok(Some((read, rest)));
        }
        let count = near.read(&mut piece)?;
        if count == 0 || read.len() > MAX_HEAD {
            return Ok(None);
        }
        read.extend_from_slice(known_range::items(&piece, ..count));
    }
}

/// The same head with a header that makes the server close the connection after its response.
fn closing(head: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(head);
    let lines = text.trim_end().split("\r\n");
    let kept = lines.filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let mut closing: String = kept.flat_map(|line| [line, "\r\n"]).collect();
    closing.push_str("connection: close\r\n\r\n");
    closing.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with its name, and closes.
    fn server(name: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (head, _) = head(&mut stream).expect("readable").expect("a request");
                assert!(head.ends_with(b"connection: close\r\n\r\n"));
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n{name}"
                )
                .expect("written");
            }
        });
        address
    }

    #[test]
    fn requests_go_to_the_servers_in_turn() {
        let balancer = Balancer::start(vec![server("a"), server("b")]).expect("started");
        let ask = || {
            let mut stream = TcpStream::connect(balancer.address).expect("connected");
            stream
                .write_all(b"GET / HTTP/1.1\r\nhost: x\r\nConnection: keep-alive\r\n\r\n")
                .expect("written");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("readable");
            answer.pop().expect("an answer")
        };
        assert_eq!([ask(), ask(), ask(), ask()], ['a', 'b', 'a', 'b']);
        let given = balancer.turns.iter().map(|it| it.load(Ordering::Relaxed));
        assert_eq!(given.collect::<Vec<_>>(), [2, 2]);
    }
}
