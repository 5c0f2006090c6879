//! A Bot API that can fail in every way that a network has.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What becomes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is reset instead.
    Reset,
    /// The connection ends within it.
    Cut,
    /// A gateway says 502 instead, in its own words.
    BadGateway,
    /// It is the answer before once more, whatever was asked for.
    Again,
}

/// What the API has to tell, as Telegram keeps it: an update is gone once somebody asks for what comes after it.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) updates: Vec<Value>,
    /// Answers that are given before any update.
    pub(crate) refusals: VecDeque<Value>,
    /// What becomes of the next answers that have updates.
    pub(crate) faults: VecDeque<Fault>,
    /// What was to be sent: the path and the question.
    pub(crate) sent: Vec<(String, Value)>,
    /// What Telegram says to it.
    pub(crate) answers: VecDeque<Value>,
    /// The paths that were asked for.
    pub(crate) asked: Vec<String>,
    /// An offset beyond all updates is taken for none, as after numbers have begun again.
    pub(crate) is_lenient: bool,
    before: Value,
}

/// The API. It runs as long as the runtime.
#[derive(Debug, Clone)]
pub(crate) struct BotApi {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    news: watch::Sender<()>,
}

impl BotApi {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
            news: watch::Sender::new(()),
        };
        let serving = api.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let serving = serving.clone();
                tokio::spawn(async move { serving.answer(stream).await });
            }
        });
        api
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Updates come in, and some answers go wrong.
    pub(crate) fn push(&self, updates: impl IntoIterator<Item = Value>, faults: &[Fault]) {
        {
            let mut state = self.state();
            state.updates.extend(updates);
            state.faults.extend(faults);
        }
        self.news.send_replace(());
    }

    /// Answers on one connection until it ends.
    async fn answer(&self, mut stream: TcpStream) {
        let mut buffer = Vec::new();
        let mut news = self.news.subscribe();
        while let Some((path, question)) = request(&mut stream, &mut buffer).await {
            self.state().asked.push(path.clone());
            let (body, fault) = loop {
                if !path.ends_with("/getUpdates") {
                    let mut state = self.state();
                    state.sent.push((path, question));
                    break (state.answers.pop_front().unwrap(), None);
                }
                news.mark_unchanged();
                let reply = self.state().reply(&question);
                if let Some(reply) = reply {
                    break reply;
                }
                // Long polling, as long as somebody waits.
                tokio::select! {
                    _ = news.changed() => {}
                    read = stream.read_buf(&mut buffer) => if read.unwrap_or(0) == 0 { return },
                }
            };
            let (status, body) = match fault {
                Some(Fault::Reset) => return stream.set_zero_linger().unwrap(),
                Some(Fault::BadGateway) => ("502 Bad Gateway", "<html>try later</html>".to_owned()),
                _ => ("200 OK", body.to_string()),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let whole = answer.as_bytes();
            let part = match fault {
                Some(Fault::Cut) => &whole[..whole.len() - 10],
                _ => whole,
            };
            if stream.write_all(part).await.is_err() || part.len() < whole.len() {
                return;
            }
        }
    }
}

impl State {
    /// The answer to a question, if there is something to say, and what is to become of it.
    fn reply(&mut self, question: &Value) -> Option<(Value, Option<Fault>)> {
        if let Some(refusal) = self.refusals.pop_front() {
            return Some((refusal, None));
        }
        let number = |update: &Value| update["update_id"].as_i64().unwrap_or(0);
        let last = self.updates.last().map(number);
        if let Some(offset) = question["offset"].as_i64()
            && !(self.is_lenient && last.is_some_and(|last| last + 1 < offset))
        {
            self.updates.retain(|update| number(update) >= offset);
        }
        if self.updates.is_empty() {
            return None;
        }
        let limit = usize::try_from(question["limit"].as_i64().unwrap()).unwrap();
        let told: Vec<&Value> = self.updates.iter().take(limit).collect();
        let answer = json!({"ok": true, "result": told});
        let fault = self.faults.pop_front();
        let answer = match fault {
            Some(Fault::Again) if !self.before.is_null() => self.before.clone(),
            _ => answer,
        };
        if matches!(fault, None | Some(Fault::Again)) {
            self.before = answer.clone();
        }
        Some((answer, fault))
    }
}

/// The path and the body of the next request; `None` at the end of the connection.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, Value)> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await.unwrap_or(0) == 0 {
            return None;
        }
    };
    let text = String::from_utf8(buffer[..head].to_vec()).unwrap();
    let length = text
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let end = head + 4 + length.unwrap_or(0);
    while buffer.len() < end {
        if stream.read_buf(buffer).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    let question = serde_json::from_slice(&buffer[head + 4..end]).unwrap();
    buffer.drain(..end);
    Some((text.split(' ').nth(1).unwrap().to_owned(), question))
}

/// An update with a message that has these members.
pub(crate) fn update(n: i64, members: &Value) -> Value {
    let mut message = json!({
        "message_id": n, "date": 1_700_000_000 + n, "from": {"id": 5, "first_name": "Anna", "last_name": "B", "username": "anna"},
        "chat": {"id": -1007, "type": "supergroup", "title": "Team"},
    });
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    json!({"update_id": 1_000 + n, "message": message})
}

/// The `n`th of many messages.
pub(crate) fn numbered(n: usize) -> Value {
    let text = json!({"text": format!("number {n}")});
    update(i64::try_from(n).unwrap(), &text)
}
