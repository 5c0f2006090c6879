//! Each message is sent once and kept once, whatever dies: the daemon, the connection to it, the server itself.

use std::collections::HashMap;
use std::ops::Range;
use std::process::Stdio;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use super::harness::{TestSetup, structured};
use super::listener::Listener;
use crate::fake::bot_api::{self, BotApi, Fault};
use crate::fake::signal_daemon::{self, Daemon, Endpoint, receive};

/// How many messages are sent.
const MESSAGES: usize = 1_000;

/// How many are on their way at once: fewer than a listener may lag behind, so that none may be missed.
const CHUNK: usize = 50;

/// Where messages come from.
enum Network {
    Signal(Option<Endpoint>, Option<Daemon>),
    /// With how many messages it was given: Telegram remembers them.
    Bot(BotApi, usize),
}

impl Network {
    const fn signal(endpoint: Endpoint) -> Self {
        Self::Signal(Some(endpoint), None)
    }

    fn setup(&self) -> TestSetup {
        let (lines, token) = match self {
            Self::Signal(endpoint, _) => {
                let line = endpoint.as_ref().unwrap().line();
                (format!("kind = \"signal-cli\"\n{line}"), "")
            }
            Self::Bot(api, _) => (
                format!(
                    "kind = \"telegram-bot\"\nbase_url = \"{}\"\ntoken_file = \"token\"",
                    api.url
                ),
                "123:secret\n",
            ),
        };
        let setup = TestSetup::new(&format!("[[source]]\nid = \"live\"\n{lines}\n"));
        setup.write("token", token);
        setup
    }

    /// The name of the chat in which everything is said.
    const fn chat(&self) -> &'static str {
        match self {
            Self::Signal(..) => "Anna",
            Self::Bot(..) => "Team",
        }
    }

    /// The server has started: lets it in.
    async fn meet(&mut self) {
        if let Self::Signal(endpoint, daemon) = self {
            *daemon = Some(endpoint.as_ref().unwrap().accept().await);
        }
    }

    async fn send(&mut self, messages: Range<usize>) {
        match self {
            Self::Signal(_, daemon) => {
                let daemon = daemon.as_mut().unwrap();
                daemon.write(&lines(messages)).await;
            }
            Self::Bot(..) => self.push(messages, &[]),
        }
    }

    /// Sends these, and breaks in the middle: what may have been lost is sent again.
    async fn break_within(&mut self, messages: Range<usize>, round: usize) {
        match self {
            Self::Signal(endpoint, daemon) => {
                let mut dying = daemon.take().unwrap();
                let half = messages.start..messages.start + messages.len() / 2;
                dying.write(&lines(half)).await;
                dying.die().await;
                let back = endpoint.take().unwrap().gone().back();
                let mut alive = back.accept().await;
                alive.write(&lines(messages)).await;
                (*endpoint, *daemon) = (Some(back), Some(alive));
            }
            Self::Bot(..) => {
                let faults = [Fault::Reset, Fault::BadGateway, Fault::Again, Fault::Cut];
                let fault = faults[round % faults.len()];
                self.push(messages, &[fault]);
            }
        }
    }

    fn push(&mut self, messages: Range<usize>, faults: &[Fault]) {
        if let Self::Bot(api, pushed) = self {
            let new = messages.start.max(*pushed)..messages.end;
            *pushed = messages.end;
            api.push(new.map(bot_api::numbered), faults);
        }
    }
}

fn lines(messages: Range<usize>) -> Vec<u8> {
    let line = |n| receive(&signal_daemon::numbered(n));
    messages.flat_map(line).collect()
}

const URI: &str = "messages://live/*";

/// Receives the `n`th message, counted from 0, and of no other.
async fn expect_message(listener: &mut Listener, n: usize, chat: &str) {
    let mut update = listener.next().await;
    assert_eq!(update["uri"], URI, "{update}");
    assert!(update["_meta"]["chat-server/cursor"].is_string(), "{update}");
    let told = update["_meta"]["chat-server/message"].take();
    assert_eq!(told["content"], format!("number {n}"), "{update}");
    assert_eq!(told["sequence"], n + 1, "{told}");
    assert_eq!((&told["source"], &told["chat"]), (&json!("live"), &json!(chat)), "{told}");
}

async fn every_message_once(mut network: Network, mut listeners: Vec<Listener>) {
    let chat = network.chat();
    for (round, first) in (0..MESSAGES).step_by(CHUNK).enumerate() {
        let chunk = first..first + CHUNK;
        match round % 5 {
            2 => network.break_within(chunk.clone(), round / 5).await,
            _ => network.send(chunk.clone()).await,
        }
        for listener in &mut listeners {
            for n in chunk.clone() {
                expect_message(listener, n, chat).await;
            }
        }
    }
    // If one came twice it would come before this one.
    network.send(MESSAGES..MESSAGES + 1).await;
    for listener in &mut listeners {
        expect_message(listener, MESSAGES, chat).await;
        kept_once(&listener.client, MESSAGES + 1).await;
    }
}

