//! What somebody has in the folder of downloads: a file that no configuration names, one chat from two devices, names
//! that are orders to a terminal.

use std::fs;

use mcp_proto::Era;
use serde_json::json;

use crate::assert_has;
use crate::mcp::harness::{TestSetup, structured};

const ANN: &str = "13/12/2023, 18:05 - Ann: hello\n13/12/2023, 18:06 - Me: hi\n";

/// A setup without a configuration.
fn nowhere() -> TestSetup {
    let setup = TestSetup::new("");
    fs::remove_file(setup.path("config.toml")).unwrap();
    setup
}

#[tokio::test]
async fn a_file_without_a_configuration_becomes_a_source() {
    let setup = nowhere();
    setup.write("downloads/WhatsApp Chat with Ann.txt", ANN);
    let file = setup.path("downloads/WhatsApp Chat with Ann.txt");
    let (code, stdout, stderr) = setup.run("import", &[file.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout, "whatsapp: 1 chats, 2 messages, 0 left out\n");
    assert_has(&stderr, &["added to ", "config.toml: whatsapp"]);
    let (code, stdout, _) = setup.run("search", &["hello"]).await;
    assert_eq!((code, stdout.lines().count()), (0, 1), "{stdout}");
    // Once more, it is the same source; a folder that has it and others would count it twice.
    let (code, stdout, _) = setup.run("import", &[file.to_str().unwrap()]).await;
    assert_eq!((code, &*stdout), (0, "whatsapp: nothing new\n"));
    setup.write(
        "downloads/ChatExport_1/result.json",
        r#"{"name":"Bob","type":"personal_chat","id":7,"messages":[
        {"id":1,"type":"message","date_unixtime":"1700000000","from":"Bob","from_id":"user7","text":"ahoy"}]}"#,
    );
    let folder = setup.path("downloads");
    let folder = folder.to_str().unwrap();
    let (code, stdout, stderr) = setup.run("import", &[folder]).await;
    assert_eq!((code, &*stdout), (1, ""), "{stderr}");
    assert_has(
        &stderr,
        &["is the source whatsapp already", "change the path of whatsapp", "config.toml"],
    );
    let config = fs::read_to_string(setup.path("config.toml")).unwrap();
    assert!(!config.contains("telegram"), "{config}");
    setup.write("config.toml", &config.replace("/WhatsApp Chat with Ann.txt", ""));
    let (code, stdout, stderr) = setup.run("import", &[folder]).await;
    assert_eq!(code, 0, "{stdout}{stderr}");
    let ids: Vec<&str> = stdout.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(ids, ["telegram", "whatsapp"]);
}

#[tokio::test]
async fn what_is_no_export_is_no_source() {
    let setup = nowhere();
    setup.write("holiday.jpg", "\u{1}picture");
    setup.write("broken.json", r#"{"name":"A","type":"personal_chat","id":1,"messages":[{"id":1"#);
    fs::create_dir(setup.path("empty")).unwrap();
    for (file, words) in [
        ("holiday.jpg", "looked for"),
        ("broken.json", "damaged"),
        ("empty", "found nothing of the kind"),
        ("missing.zip", "no such file"),
    ] {
        let path = setup.path(file);
        let (code, stdout, stderr) = setup.run("import", &[path.to_str().unwrap()]).await;
        assert_eq!((code, &*stdout), (1, ""), "{file}: {stderr}");
        assert!(stderr.contains(words), "{file}: {stderr}");
        assert!(!setup.path("config.toml").exists(), "{file}");
    }
    let (code, _, stderr) = setup.run("import", &[]).await;
    assert!(code == 1 && stderr.contains("no configuration"), "{stderr}");
}

#[tokio::test]
async fn what_is_added_leaves_the_configuration_as_it_is() {
    let setup = TestSetup::new("# mine\nredact_phone_numbers = true # yes\n");
    setup.write("WhatsApp Chat with Ann.txt", ANN);
    let file = setup.path("WhatsApp Chat with Ann.txt");
    let (code, _, stderr) = setup.run("import", &[file.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{stderr}");
    let config = fs::read_to_string(setup.path("config.toml")).unwrap();
    assert!(config.starts_with("# mine\nredact_phone_numbers = true # yes\n"), "{config}");
    assert!(config.contains("kind = \"whatsapp-export\""), "{config}");
}

const PHONES: &str = "
[[source]]
id = \"old\"
kind = \"whatsapp-export\"
path = \"old\"
zone = \"UTC\"

[[source]]
id = \"new\"
kind = \"whatsapp-export\"
path = \"new\"
zone = \"UTC\"
";

fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(line).collect()
}

/// One telephone writes seconds and another name, and the other one is two hours ahead.
#[tokio::test]
async fn one_chat_of_two_devices_is_told_where_it_counts_twice() {
    for ahead in [0, 2] {
        let setup = TestSetup::new(PHONES);
        setup.write(
            "old/WhatsApp Chat with Ann.txt",
            &lines(30, |n| format!("13/12/2023, 10:{n:02} - Ann: the boat has number {n}\n")),
        );
        let hour = 10 + ahead;
        setup.write(
            "new/WhatsApp Chat - Annie.txt",
            &lines(40, |n| {
                format!("[13/12/2023, {hour}:{n:02}:07] Annie: the boat has number {n}\n")
            }),
        );
        setup.write(
            "new/WhatsApp Chat - Bob.txt",
            &lines(40, |n| format!("[13/12/2023, 10:{n:02}:07] Bob: something else, {n}\n")),
        );
        let (code, stdout, stderr) = setup.run("import", &[]).await;
        assert_eq!(code, 0, "{stdout}{stderr}");
        let told = ["old:Ann", "new:Annie", "perhaps one chat", "count twice"];
        assert!(told.iter().all(|it| stderr.contains(it)), "{ahead}: {stderr}");
        assert!(!stderr.contains("Bob"), "{stderr}");
        let running = setup.start();
        let client = running.client(Era::Modern).await;
        let sources = structured(&client, "list_sources", json!({})).await;
        for source in sources["sources"].as_array().unwrap() {
            assert_eq!(source["twice"].as_array().unwrap().len(), 1, "{source}");
        }
        for (tool, arguments) in [
            ("list_chats", json!({})),
            ("list_people", json!({})),
            ("get_statistics", json!({})),
            ("search_messages", json!({ "query": "boat", "limit": 100 })),
        ] {
            let told = structured(&client, tool, arguments).await;
            let note = told["note"].as_str().unwrap_or_default();
            assert!(note.contains("old:Ann and "), "{tool}: {told}");
        }
        let one = structured(&client, "get_statistics", json!({ "source": "old" })).await;
        assert_has(one["note"].as_str().unwrap(), &["new:Annie has the newer messages"]);
        client.close().await.unwrap();
    }
}

/// The same chat from an Android telephone and an iPhone of one person is one chat.
#[tokio::test]
async fn seconds_make_no_other_message() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"export\"\nzone = \"UTC\"\n",
    );
    setup.write("export/WhatsApp Chat with Ann.txt", ANN);
    setup.write(
        "export/WhatsApp Chat - Ann/_chat.txt",
        "[13/12/2023, 18:05:09] Ann: hello\n[13/12/2023, 18:06:30] Me: hi\n[13/12/2023, 18:06:31] Me: hi\n",
    );
    let (code, _, stderr) = setup.run("import", &[]).await;
    assert_eq!(code, 0, "{stderr}");
    let (_, stdout, _) = setup.run("chats", &[]).await;
    assert!(stdout.contains("3 messages"), "{stdout}");
}

