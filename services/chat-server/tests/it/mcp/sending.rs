//! Messages and reactions that go out: only into chats that the person names, and only if they agree.

use std::sync::{Arc, Mutex};

use chat_server::config::Config;
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, Stderr};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::harness::{BOTH, HANG, TestSetup, error_of, structured};
use crate::assert_has;
use crate::fake::bot_api::{self, BotApi};
use crate::fake::signal_daemon::{Endpoint, from_anna};

/// A daemon that answers what it is to send, one after the other.
struct Signal {
    _dir: TempDir,
    setup: TestSetup,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Signal {
    /// `answers` are the results or errors of the requests; `null` ends the connection.
    fn start(send_to: &str, answers: Vec<Value>) -> Self {
        Self::of("account = \"+9\"", send_to, answers)
    }

    fn of(account: &str, send_to: &str, answers: Vec<Value>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::unix(&dir.path().join("socket"));
        let setup = TestSetup::new(&format!(
            "[[source]]\nid = \"signal\"\nkind = \"signal-cli\"\n{}\n{account}\n{send_to}\n\
             [[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\n",
            endpoint.line()
        ));
        setup.write("wa/WhatsApp Chat with Bob.txt", "25/03/2024, 10:00 - Bob: hi\n");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut listening = Vec::new();
            let mut answers = answers.into_iter();
            loop {
                let mut daemon = endpoint.meet().await;
                let mut requests = daemon.requests().await;
                if requests.len() > 1 {
                    daemon.introduce(&requests).await;
                    let question = json!({"message": "are you there?"});
                    daemon.send(from_anna(1_700_000_000_001, question)).await;
                    listening.push(daemon);
                    continue;
                }
                heard.lock().unwrap().push(requests.remove(0));
                // What comes in is sent to all connections.
                daemon.send(from_anna(1_700_000_000_002, json!({"message": "hello?"}))).await;
                if let Some(answer) = answers.next().unwrap().as_object_mut() {
                    answer.insert("id".to_owned(), json!(1));
                    daemon.write(format!("{}\n", json!(answer)).as_bytes()).await;
                }
            }
        });
        Self { _dir: dir, setup, requests }
    }

    fn asked(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn sent(at: i64) -> Value {
    json!({"result": {"timestamp": at, "results": [{"type": "SUCCESS"}, {"type": "SUCCESS"}]}})
}

/// A client whose person says this, and what they were asked.
fn person(era: Era, agrees: bool) -> (ClientConfig, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let mut config = ClientConfig::new(era).with_answers(move |question| {
        let message = question.params["message"].as_str().unwrap().to_owned();
        heard.lock().unwrap().push(message);
        async move { Ok(json!({"action": "accept", "content": {"agreed": agrees}})) }
    });
    config.capabilities.insert("elicitation".to_owned(), json!({}));
    config.stderr = Stderr::Captured;
    (config, asked)
}

async fn tools(client: &Client) -> Vec<String> {
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What an agent does with a client, over pipes or over HTTP.
async fn as_an_agent(signal: &Signal, connect: impl AsyncFn(ClientConfig) -> Client, era: Era) {
    let to_team = json!({"source": "signal", "chat": "Team", "text": "See you at 10"});
    let mut nobody = ClientConfig::new(era);
    nobody.stderr = Stderr::Captured;
    let client = connect(nobody).await;
    assert!(tools(&client).await.contains(&"send_message".to_owned()));
    until_known(&client, "Team").await;
    let (code, words) = error_of(&client, "send_message", to_team.clone()).await;
    assert_eq!(code, "CANNOT_ASK");
    assert_has(&words, &["nothing was sent", "this client cannot ask them"]);
    client.close().await.unwrap();

    let (config, asked) = person(era, false);
    let client = connect(config).await;
    until_known(&client, "Team").await;
    let (code, _) = error_of(&client, "send_message", to_team.clone()).await;
    assert_eq!(code, "DECLINED");
    let question = "Send this to Team (group of 3 in signal, id Zm9v)?\n\nSee you at 10";
    assert_eq!(*asked.lock().unwrap(), [question]);
    client.close().await.unwrap();
    assert!(signal.asked().is_empty(), "{:?}", signal.asked());

    let (config, asked) = person(era, true);
    let client = connect(config).await;
    until_known(&client, "Anna").await;
    for (arguments, expected, parts) in [
        (
            json!({"source": "signal", "chat": "Anna", "text": "hi"}),
            "NOT_ALLOWED",
            ["Anna (direct chat in signal, id u-anna)", "it names team"],
        ),
        (
            json!({"source": "wa", "chat": "Bob", "text": "hi"}),
            "CANNOT_SEND",
            ["'wa' is an export", "signal-cli"],
        ),
        (
            json!({"chat": "*", "source": "signal", "text": "hi"}),
            "INVALID_PARAMETER",
            ["give one chat", "chat"],
        ),
        (
            json!({"chat": "Team", "source": "signal", "text": "hi\u{e0041}"}),
            "INVALID_PARAMETER",
            ["cannot be seen", "text"],
        ),
    ] {
        let (code, words) = error_of(&client, "send_message", arguments).await;
        assert_eq!(code, expected, "{words}");
        assert_has(&words, &parts);
    }
    assert!(asked.lock().unwrap().is_empty(), "what cannot be sent is not asked about");

    let answer = structured(&client, "send_message", to_team).await;
    assert_eq!(
        answer,
        json!({"sent": true, "source": "signal", "chat": "Team", "message_id": "1700000000005-+9"})
    );
    let request = &signal.asked()[0];
    assert_eq!(
        (&request["method"], &request["params"]),
        (&json!("send"), &json!({"groupId": "Zm9v", "message": "See you at 10", "account": "+9"}))
    );
    // It is stored as the owner's, and can be reacted to and answered.
    let read = structured(&client, "get_messages", json!({"chat": "Team"})).await;
    let message = &read["messages"][0];
    assert_eq!((&message["content"], &message["sender"]), (&json!("See you at 10"), &json!("+9")));
    assert_eq!(read["senders"]["+9"]["is_me"], true);
    let reaction = json!({"chat": "Team", "message_id": message["id"], "emoji": "👍"});
    structured(&client, "react", reaction).await;
    assert_eq!(
        signal.asked()[1]["params"],
        json!({"groupId": "Zm9v", "emoji": "👍", "remove": false, "targetTimestamp": 1_700_000_000_005_i64,
            "targetAuthor": "+9", "account": "+9"})
    );
    let read = structured(&client, "get_messages", json!({"chat": "Team"})).await;
    assert_eq!(read["messages"][0]["reactions"][0]["by"], json!(["+9"]));
    let reply = json!({"chat": "Team", "text": "Or at 11", "reply_to": read["messages"][0]["id"]});
    let answer = structured(&client, "send_message", reply).await;
    assert_eq!(answer["note"], "it has not reached 1 of 2 (UNREGISTERED_FAILURE)");
    assert_eq!(signal.asked()[2]["params"]["quoteAuthor"], "+9");
    assert_has(&asked.lock().unwrap()[2], &["Or at 11", "It answers +9: See you at 10"]);
    if let Some(log) = client.stderr() {
        assert_has(&log, &["audit", "send_to=\"team\"", "kind=\"message\"", "outcome=\"sent\""]);
        assert!(!log.contains("See you"), "{log}");
        let asked = log.matches("outcome=\"asked the client\"").count();
        assert_eq!(asked, if era == Era::Modern { 3 } else { 0 }, "{log}");
    }
    client.close().await.unwrap();
}

async fn until_known(client: &Client, chat: &str) {
    let waiting = async {
        loop {
            let chats = structured(client, "list_chats", json!({"stored": true})).await;
            let list = chats["chats"].as_array().unwrap();
            let sources = structured(client, "list_sources", json!({})).await;
            if list.iter().any(|known| known["name"] == chat)
                && sources["sources"][0]["is_connected"] == true
            {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANG, waiting).await.unwrap();
}

fn answers() -> Vec<Value> {
    let partly = json!({"result": {"timestamp": 1_700_000_000_006_i64,
        "results": [{"type": "SUCCESS"}, {"type": "UNREGISTERED_FAILURE"}]}});
    vec![sent(1_700_000_000_005), sent(1_700_000_000_007), partly]
}

#[tokio::test]
async fn an_agent_sends_over_http_what_the_person_agrees_to() {
    for era in BOTH {
        let signal = Signal::start("send_to = [\"Team\"]", answers());
        let (_server, url) = signal.setup.listening(&[]).await;
        let connect = async |config| Client::http(&url, config).await.unwrap();
        as_an_agent(&signal, connect, era).await;
    }
}

#[tokio::test]
async fn an_agent_sends_over_pipes_what_the_person_agrees_to() {
    for era in BOTH {
        let signal = Signal::start("send_to = [\"Team\"]", answers());
        let connect =
            async |config| Client::stdio(signal.setup.command("mcp"), config).await.unwrap();
        as_an_agent(&signal, connect, era).await;
    }
}

/// A second server on the same index does not write it: what it sends is sent, and it says that it is not stored.
#[tokio::test]
async fn beside_another_server_what_is_sent_is_not_stored() {
    let signal = Signal::start("send_to = [\"Team\"]", vec![sent(1_700_000_000_005)]);
    let (_server, url) = signal.setup.listening(&[]).await;
    let first = Client::http(&url, ClientConfig::new(Era::Modern)).await.unwrap();
    until_known(&first, "Team").await;
    let (config, _) = person(Era::Modern, true);
    let second = Client::stdio(signal.setup.command("mcp"), config).await.unwrap();
    let asked = json!({"chat": "Team", "text": "hi"});
    let answer = structured(&second, "send_message", asked).await;
    assert_eq!(answer["sent"], true);
    assert_has(answer["note"].as_str().unwrap(), &["it is not stored here"]);
    assert_eq!(signal.asked().len(), 1);
}

/// An operator may offer only what reads.
#[tokio::test]
async fn a_server_that_only_reads_sends_nothing() {
    let signal = Signal::start("send_to = [\"Team\"]", vec![]);
    let (_server, url) = signal.setup.listening(&["--read-only"]).await;
    for era in BOTH {
        let client = Client::http(&url, person(era, true).0).await.unwrap();
        assert_eq!(tools(&client).await.len(), 8);
        let asked = json!({"name": "send_message", "arguments": {"chat": "Team", "text": "hi"}});
        assert!(client.request("tools/call", asked).await.is_err());
    }
    assert!(signal.asked().is_empty());
}

/// Without the option there is no such tool, and the instructions say so.
#[tokio::test]
async fn nothing_can_be_sent_by_default() {
    let signal = Signal::start("", vec![]);
    let running = signal.setup.start();
    for era in BOTH {
        let client = running.client(era).await;
        assert_eq!(tools(&client).await.len(), 8);
        let told = client.call_tool("send_message", json!({"chat": "Team", "text": "x"})).await;
        assert!(told.is_err(), "{told:?}");
        client.close().await.unwrap();
    }
    let text =
        "[[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\nsend_to = [\"Bob\"]\n";
    let problem = Config::parse(text, signal.setup.path("").as_path()).unwrap_err();
    assert_has(&problem, &["`send_to` belongs to signal-cli and telegram-bot alone"]);
}

/// Without `account` the daemon is asked whose it is. If it serves several, the message is sent, and is not stored
/// under an author that does not exist.
#[tokio::test]
async fn the_daemon_is_asked_whose_account_it_is() {
    let one = json!({"result": [{"number": "+9"}]});
    let several = json!({"result": [{"number": "+8"}, {"number": "+9"}]});
    let none = json!({"error": {"code": -32601, "message": "Method not implemented"}});
    for (accounts, is_stored) in [(one, true), (several, false), (none, false)] {
        let answers = vec![accounts, sent(1_700_000_000_100)];
        let signal = Signal::of("", "send_to = [\"Team\"]", answers);
        let running = signal.setup.start();
        let server = chat_server::mcp::server(running.service.clone()).unwrap();
        let client = Client::memory(server, person(Era::Modern, true).0).await.unwrap();
        until_known(&client, "Team").await;
        let asked = json!({"chat": "Team", "text": "hi"});
        let answer = structured(&client, "send_message", asked).await;
        assert_eq!(answer["sent"], true);
        let methods: Vec<Value> = signal.asked().iter().map(|it| it["method"].clone()).collect();
        assert_eq!(methods, ["listAccounts", "send"]);
        let read = structured(&client, "get_messages", json!({"chat": "Team"})).await;
        if is_stored {
            assert_eq!(answer["message_id"], "1700000000100-+9");
            assert_eq!(read["messages"][0]["content"], "hi");
            assert_eq!(read["senders"]["+9"]["is_me"], true);
        } else {
            assert_eq!(answer["message_id"], Value::Null);
            assert_has(answer["note"].as_str().unwrap(), &["not stored", "set `account`"]);
            assert_eq!(read["messages"], json!([]));
        }
    }
}

/// What the daemon does not send is not said to be sent, and what it may have sent is not said to be lost.
#[tokio::test]
async fn a_failure_says_whether_something_was_sent() {
    let refused = json!({"error": {"code": -1, "message": "Group not found"}});
    let offline = json!({"error": {"code": -3, "message": "timeout"}});
    let broken = json!({"error": {"code": -32603, "message": "a defect"}});
    let none = json!({"result": {"timestamp": 1, "results": [{"type": "NETWORK_FAILURE"}]}});
    let answers = vec![refused, offline, broken, none, Value::Null];
    let signal = Signal::start("send_to = [\"Zm9v\"]", answers);
    let running = signal.setup.start();
    let server = chat_server::mcp::server(running.service.clone()).unwrap();
    let client = Client::memory(server, person(Era::Modern, true).0).await.unwrap();
    until_known(&client, "Team").await;
    let to_team = json!({"chat": "Team", "text": "hi"});
    for (expected, part) in [
        ("NOT_SENT", "nothing was sent: signal-cli answers: Group not found"),
        ("MAYBE_SENT", "it may have been sent or not (signal-cli answers: timeout)"),
        ("MAYBE_SENT", "it may have been sent or not (signal-cli answers: a defect)"),
        ("MAYBE_SENT", "it has not reached 1 of 1 (NETWORK_FAILURE)"),
        ("MAYBE_SENT", "has closed the connection before it has answered"),
    ] {
        let (code, words) = error_of(&client, "send_message", to_team.clone()).await;
        assert_eq!(code, expected, "{words}");
        assert_has(&words, &[part]);
    }
    let read = structured(&client, "get_messages", json!({"chat": "Team"})).await;
    assert_eq!(read["messages"], json!([]));
}

/// Others choose the names of groups: a name that two chats have allows neither, and a name that is the id of another
/// chat allows only that chat.
#[tokio::test]
async fn a_group_with_the_name_or_id_of_a_person_gets_nothing() {
    named_like("anna", "Anna", &["YmFk", "u-anna"]).await;
    named_like("u-anna", "u-anna", &["YmFk"]).await;
}

async fn named_like(name: &str, send_to: &str, refused: &[&str]) {
    let signal = Signal::start(&format!("send_to = [\"{send_to}\"]"), vec![]);
    let running = signal.setup.start();
    let server = chat_server::mcp::server(running.service.clone()).unwrap();
    let client = Client::memory(server, person(Era::Modern, true).0).await.unwrap();
    until_known(&client, "Anna").await;
    // As it comes in from the network.
    let sink = running.service.registry().sink("signal", running.service.index());
    let chat = chat_server::model::Chat {
        id: "YmFk".to_owned(),
        name: name.to_owned(),
        kind: chat_server::model::ChatKind::Group,
        participants: None,
    };
    let events = vec![chat_server::source::Event::Chat(chat)];
    sink.keep(chat_server::source::Batch { events, ..Default::default() }).await.unwrap();
    for chat in refused {
        let asked = json!({"source": "signal", "chat": chat, "text": "the code is 1234"});
        let (code, words) = error_of(&client, "send_message", asked).await;
        assert_eq!(code, "NOT_ALLOWED", "{words}");
        assert_has(&words, &["by a name that no other chat has"]);
    }
    assert!(signal.asked().is_empty());
}

#[tokio::test]
async fn a_bot_sends_and_reacts() {
    let api = BotApi::start().await;
    let config = format!(
        "[[source]]\nid = \"bot\"\nkind = \"telegram-bot\"\nbase_url = \"{}\"\ntoken_file = \"token\"\nsend_to = [\"-1007\"]\n",
        api.url
    );
    let setup = TestSetup::new(&config);
    setup.write("token", "123:secret\n");
    api.push([bot_api::numbered(1)], &[]);
    let message = json!({"message_id": 9, "date": 1_700_000_009, "text": "fine", "chat": {"id": -1007, "type": "supergroup", "title": "Team"},
        "from": {"id": 123, "is_bot": true, "first_name": "Helper"}, "reply_to_message": {"message_id": 1}});
    api.state().answers.extend([
        json!({"ok": true, "result": message}),
        json!({"ok": true, "result": true}),
        json!({"ok": false, "error_code": 403, "description": "Forbidden: bot was kicked"}),
        json!({"ok": false, "error_code": 502, "description": "Bad Gateway"}),
    ]);
    let running = setup.start();
    let server = chat_server::mcp::server(running.service.clone()).unwrap();
    let client = Client::memory(server, person(Era::Modern, true).0).await.unwrap();
    until_known(&client, "Team").await;
    let reply = json!({"chat": "Team", "text": "fine", "reply_to": "1"});
    let answer = structured(&client, "send_message", reply.clone()).await;
    assert_eq!(answer["message_id"], "9");
    let reaction = json!({"chat": "Team", "message_id": "1", "emoji": "👍"});
    structured(&client, "react", reaction).await;
    for (expected, part) in
        [("NOT_SENT", "403 Forbidden: bot was kicked"), ("MAYBE_SENT", "502 Bad Gateway")]
    {
        let (code, words) = error_of(&client, "send_message", reply.clone()).await;
        assert_eq!(code, expected);
        assert_has(&words, &[part]);
        assert!(!words.contains("secret"));
    }
    let sent: Vec<(String, Value)> = api.state().sent.clone();
    assert_eq!(
        sent[..2],
        [
            (
                "/bot123:secret/sendMessage".to_owned(),
                json!({"chat_id": -1007, "text": "fine", "reply_parameters": {"message_id": 1}})
            ),
            (
                "/bot123:secret/setMessageReaction".to_owned(),
                json!({"chat_id": -1007, "message_id": 1, "reaction": [{"type": "emoji", "emoji": "👍"}]})
            ),
        ]
    );
    let read = structured(&client, "get_messages", json!({"chat": "Team"})).await;
    let newest = &read["messages"][0];
    assert_eq!(
        (&newest["content"], &newest["sender"], &newest["reply_to"]),
        (&json!("fine"), &json!("Helper"), &json!("1"))
    );
    assert_eq!(read["messages"][1]["reactions"][0]["by"], json!(["Helper"]));
}
