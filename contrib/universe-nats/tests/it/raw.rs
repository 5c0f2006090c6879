//! Looks into the streams of NATS, past the store: its own few words of the protocol.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::engines::Kind;

/// The header that has what is known of a record.
const HEADER: &str = "Universe: ";

/// A connection, with an inbox.
struct Raw {
    stream: BufReader<TcpStream>,
    prefix: String,
}

/// An answer: its headers, and its body.
struct Answer {
    headers: String,
    body: Vec<u8>,
}

pub(crate) async fn age(url: &str, kind: Kind, seconds: u32, owner: Option<&str>) {
    relabel(url, kind, |label| {
        let is_it = owner.is_none_or(|owner| label["share"] == owner);
        for time in ["used", "until"] {
            let at = label[time].as_i64().unwrap();
            if is_it && at != 0 {
                label[time] = (at - i64::from(seconds) * 1_000).into();
            }
        }
        is_it
    })
    .await;
}

/// Makes records as they were before their labels said how long they last.
pub(crate) async fn without_lives(url: &str, kind: Kind) {
    relabel(url, kind, |label| label.as_object_mut().unwrap().remove("lives").is_some()).await;
}

/// Stores those records again whose label `change` has changed.
async fn relabel(url: &str, kind: Kind, change: impl Fn(&mut Value) -> bool) {
    let mut raw = Raw::connect(url).await;
    for subject in raw.subjects(kind).await {
        let (mut label, body) = raw.get(kind, &subject).await;
        if label["gone"] == true || !change(&mut label) {
            continue;
        }
        let mut headers = String::from("NATS/1.0\r\n");
        if label["until"] != 0 {
            headers.push_str("Nats-TTL: 1s\r\n");
        }
        let headers = format!("{headers}{HEADER}{label}\r\n\r\n");
        let stored = raw.ask(&subject, &headers, &body).await;
        let stored: Value = serde_json::from_slice(&stored.body).unwrap();
        assert!(stored["error"].is_null(), "{stored}");
    }
}

pub(crate) async fn dump(url: &str, kind: Kind) -> Vec<String> {
    let mut raw = Raw::connect(url).await;
    let mut all = Vec::new();
    for subject in raw.subjects(kind).await {
        let (label, body) = raw.get(kind, &subject).await;
        if label.is_object() && label["gone"] != true {
            all.push(format!("{subject} {label} {}", String::from_utf8_lossy(&body)));
        }
    }
    all
}

impl Raw {
    async fn connect(url: &str) -> Self {
        let (host, prefix) =
            url.strip_prefix("nats://").and_then(|rest| rest.split_once('/')).unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let mut raw = Self { stream: BufReader::new(stream), prefix: prefix.to_owned() };
        let greeting = "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB inbox.raw 1\r\n";
        raw.stream.write_all(greeting.as_bytes()).await.unwrap();
        raw
    }

    /// The stream of a kind, and all subjects that it may have.
    fn place(&self, kind: Kind) -> (String, String) {
        let prefix = &self.prefix;
        let records = |kind: &str| format!("{prefix}.record.{kind}.>");
        let subjects = match kind {
            Kind::Sessions => records("session"),
            Kind::Letters => records("letter"),
            Kind::Streams => records("head"),
            Kind::Tasks => records("task"),
            Kind::Nodes => records("node"),
            Kind::Events => return (format!("{prefix}_events"), format!("{prefix}.event.>")),
        };
        (format!("{prefix}_records"), subjects)
    }

    async fn subjects(&mut self, kind: Kind) -> Vec<String> {
        let (stream, subjects) = self.place(kind);
        let question = json!({"subjects_filter": subjects}).to_string();
        let asking = format!("$JS.API.STREAM.INFO.{stream}");
        let answer = self.ask(&asking, "", question.as_bytes()).await;
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let subjects = answer["state"]["subjects"].as_object().into_iter();
        subjects.flat_map(|it| it.keys().cloned()).collect()
    }

    /// What is known of a record, or null where there is none, and its body.
    async fn get(&mut self, kind: Kind, subject: &str) -> (Value, Vec<u8>) {
        let (stream, _) = self.place(kind);
        let asking = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        let Answer { headers, body } = self.ask(&asking, "", b"").await;
        let mut lines = headers.lines();
        let label = lines.find_map(|line| line.strip_prefix(HEADER));
        let label = label.map_or(Value::Null, |label| serde_json::from_str(label).unwrap());
        (label, body)
    }

    async fn ask(&mut self, subject: &str, headers: &str, body: &[u8]) -> Answer {
        let (of, all) = (headers.len(), headers.len() + body.len());
        let line = match of {
            0 => format!("PUB {subject} inbox.raw {all}\r\n"),
            _ => format!("HPUB {subject} inbox.raw {of} {all}\r\n{headers}"),
        };
        let sent = [line.as_bytes(), body, b"\r\n"].concat();
        self.stream.write_all(&sent).await.unwrap();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await.unwrap();
            let words: Vec<_> = line.split_whitespace().collect();
            let (of, all) = match words[..] {
                ["PING"] => {
                    self.stream.write_all(b"PONG\r\n").await.unwrap();
                    continue;
                }
                ["MSG", .., all] => ("0", all),
                ["HMSG", .., of, all] => (of, all),
                ["-ERR", ..] => panic!("{line}"),
                _ => continue,
            };
            let (of, all): (usize, usize) = (of.parse().unwrap(), all.parse().unwrap());
            let mut body = vec![0; all + 2];
            self.stream.read_exact(&mut body).await.unwrap();
            body.truncate(all);
            let headers = String::from_utf8(body.drain(..of).collect()).unwrap();
            return Answer { headers, body };
        }
    }
}
