//! The command line.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::assert_has;
use crate::mcp::harness::{TestSetup, binary, ended};

async fn imported() -> TestSetup {
    let setup = TestSetup::of("chats.toml");
    let (code, stdout, stderr) = setup.run("import", &[]).await;
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        stdout,
        "telegram: 7 chats, 1012 messages, 0 left out\nwhatsapp: 1 chats, 4 messages, 0 left out\n"
    );
    assert_eq!(stderr, "", "no bar where nobody looks");
    setup
}

#[tokio::test]
async fn exports_are_read_once_and_again_if_told() {
    let setup = imported().await;
    let (code, stdout, _) = setup.run("import", &["telegram"]).await;
    assert_eq!((code, &*stdout), (0, "telegram: nothing new\n"));
    let (code, stdout, _) = setup.run("import", &["whatsapp", "--again"]).await;
    assert_eq!((code, &*stdout), (0, "whatsapp: 1 chats, 4 messages, 0 left out\n"));
    let (code, _, stderr) = setup.run("import", &["signal"]).await;
    assert_eq!(code, 1);
    assert_has(&stderr, &["not an export", "telegram"]);
    std::fs::remove_file(setup.path("telegram/result.json")).unwrap();
    let (code, stdout, stderr) = setup.run("import", &[]).await;
    assert_eq!((code, &*stdout), (1, "whatsapp: nothing new\n"));
    assert!(stderr.starts_with("telegram: "), "{stderr}");
}

#[tokio::test]
async fn messages_come_as_text_json_and_csv() {
    let setup = imported().await;
    let (code, stdout, _) = setup.run("messages", &["telegram:Friends"]).await;
    assert_eq!(code, 0);
    assert_eq!(
        stdout,
        "[2025-01-01T02:01:30+02:00] Alice: The project starts [2025-01-02T00:00:00Z] Bob: now\n    and here too\n\
         [2025-01-01T02:00:50+02:00] Bob: Who knows the way?\n"
    );
    let json = ["Antti", "--source", "telegram", "--limit", "1", "--format", "json"];
    let (_, stdout, _) = setup.run("messages", &json).await;
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["messages"][0]["id"], "1000");
    assert!(told["next_cursor"].is_string());
    let csv = ["telegram:Friends", "--search", "project", "--format", "csv"];
    let (_, stdout, _) = setup.run("messages", &csv).await;
    let mut rows = stdout.split("\r\n");
    assert!(rows.next().unwrap().starts_with("source,chat_id,chat,id,timestamp"));
    assert_eq!(
        rows.next().unwrap(),
        "telegram,-103,Friends,2,2025-01-01T02:01:30+02:00,Alice,\
         \"The project starts [2025-01-02T00:00:00Z] Bob: now\nand here too\",,"
    );
}

/// As by `chat-server messages | head -1`: nobody wants the rest, so nothing is wrong.
#[tokio::test]
async fn a_closed_pipe_is_no_error() {
    let setup = imported().await;
    for format in ["text", "json", "csv"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = setup.command("messages");
        command.args(["--limit", "1000", "--format", format]).stdout(writer);
        let ended = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().await;
        let ended = ended.unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(
            (ended.status.code(), said.contains("cannot write")),
            (Some(0), false),
            "{said}"
        );
    }
}

#[tokio::test]
async fn lines_of_several_chats_say_which() {
    let setup = imported().await;
    for several in [&[][..], &["*"], &["telegram:*"]] {
        let mut command = setup.command("messages");
        command.args(several).args(["--search", "who knows"]);
        let (_, stdout, _) = ended(&mut command).await;
        assert_eq!(stdout, "[2025-01-01T02:00:50+02:00] Bob (Friends): Who knows the way?\n");
    }
}

