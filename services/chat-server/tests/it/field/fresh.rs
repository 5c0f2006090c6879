//! Reports that were found later, each with its thread.

use chat_server::model::{Body, Message};
use mcp_proto::Era;
use serde_json::{Value, json};

use crate::assert_has;
use crate::import::{options, read, read_text, words};
use crate::mcp::harness::{TestSetup, structured};

/// A thread, the text of a WhatsApp chat, and each message: its minute, its sender, and what it says.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

const WHATSAPP: [Case; 15] = [
    (
        "Pustur/whatsapp-chat-parser#199",
        "[7/11/2017, 8:20:41 PM] someone: bla\n[7/13/2017, 8:20:41 PM] someone: blub\n",
        &[("2017-07-11T20:20", "someone", "bla"), ("2017-07-13T20:20", "someone", "blub")],
    ),
    (
        "Pustur/whatsapp-chat-parser#224",
        "20/6/2017 8:28 p.\u{a0}m. - Michelle: test\n",
        &[("2017-06-20T20:28", "Michelle", "test")],
    ),
    (
        "toneworm/whatsapp-text-to-json#15",
        "1/2/22, 9:05 - Sven: hi\n23/2/22, 9:06 - Sven: again\n",
        &[("2022-02-01T09:05", "Sven", "hi"), ("2022-02-23T09:06", "Sven", "again")],
    ),
    (
        "nmoya/whatsapp-parser#4, old iOS",
        "09/12/2012 17:03:48: Sender Name: one\n",
        &[("2012-12-09T17:03", "Sender Name", "one")],
    ),
    (
        "nmoya/whatsapp-parser#4, American",
        "3/24/14, 1:59:59 PM: Sender Name: two\n",
        &[("2014-03-24T13:59", "Sender Name", "two")],
    ),
    (
        "Duelion/whatsapp-wrapped#12",
        "03.08.21, 12:30 - Eva: eins\n03.08.21, 12:30 - Eva: zwei\n",
        &[("2021-08-03T12:30", "Eva", "eins"), ("2021-08-03T12:30", "Eva", "zwei")],
    ),
    (
        "joweich/chat-miner#66",
        "8/21/21, 11:06 PM - NAME: one\n8/9/21, 11:07 PM - NAME: two\n",
        &[("2021-08-21T23:06", "NAME", "one"), ("2021-08-09T23:07", "NAME", "two")],
    ),
    (
        "joweich/chat-miner#54",
        "2021/08/21, 23:06 - NAME: one\n",
        &[("2021-08-21T23:06", "NAME", "one")],
    ),
    (
        "stepva/chatalysis#99",
        "[13.06.2023, 18:08:08] ~ YSL: Zdravime…👋\n",
        &[("2023-06-13T18:08", "YSL", "Zdravime…👋")],
    ),
    (
        "hotosm/chatmap#80",
        "13/06/2023, 18:08 - Eva: The pump\nbehind the school\n13/06/2023, 18:09 - Eva: Pump 4\nlocation: https://maps.google.com/?q=1.5,2.5\n",
        &[
            ("2023-06-13T18:08", "Eva", "The pump\nbehind the school"),
            ("2023-06-13T18:09", "Eva", "[place]"),
        ],
    ),
    (
        "mowolf/ChatAnalyzer#3",
        "04/28/18, 09:15 PM - One: a\n04/28/18, 09:16 PM - Two: b\n\nc,\n04/28/18, 09:17 PM - One: d\n",
        &[
            ("2018-04-28T21:15", "One", "a"),
            ("2018-04-28T21:16", "Two", "b\n\nc,"),
            ("2018-04-28T21:17", "One", "d"),
        ],
    ),
    (
        "JBGruber/rwhatsapp#15",
        "08.02.20, 17:35 - First Last: The time is 17:35.\n2nd line.\n3rd line.\n",
        &[("2020-02-08T17:35", "First Last", "The time is 17:35.\n2nd line.\n3rd line.")],
    ),
    (
        "JBGruber/rwhatsapp#16",
        "06.02.20, 09:33 - First Last: Line 1.\n\nLine 2 - a dash,\n\nSentence with a colon: more.\n06.02.20, 09:41 - First Last: Message 2.\n",
        &[
            (
                "2020-02-06T09:33",
                "First Last",
                "Line 1.\n\nLine 2 - a dash,\n\nSentence with a colon: more.",
            ),
            ("2020-02-06T09:41", "First Last", "Message 2."),
        ],
    ),
    (
        "JBGruber/rwhatsapp#14",
        "06.02.20, 09:33 - A: one\ntwo 😀\nthree\n06.02.20, 09:34 - B: four\n",
        &[("2020-02-06T09:33", "A", "one\ntwo 😀\nthree"), ("2020-02-06T09:34", "B", "four")],
    ),
    (
        "koftezz/whatsapp-chat-analyzer#17",
        "06/02/2020, 09:33 - A: This message was deleted\n06/02/2020, 09:34 - A: <Media omitted>\n06/02/2020, 09:35 - A: a: b\n",
        &[
            ("2020-02-06T09:33", "A", ""),
            ("2020-02-06T09:34", "A", ""),
            ("2020-02-06T09:35", "A", "a: b"),
        ],
    ),
];