/// What the store holds: so many messages, each once, numbered in their order without a gap.
async fn kept_once(client: &Client, count: usize) {
    let mut asked = json!({ "limit": 1_000 });
    let mut numbers = Vec::new();
    loop {
        let mut told = structured(client, "get_messages", asked.clone()).await;
        for message in told["messages"].as_array().unwrap() {
            let n = message["sequence"].as_u64().unwrap();
            assert_eq!(message["content"], format!("number {}", n - 1));
            numbers.push(usize::try_from(n).unwrap());
        }
        match told["next_cursor"].take() {
            Value::Null => break,
            cursor => asked["cursor"] = cursor,
        }
    }
    let newest_first: Vec<usize> = (1..=count).rev().collect();
    assert_eq!(numbers, newest_first);
}

/// One server that is listened to over HTTP in both eras.
async fn over_http(mut network: Network) {
    let setup = network.setup();
    let (_server, url) = setup.listening(&[]).await;
    network.meet().await;
    let client = |era| Client::http(&url, ClientConfig::new(era));
    let legacy = client(Era::Legacy).await.unwrap();
    let modern = client(Era::Modern).await.unwrap();
    let listeners = vec![Listener::of(legacy, URI).await, Listener::of(modern, URI).await];
    every_message_once(network, listeners).await;
}

/// Two servers on pipes, one in each era: the first listens to the network, the second to what the first writes.
async fn over_pipes(mut network: Network) {
    let setup = network.setup();
    let client = |era| {
        let mut command = setup.command("mcp");
        command.stderr(Stdio::null());
        Client::stdio(command, ClientConfig::new(era))
    };
    let legacy = client(Era::Legacy).await.unwrap();
    network.meet().await;
    let modern = client(Era::Modern).await.unwrap();
    let listeners = vec![Listener::of(legacy, URI).await, Listener::of(modern, URI).await];
    every_message_once(network, listeners).await;
}

#[tokio::test]
async fn signal_on_a_socket_over_http() {
    let dir = tempfile::tempdir().unwrap();
    over_http(Network::signal(Endpoint::unix(&dir.path().join("socket")))).await;
}

#[tokio::test]
async fn signal_on_a_socket_over_pipes() {
    let dir = tempfile::tempdir().unwrap();
    over_pipes(Network::signal(Endpoint::unix(&dir.path().join("socket")))).await;
}

#[tokio::test]
async fn signal_on_a_port_over_http() {
    over_http(Network::signal(Endpoint::tcp().await)).await;
}

#[tokio::test]
async fn signal_on_a_port_over_pipes() {
    over_pipes(Network::signal(Endpoint::tcp().await)).await;
}

#[tokio::test]
async fn a_bot_over_http() {
    over_http(Network::Bot(BotApi::start().await, 0)).await;
}

#[tokio::test]
async fn a_bot_over_pipes() {
    over_pipes(Network::Bot(BotApi::start().await, 0)).await;
}

/// The server is killed within a chunk, again and again. What was not received is sent again, as by a daemon that is
/// not sure, or as Telegram does.
async fn killed(mut network: Network) {
    const KILLS: usize = 5;
    let setup = network.setup();
    let chat = network.chat();
    let mut received = HashMap::new();
    let mut next = 0;
    for life in 0..=KILLS {
        let (mut server, url) = setup.listening(&[]).await;
        network.meet().await;
        let client = Client::http(&url, ClientConfig::new(Era::Modern));
        let mut listener = Listener::of(client.await.unwrap(), URI).await;
        let (until, mut told_until) = (MESSAGES * (life + 1) / (KILLS + 1), next);
        while next < until {
            if told_until == next {
                told_until = (next + CHUNK).min(MESSAGES);
                network.send(next..told_until).await;
            }
            let told = listener.message(URI).await;
            assert_eq!(told["chat"], chat);
            let sequence = told["sequence"].as_u64().unwrap();
            let n = usize::try_from(sequence).unwrap() - 1;
            assert_eq!(told["content"], format!("number {n}"));
            assert_eq!(received.insert(n, life), None, "{n} was told twice");
            assert!(n >= next, "{n} was told after {next}");
            next = n + 1;
        }
        if life < KILLS {
            server.kill().await.unwrap();
            continue;
        }
        network.send(MESSAGES..MESSAGES + 1).await;
        while listener.message(URI).await["content"] != format!("number {MESSAGES}") {}
        kept_once(&listener.client, MESSAGES + 1).await;
    }
}

#[tokio::test]
async fn a_server_that_is_killed_keeps_each_message_of_signal_once() {
    let dir = tempfile::tempdir().unwrap();
    killed(Network::signal(Endpoint::unix(&dir.path().join("socket")))).await;
}

#[tokio::test]
async fn a_server_that_is_killed_keeps_each_message_to_a_bot_once() {
    killed(Network::Bot(BotApi::start().await, 0)).await;
}