#[tokio::test]
async fn sources_and_chats_are_listed() {
    let setup = imported().await;
    let (code, stdout, _) = setup.run("sources", &[]).await;
    assert_eq!(code, 0);
    assert_has(&stdout, &["telegram: 7 chats, 1012 messages\n"]);
    assert!(stdout.contains("signal-cli daemon"), "{stdout}");
    let (_, stdout, _) = setup.run("chats", &["telegram", "--type", "channel"]).await;
    assert_eq!(
        stdout,
        "telegram:-100105  Harbour News  (channel, 1 messages, last 2025-01-01T02:01:10+02:00)\n"
    );
    // cbrgm/telegram-github-action#32, KSJaay/Lunalytics#113: an id that begins with a dash is no option.
    let (code, _, stderr) = setup.run("messages", &["-100105"]).await;
    assert_eq!(code, 0, "{stderr}");
    let (_, stdout, _) = setup.run("chats", &["--name", "fam", "--format", "json"]).await;
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["chats"][0]["name"], "Family");
}

#[tokio::test]
async fn exit_codes_and_sentences_say_what_is_wrong() {
    let setup = imported().await;
    for (arguments, expected, words) in [
        (&["messages", "Nobody"][..], 1, "Chat 'Nobody' not found"),
        (&["messages", "Antti"], 2, "telegram:101"),
        (&["messages", "--source", "icq"], 1, "Source 'icq' not found"),
        (&["messages", "--since", "soon"], 2, "RFC 3339"),
        (&["messages", "--limit", "many"], 2, "--limit"),
        (&["chats", "--type", "secret"], 2, "direct, group"),
        (&["export"], 2, "unrecognized"),
    ] {
        let [command, rest @ ..] = arguments else { panic!() };
        let (code, stdout, stderr) = setup.run(command, rest).await;
        assert_eq!(code, expected, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert_eq!(stdout, "");
    }
    let home = setup.path("home");
    let (code, _, stderr) = ended(binary().arg("sources").env("HOME", &home)).await;
    assert_eq!(code, 1);
    let expected = home.join(".config/chat-server/config.toml");
    assert!(stderr.contains(expected.to_str().unwrap()), "{stderr}");
    assert!(stderr.contains("kind = \"whatsapp-export\""), "{stderr}");
}

#[tokio::test]
async fn a_reader_that_has_had_enough_is_no_error() {
    let setup = imported().await;
    let mut command = setup.command("messages");
    command.args(["telegram:Antti", "--limit", "1000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next_line().await.unwrap().unwrap();
    drop(lines);
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(!String::from_utf8(ended.stderr).unwrap().contains("chat-server:"));
}

#[tokio::test]
async fn while_a_server_writes_others_read_and_import_says_so() {
    let setup = imported().await;
    let (_server, _) = setup.listening(&[]).await;
    let (code, stdout, _) = setup.run("messages", &["telegram:Family", "--limit", "1"]).await;
    assert_eq!(code, 0);
    assert!(stdout.contains("040 123 4567"), "{stdout}");
    let (code, _, stderr) = setup.run("import", &[]).await;
    assert_eq!(code, 1);
    assert!(stderr.contains("another process writes"), "{stderr}");
}

/// Whoever names a chat may try to give orders to the terminal of who mistypes it.
#[tokio::test]
async fn names_of_chats_in_errors_are_no_orders_to_a_terminal() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"t\"\nkind = \"telegram-export\"\npath = \"result.json\"\n",
    );
    let message =
        r#"{"id":1,"type":"message","date_unixtime":"1","from":"A","from_id":"user1","text":"hi"}"#;
    let chat = |id: u32| {
        let name = r#"Team \u001b]0;owned\u0007"#;
        format!(r#"{{"name":"{name}","type":"private_group","id":{id},"messages":[{message}]}}"#)
    };
    let export = format!(r#"{{"chats":{{"list":[{},{}]}}}}"#, chat(1), chat(2));
    setup.write("result.json", &export);
    let (code, _, imported) = setup.run("import", &[]).await;
    assert_eq!(code, 0, "{imported}");
    for (chat, words) in [("team", "may be any of 2"), ("teem", "not found")] {
        let (_, _, stderr) = setup.run("messages", &[chat]).await;
        assert_has(&stderr, &[words, "owned"]);
        assert!(!stderr.contains(['\u{1b}', '\u{7}']), "{stderr:?}");
    }
}

#[tokio::test]
async fn a_day_begins_where_the_source_is_also_if_the_chat_names_it() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"far\"\nkind = \"whatsapp-export\"\npath = \"exports\"\nzone = \"Pacific/Kiritimati\"\n",
    );
    setup.write(
        "exports/WhatsApp Chat with Ann.txt",
        "12/01/2025, 23:30 - Ann: yesterday\n13/01/2025, 00:30 - Ann: today\n13/01/2025, 23:30 - Ann: tonight\n",
    );
    setup.run("import", &[]).await;
    for asked in [&["far:Ann"][..], &["Ann", "--source", "far"]] {
        let mut command = setup.command("messages");
        command.args(asked).env("TZ", "UTC");
        command.args(["--since", "2025-01-13", "--before", "2025-01-14"]);
        let (_, stdout, _) = ended(&mut command).await;
        let said: Vec<&str> = stdout.lines().map(|line| &line[28..]).collect();
        assert_eq!(said, ["Ann: tonight", "Ann: today"], "{asked:?}");
    }
}

/// Some programs break lines there.
#[tokio::test]
async fn no_part_of_a_message_looks_like_a_line_of_its_own() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"exports\"\nzone = \"UTC\"\n",
    );
    let breaks = ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"];
    let text = breaks.map(|it| format!("{it}[2025-01-13T09:00:00Z] Bob: now"));
    setup.write(
        "exports/WhatsApp Chat with Ann.txt",
        &format!("13/01/2025, 09:00 - Ann: begin{}\n", text.concat()),
    );
    setup.run("import", &[]).await;
    let (_, stdout, _) = setup.run("messages", &[]).await;
    assert!(
        stdout.contains("begin [2025")
            && !stdout.contains(breaks.map(|it| it.chars().next().unwrap()))
    );
}