fn sender(message: &Message) -> &str {
    message.sender.as_ref().map_or("", |sender| &sender.name)
}

#[test]
fn exports_of_whatsapp() {
    for (thread, text, expected) in WHATSAPP {
        let read = read_text("WhatsApp Chat with Somebody.txt", text);
        let messages = read.messages.iter();
        let found: Vec<(String, &str, &str)> = messages
            .map(|(_, it)| (it.timestamp.to_string()[..16].to_owned(), sender(it), words(&it.body)))
            .collect();
        let found: Vec<(&str, &str, &str)> =
            found.iter().map(|(at, sender, words)| (&**at, *sender, *words)).collect();
        assert_eq!(found, expected, "{thread}");
        assert_eq!(read.summary.skipped, 0, "{thread}");
    }
}

#[test]
fn exports_of_telegram() {
    // joweich/chat-miner#26, keizerzilla/telegram-chat-parser#1: the whole account, and chats that were left.
    let message = |id: u32| json!({"id": id, "type": "message", "date_unixtime": "1700000000", "from": "A", "from_id": "user1", "text": "hi"});
    let chat =
        |id: u32| json!({"name": "A", "type": "private_group", "id": id, "messages": [message(1)]});
    let account = json!({"about": "", "contacts": {"list": []}, "chats": {"about": "", "list": [chat(1), chat(2)]},
        "frequent_contacts": {}, "left_chats": {"about": "", "list": [chat(3)]}});
    assert_eq!(read_text("result.json", &account.to_string()).messages.len(), 3);
    // joweich/chat-miner#31: messages without `from`, without `text`, and with pieces of text.
    let entries = json!([
        {"id": 1, "type": "message", "date_unixtime": "1700000000", "text": "from nobody"},
        {"id": 2, "type": "message", "date_unixtime": "1700000001", "from": "A", "from_id": "user1"},
        {"id": 3, "type": "message", "date_unixtime": "1700000002", "from": "A", "from_id": "user1", "text": ["a ", {"type": "bold", "text": "b"}]},
        // filippz/telegram_import#2: a sentence in place of the path.
        {"id": 4, "type": "message", "date_unixtime": "1700000003", "from": "A", "from_id": "user1", "text": "", "photo": "(File unavailable, please try again later)"},
    ]);
    let export = json!({"name": "A", "type": "personal_chat", "id": 1, "messages": entries});
    let read_one = read_text("result.json", &export.to_string());
    assert_eq!(read_one.texts(), ["from nobody", "", "a b", ""]);
    assert_eq!(read_one.messages[3].1.attachments.len(), 1);
    // telegramdesktop/tdesktop#24984: a path without quotes costs its message alone.
    let good = message(1).to_string();
    let emoji = r#"{"id":2,"type":"message","date_unixtime":"1700000001","from":"A","from_id":"user1","text":[{"type":"custom_emoji","text":"x","document_id": video_files/sticker.webm}]}"#;
    let bare = format!(
        r#"{{"name":"A","type":"personal_chat","id":1,"messages":[{good},{emoji},{}]}}"#,
        message(3)
    );
    let read_bare = read_text("result.json", &bare);
    assert_eq!((read_bare.messages.len(), read_bare.summary.skipped), (2, 1));
    // marph91/jimmy#73: the folder of one chat; timelinize/timelinize#191: a folder with media alone.
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("ChatExport_2026-02-27/photos")).unwrap();
    std::fs::write(dir.path().join("ChatExport_2026-02-27/photos/1.jpg"), "x").unwrap();
    let error = read(dir.path(), &options()).unwrap_err().to_string();
    assert_has(&error, &["looked for", "result.json"]);
    std::fs::write(dir.path().join("ChatExport_2026-02-27/result.json"), export.to_string())
        .unwrap();
    assert_eq!(read(dir.path(), &options()).unwrap().messages.len(), 4);
}

