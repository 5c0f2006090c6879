//! The file that names the sources, and the registry that is made of it.

use std::path::Path;

use chat_server::config::{Config, SignalAddress, SourceKind};
use chat_server::import::Options;
use chat_server::registry::Registry;

use crate::assert_has;

const ALL: &str = r#"
redact_phone_numbers = true

[[source]]
id = "telegram"
name = "Telegram"
kind = "telegram-export"
path = "exports/telegram"
zone = "Europe/Helsinki"
watch = true
deny = ["Bank", "42"]

[[source]]
id = "whatsapp"
kind = "whatsapp-export"
path = "/exports/whatsapp"
day_order = "month-first"
me = "Antti"

[[source]]
id = "bot"
kind = "telegram-bot"
token_file = "token"

[[source]]
id = "signal"
kind = "signal-cli"
tcp = "127.0.0.1:7583"
account = "+358"

[[person]]
name = "Anna"
aliases = ["anna", "+1"]
"#;

#[test]
fn a_whole_file_is_understood() {
    let config = Config::parse(ALL, Path::new("/people/antti")).unwrap();
    assert!(config.redact_phone_numbers);
    assert_eq!(config.people[0].aliases, ["anna", "+1"]);
    let [telegram, whatsapp, bot, signal] = config.sources.as_slice() else { panic!() };
    assert!(
        matches!(&telegram.kind, SourceKind::Export { path, watch: true, options: Options { zone, .. }, .. }
        if path == Path::new("/people/antti/exports/telegram") && zone.iana_name() == Some("Europe/Helsinki"))
    );
    assert!(
        matches!(&whatsapp.kind, SourceKind::Export { path, watch: false, options: Options { me: Some(_), day_order: Some(_), .. }, .. }
        if path == Path::new("/exports/whatsapp"))
    );
    assert_eq!(whatsapp.name, "whatsapp");
    assert!(
        matches!(&bot.kind, SourceKind::TelegramBot { token_file, .. } if token_file == Path::new("/people/antti/token"))
    );
    assert!(matches!(
        &signal.kind,
        SourceKind::SignalCli { address: SignalAddress::Tcp(_), account: Some(_) }
    ));
    let registry = Registry::new(&config);
    assert_eq!(
        registry.iter().map(|it| it.source.id()).collect::<Vec<_>>(),
        ["bot", "signal", "telegram", "whatsapp"]
    );
    assert!(
        allows(&registry, "telegram", "1", "Anna")
            && !allows(&registry, "telegram", "1", " BANK ")
            && !allows(&registry, "telegram", "42", "x")
    );
    assert!(registry.get("nowhere").is_none());
}

/// What is wrong, and what the sentence about it has to say.
#[test]
fn mistakes_are_named() {
    let source = |rest: &str| format!("[[source]]\nid = \"a\"\n{rest}\n");
    for (text, word) in [
        ("nonsense".to_owned(), "nonsense"),
        ("colour = 1".to_owned(), "colour"),
        (source("kind = \"icq\""), "telegram-export"),
        (source("kind = \"telegram-export\""), "needs `path`"),
        (source("kind = \"telegram-export\"\npath = \"x\"\nzone = \"Mars\""), "Europe/Helsinki"),
        (
            source("kind = \"telegram-export\"\npath = \"x\"\nsocket = \"y\""),
            "`socket` belongs to signal-cli",
        ),
        (
            source("kind = \"signal-export\"\npath = \"x\"\nday_order = \"day-first\""),
            "`day_order` belongs to whatsapp-export",
        ),
        (source("kind = \"signal-cli\""), "either `socket`"),
        (source("kind = \"signal-cli\"\nsocket = \"a\"\ntcp = \"127.0.0.1:1\""), "either `socket`"),
        (source("kind = \"telegram-bot\""), "`token_file`"),
        (source("kind = \"signal-cli\"\ntcp = \"somewhere\""), "tcp"),
        (
            "[[source]]\nid = \"A b\"\nkind = \"signal-cli\"\nsocket = \"x\"".to_owned(),
            "lower-case",
        ),
        (format!("{0}{0}", source("kind = \"signal-cli\"\nsocket = \"x\"")), "two sources"),
    ] {
        let problem = Config::parse(&text, Path::new("/")).unwrap_err();
        assert!(problem.contains(word), "{text}: {problem}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Config::read(Path::new("/nowhere/config.toml")).unwrap_err();
    assert_has(&error.to_string(), &["/nowhere/config.toml"]);
}

/// As macOS names files: an accent is a character of its own.
#[test]
fn a_chat_is_denied_however_its_accents_are_written() {
    let written =
        "[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"x\"\ndeny = [\"LIST\"]\n";
    let (composed, apart) = ("Jos\u{e9} \u{c5}ng", "Jose\u{301} A\u{30a}ng");
    for (denied, name) in [(composed, apart), (apart, composed), (composed, composed)] {
        let config = Config::parse(&written.replace("LIST", denied), Path::new("/")).unwrap();
        let registry = Registry::new(&config);
        assert!(!allows(&registry, "w", name, name), "{denied:?} {name:?}");
        assert!(!allows(&registry, "w", "1", &name.to_uppercase()));
        // Another name is another name.
        assert!(allows(&registry, "w", "1", "Jose Ang"));
    }
}

fn allows(registry: &Registry, source: &str, chat: &str, name: &str) -> bool {
    registry.get(source).unwrap().chats.allows(chat, name)
}