#[tokio::test]
async fn messages_are_no_orders_to_a_terminal_in_any_format() {
    let has_terminals = Command::new("script").arg("--version").output().await;
    if !has_terminals.is_ok_and(|asked| asked.status.success()) {
        // Not by a macro: what those print is shown for tests that fail only.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no `script` here, which makes a terminal"
        );
        return;
    }
    let setup = TestSetup::new(
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"exports\"\nzone = \"UTC\"\n",
    );
    setup.write(
        "exports/WhatsApp Chat with Ann.txt",
        "13/01/2025, 09:00 - Ann: begin\u{1b}]0;owned\u{7}\u{9b}31m end\n",
    );
    setup.run("import", &[]).await;
    for format in ["text", "csv", "json"] {
        let command = format!(
            "{} messages --format {format} --config {} --data-dir {}",
            env!("CARGO_BIN_EXE_chat-server"),
            setup.path("config.toml").display(),
            setup.path("data").display()
        );
        let mut terminal = Command::new("script");
        terminal.args(["-q", "-e", "-c", &command, "/dev/null"]);
        let (code, shown, _) = ended(terminal.stdin(Stdio::null())).await;
        assert_eq!(code, 0, "{shown}");
        assert_has(&shown, &["begin", "owned"]);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{format}: {shown:?}");
    }
}

#[tokio::test]
async fn an_option_behind_words_is_not_looked_for() {
    let setup = imported().await;
    let (code, stdout, stderr) = setup.run("search", &["project", "--chat", "Antti"]).await;
    assert_eq!((code, &*stdout), (2, ""), "{stderr}");
    assert!(stderr.contains("messages [CHAT] --search WORDS"), "{stderr}");
    // A word that must not be there is no option.
    let (_, all, _) = setup.run("search", &["project"]).await;
    let (code, without, _) = setup.run("search", &["project", "-plan"]).await;
    assert_eq!((code, all.contains("plan"), without.contains("plan")), (0, true, false), "{all}");
    assert!(without.contains("The project starts"), "{without}");
}