/// Two members of a group have exported it, each with other names for the others.
#[tokio::test]
async fn one_group_of_two_people_is_told_too() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"export\"\nzone = \"UTC\"\n",
    );
    let group = |names: [&str; 3]| {
        lines(30, |n| {
            let name = names[n as usize % 3];
            format!("13/12/2023, 10:{n:02} - {name}: something that is said once, {n}\n")
        })
    };
    setup.write("export/mine/WhatsApp Chat with Family.txt", &group(["Mum", "Ann", "Bob"]));
    setup.write("export/hers/WhatsApp Chat with Family.txt", &group(["Me", "Daughter", "Son"]));
    let (_, _, stderr) = setup.run("import", &[]).await;
    assert_has(&stderr, &["w:Family was perhaps exported by two people"]);
}

const ORDERS: &str = "\u{1b}[31m\u{9b}2J\u{7}";

/// In every format, in errors, in what is listed of sources, and in what a model gets.
#[tokio::test]
async fn no_name_is_an_order_to_a_terminal_anywhere() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"export\"\nzone = \"UTC\"\nwatch = true\n\n\
         [[source]]\nid = \"t\"\nkind = \"telegram-export\"\npath = \"gone\\u001b[31m\"\n",
    );
    let chat = format!("Ann {ORDERS}");
    setup.write(
        &format!("export/WhatsApp Chat with {chat}.txt"),
        &format!("3/4/24, 18:05 - {chat}: hello {ORDERS}\n3/4/24, 18:05 - Bob: fine\n"),
    );
    setup.write(&format!("export/notes {ORDERS}.txt"), "no chat");
    let is_clean = |text: &str| !text.contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{7f}']);
    for (command, arguments) in [
        ("import", &[][..]),
        ("check-config", &[]),
        ("sources", &[]),
        ("sources", &["--format", "json"]),
        ("chats", &[]),
        ("chats", &["--format", "csv"]),
        ("chats", &["--format", "json"]),
        ("messages", &[]),
        ("messages", &["--format", "csv"]),
        ("messages", &["--format", "json"]),
        ("messages", &["annn"]),
        ("messages", &["\u{1b}[31m"]),
        ("search", &["hello"]),
        ("import", &["\u{1b}[31m"]),
        ("day-order", &["\u{1b}[31m", "day-first"]),
    ] {
        let (_, stdout, stderr) = setup.run(command, arguments).await;
        assert!(is_clean(&stdout), "{command} {arguments:?}: {stdout:?}");
        assert!(is_clean(&stderr), "{command} {arguments:?}: {stderr:?}");
    }
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    for (tool, arguments) in [
        ("list_sources", json!({})),
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("get_messages", json!({ "chat": "annn" })),
        ("search_messages", json!({ "query": "hello" })),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
    ] {
        let told = client.call_tool_raw(tool, arguments).await.unwrap();
        let text = told["content"][0]["text"].as_str().unwrap();
        let escaped = ["\\u001b", "\\u0007", "\\u009b"];
        assert!(is_clean(text) && !escaped.iter().any(|it| text.contains(it)), "{tool}: {text}");
    }
    let listed = client.request("resources/list", json!({})).await.unwrap();
    assert!(is_clean(listed["resources"][0]["name"].as_str().unwrap()), "{listed}");
    let uri = json!({ "uri": "messages://w/*" });
    let read = client.request("resources/read", uri).await.unwrap();
    assert!(is_clean(read["contents"][0]["text"].as_str().unwrap()), "{read}");
}