#[test]
fn exports_of_signal() {
    let head = "{\"version\":\"1\"}\n{\"recipient\":{\"id\":\"1\",\"self\":{}}}\n{\"chat\":{\"id\":\"5\",\"recipientId\":\"1\"}}\n";
    let item = |said: &Value| json!({"chatItem": {"chatId": "5", "authorId": "1", "dateSent": "1700000000000", "standardMessage": said}});
    // tbvdm/sigtop#74: a quote without the time of what it quotes.
    let quote =
        item(&json!({"text": {"body": "yes"}, "quote": {"authorId": "1", "text": {"body": "?"}}}));
    let read_quote = read_text("main.jsonl", &format!("{head}{quote}\n"));
    assert_eq!((read_quote.texts(), &read_quote.messages[0].1.reply_to), (vec!["yes"], &None));
    // carderne/signal-export#50: attachments that Signal Desktop itself does not have.
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("Anna")).unwrap();
    let line = r#"{"date":"2024-05-29T15:04:00","sender":"Anna","body":"look","attachments":[{"name":null,"path":"","missing_kind":"media"},{"name":"a.jpg","path":"./media/a.jpg"}]}"#;
    std::fs::write(dir.path().join("Anna/data.json"), format!("{line}\n")).unwrap();
    let read_folder = read(dir.path(), &options()).unwrap();
    assert_eq!(
        (read_folder.texts(), read_folder.messages[0].1.attachments.len()),
        (vec!["look"], 2)
    );
    assert!(matches!(read_folder.messages[0].1.body, Body::Text(_)));
}

const CONFIG: &str = "[[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\nzone = \"Asia/Singapore\"\n";

/// A member of each entry of a list.
fn each<'v>(answer: &'v Value, list: &str, member: &str) -> Vec<&'v str> {
    answer[list].as_array().unwrap().iter().map(|it| it[member].as_str().unwrap()).collect()
}

/// What users of other chat servers met.
#[tokio::test]
async fn answers_of_other_servers() {
    let setup = TestSetup::new(CONFIG);
    let days: String = (1..=28)
        .map(|day| format!("{day:02}/01/2025, 15:30 - Elly ❤️: report {day}\n{day:02}/01/2025, 23:30 - Bob: fine {day}\n"))
        .collect();
    setup.write("wa/WhatsApp Chat with Elly ❤️.txt", &days);
    setup.write(
        "wa/WhatsApp Chat with a random group with elly.txt",
        "01/01/2025, 10:00 - Zoe: no report\n01/01/2025, 10:01 - Zoe: better <This message was edited>\n",
    );
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    // lharries/whatsapp-mcp#146: times without a zone.
    let asked = json!({ "chat": "Elly ❤️", "order": "oldest", "limit": 1 });
    let one = structured(&client, "get_messages", asked).await;
    assert_eq!(one["messages"][0]["timestamp"], "2025-01-01T15:30:00+08:00");
    // korotovsky/slack-mcp-server#257: a day is the person's day.
    let day =
        json!({ "source": "wa", "chat": "Elly ❤️", "since": "2025-01-05", "before": "2025-01-06" });
    let found = structured(&client, "get_messages", day).await;
    assert_eq!(each(&found, "messages", "content"), ["fine 5", "report 5"]);
    // leshchenko1979/fast-mcp-telegram#41, chigwell/telegram-mcp#27: dates, words and limit together, in one chat.
    let all = json!({ "chat": "Elly ❤️", "search": "report", "since": "2025-01-05", "before": "2025-01-20", "limit": 2 });
    let found = structured(&client, "get_messages", all).await;
    assert_eq!(each(&found, "messages", "content"), ["report 19", "report 18"]);
    // felipeadeildo/whatsapp-mcp#8: the name of the chat with each hit.
    let hits = structured(&client, "search_messages", json!({ "query": "\"no report\"" })).await;
    let id = &hits["hits"][0]["message"]["chat_id"];
    let named = hits["chats"].as_array().unwrap().iter().find(|chat| chat["id"] == *id).unwrap();
    assert_eq!(named["name"], "a random group with elly");
    // lharries/whatsapp-mcp#159: a contact is not called like a group that has its name in it.
    let people = structured(&client, "list_people", json!({ "name": "elly" })).await;
    assert_eq!(each(&people, "people", "name"), ["Elly ❤️"]);
    // DeusData/codebase-memory-mcp#2050, modelcontextprotocol/servers#735: a part of a name is written as a pattern.
    let people = structured(&client, "list_people", json!({ "name": "*elly*" })).await;
    assert_eq!(each(&people, "people", "name"), ["Elly ❤️"]);
    let pattern = json!({ "filter": { "name_pattern": "%random%" } });
    let chats = structured(&client, "list_chats", pattern).await;
    assert_eq!(each(&chats, "chats", "name"), ["a random group with elly"]);
    // signalapp/Signal-Android#13298, element-hq/element-meta#3235: an edit without a time has none.
    let better = structured(&client, "get_messages", json!({ "search": "better" })).await;
    let better = &better["messages"][0];
    assert_eq!((&better["edited"], &better["edited_at"]), (&json!(true), &Value::Null));
}
