//! Files that are damaged or made to do harm: an error or warnings, never a panic, and bounded work.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use chat_server::import::{self, Format, ImportError, MAX_MESSAGE_BYTES, MAX_WARNINGS, Summary};
use proptest::prelude::*;

use super::options;
use crate::assert_has;
use crate::mcp::harness::zip_of;

/// Reads whatever it is as each of the formats; what comes does not matter, only that something does.
fn read_as_all(bytes: &[u8]) -> Vec<Result<Summary, ImportError>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    fs::write(&path, bytes).unwrap();
    let signal = dir.path().join("signal");
    for (chat, file) in [("a", "data.json"), ("b", "chat.md")] {
        fs::create_dir_all(signal.join(chat)).unwrap();
        fs::write(signal.join(chat).join(file), bytes).unwrap();
    }
    let _found = import::formats(&path);
    [(path.as_path(), Format::Telegram), (&path, Format::WhatsApp), (&signal, Format::Signal)]
        .into_iter()
        .map(|(path, format)| read(path, format))
        .collect()
}

fn read(path: &Path, format: Format) -> Result<Summary, ImportError> {
    let mut events = 0_u64;
    let mut take = |_| {
        events += 1;
        ControlFlow::Continue(())
    };
    let summary = import::read(path, Some(format), &options(), &mut take, &mut |_, _| {})?;
    // A chat may come more than once.
    assert!(events >= summary.chats + summary.messages);
    assert!(summary.warnings.len() <= MAX_WARNINGS);
    Ok(summary)
}

const TELEGRAM: &str = r#"{"about":"a\x01","personal_information":{"user_id":7},"chats":{"list":[
 {"name":"Anna","type":"personal_chat","id":1,"messages":[
  {"id":1,"type":"message","date":"2023-12-13T18:05:09","date_unixtime":"1702487109","from":"Anna","from_id":"user1","text":["a",{"type":"bold","text":"b"}],"reactions":[{"type":"emoji","count":1,"emoji":"👍","recent":[]}]},
  {"id":2,"type":"service","date":"2023-12-13T18:05:09","actor":"Anna","actor_id":"user1","action":"phone_call","text":""}]}]}}"#;

const WHATSAPP: &str = "\u{200e}[13/12/2023, 6:05:09\u{202f}PM] Anna: \u{200e}<attached: 1-a.jpg>\r\n[13/12/2023, 6:05:10\u{202f}PM] ~\u{a0}Bob: POLL:\r\nWhen?\r\nOPTION: a (1 vote)\r\n[13/12/2023, 6:06:09\u{202f}PM] Anna: Standort: https://maps.google.com/?q=1,2\r\n";

const SIGNAL: &str = "[2023-12-13 18:05:09] Anna: hello [a.jpg](./media/a.jpg)\n(- Bob: 👍 -)\n[2023-12-13 18:06:09] Me: \n\n> hello\n\nyes\n";

const DATA: &str = "{\"date\":\"2023-12-13T18:05:09.1\",\"sender\":\"Anna\",\"body\":\"hello\",\"quote\":\"\",\"reactions\":[[\"Me\",\"👍\"]],\"attachments\":[{\"name\":\"a.jpg\",\"path\":\"media/a.jpg\",\"missing_kind\":null}]}\n";

const WHOLE: [&str; 4] = [TELEGRAM, WHATSAPP, SIGNAL, DATA];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_at_all(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read_as_all(&bytes);
    }

    #[test]
    fn exports_with_bits_that_fell_over(which in 0..4_usize, flips in proptest::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6)) {
        let mut bytes = WHOLE[which].as_bytes().to_vec();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        read_as_all(&bytes);
    }

    #[test]
    fn pieces_of_exports_in_any_order(pieces in proptest::collection::vec((0..4_usize, any::<prop::sample::Index>(), 1..40_usize), 1..12)) {
        let mut bytes = Vec::new();
        for (which, from, length) in pieces {
            let whole = WHOLE[which].as_bytes();
            let from = from.index(whole.len());
            bytes.extend(&whole[from..whole.len().min(from + length)]);
        }
        read_as_all(&bytes);
    }
}

#[test]
fn exports_that_break_off_anywhere() {
    for whole in WHOLE {
        for end in 0..whole.len() {
            read_as_all(&whole.as_bytes()[..end]);
        }
    }
}

#[test]
fn lists_in_lists_without_end() {
    let deep = "[".repeat(2_000_000);
    let open = "{\"a\":".repeat(500_000);
    for text in [
        format!("{{\"about\":{deep}"),
        format!("{{\"name\":\"a\",\"type\":\"b\",\"id\":1,\"messages\":[{open}"),
        format!("{{\"chats\":{{\"list\":[{{\"id\":{deep}"),
        format!("{{\"personal_information\":{deep}"),
    ] {
        let error = read_as_all(text.as_bytes()).remove(0).unwrap_err();
        assert!(error.to_string().contains("500 deep"), "{error}");
    }
    let one = format!("{{\"date\":\"2023-01-01 00:00:00\",\"reactions\":{deep}\n");
    assert_eq!(read_as_all(one.as_bytes()).remove(2).unwrap().skipped, 2);
}

/// The most memory of this process so far, in KiB; 0 where it is not known.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// A string of 100 MB where it is passed over and as a line; and what is refused as soon as it is above the bound: in
/// a message, a name, the name of a member.
#[test]
fn strings_of_a_hundred_million_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, millions: u32, before: &str, after: &str| {
        let path = dir.path().join(name);
        let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
        file.write_all(before.as_bytes()).unwrap();
        for _ in 0..millions {
            file.write_all(&[b'x'; 1_000_000]).unwrap();
        }
        file.write_all(after.as_bytes()).unwrap();
        file.flush().unwrap();
        path
    };
    let before = peak();
    let chat = r#""name":"A","type":"personal_chat","id":1,"messages":["#;
    let message =
        r#"{"id":1,"type":"message","date_unixtime":"1","from":"A","from_id":"user1","text":"hi"}"#;
    let passed = write("a.json", 100, "{\"about\":\"", &format!("\",{chat}{message}]}}"));
    assert_eq!(read(&passed, Format::Telegram).unwrap().messages, 1);
    for (name, head) in [
        ("b.json", format!("{{{chat}{message},{{\"text\":\"")),
        ("c.json", "{\"name\":\"".to_owned()),
        ("d.json", "{\"".to_owned()),
        ("e.json", "{\"personal_information\":{\"bio\":\"".to_owned()),
    ] {
        let problem = match read(&write(name, 20, &head, "\"}"), Format::Telegram) {
            Err(ImportError::Damaged { problem, .. }) => problem,
            Ok(summary) => summary.cut[name].clone(),
            Err(error) => panic!("{error}"),
        };
        assert!(problem.contains(&MAX_MESSAGE_BYTES.to_string()), "{problem}");
    }
    let line = "13/12/2023, 18:05 - Anna: ";
    let text = write("f.txt", 100, line, &format!("\n{line}hello\n"));
    let summary = read(&text, Format::WhatsApp).unwrap();
    assert_eq!((summary.messages, summary.skipped), (1, 1));
    fs::create_dir(dir.path().join("chat")).unwrap();
    for name in ["chat/chat.md", "chat/data.json"] {
        let good = match name {
            "chat/chat.md" => SIGNAL,
            _ => DATA,
        };
        write(name, 100, "[2023-12-13 18:05:09] Anna: ", &format!("\n{good}"));
        let summary = read(&dir.path().join("chat"), Format::Signal).unwrap();
        assert_eq!(summary.skipped, 1, "{name}");
        assert!(summary.messages > 0, "{name}");
    }
    // Other tests run at the same time; none of them holds that much.
    let grown = peak().saturating_sub(before);
    assert!(grown < 300 * 1024, "{grown} KiB more");
}

/// How long this thread has worked, in nanoseconds; `None` where it is not known.
pub(crate) fn worked() -> Option<u64> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok()
}

/// Eight times as much takes about eight times as long; what goes back and forth takes sixty-four times. It is the
/// work of this thread that counts, so it does not matter what else the machine does.
#[test]
fn work_is_linear_in_the_length() {
    let work = |text: &dyn Fn(usize) -> String, count: usize| {
        let text = text(count);
        let start = worked()?;
        read_as_all(text.as_bytes());
        worked().map(|end| end - start)
    };
    if worked().is_none() {
        // Not by a macro: what those print is shown for tests that fail only.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: this system does not tell how long a thread has worked"
        );
        return;
    }
    let texts: [(&str, &dyn Fn(usize) -> String); 9] = [
        ("reactions of many kinds", &|count| {
            let reactions: Vec<String> = (0..count).map(|n| format!("a: {n}")).collect();
            let line = reactions.join(", ");
            format!("[2023-12-13 18:05:09] Anna: x\n(- {line} -)")
        }),
        ("whole links", &|count| {
            format!("[2023-12-13 18:05:09] Anna: {}", "[a](./media/a)[b](.c)".repeat(count))
        }),
        ("headers", &|count| WHATSAPP.repeat(count / 10)),
        ("quotes", &|count| format!("[2023-12-13 18:05:09] Anna: \n\n{}", "> a\n".repeat(count))),
        ("one long message", &|count| {
            format!("13/12/2023, 18:05 - Anna: {}", "x: y (z) <\n".repeat(count))
        }),
        ("one long line", &|count| {
            format!("13/12/2023, 18:05 - Anna: {}", "\u{200e}<a: 1".repeat(count))
        }),
        ("links", &|count| {
            format!("[2023-12-13 18:05:09] Anna: {}", "[a](./media/b".repeat(count))
        }),
        ("reactions", &|count| {
            format!("[2023-12-13 18:05:09] Anna: x\n(- {} -)", "a, ".repeat(count))
        }),
        ("brackets", &|count| {
            format!("[2023-12-13 18:05:09] Anna: {}](./media/", "[".repeat(count))
        }),
    ];
    for (name, text) in texts {
        let (once, eight) = (work(text, 4_000).unwrap(), work(text, 32_000).unwrap());
        // A few milliseconds are the files'.
        assert!(
            eight < 20 * once + 20_000_000,
            "{name}: {once} ns, and {eight} ns for eight times as much"
        );
    }
}

#[test]
fn zips_that_are_bombs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.zip");
    // Two texts, 70 MB each once they are unpacked: each alone is let through.
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let packed = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for name in ["a.txt", "b.txt"] {
        zip.start_file(name, packed).unwrap();
        zip.write_all(b"13/12/2023, 18:05 - Anna: boom\n").unwrap();
        let zeros = vec![0_u8; 10_000_000];
        for _ in 0..7 {
            zip.write_all(&zeros).unwrap();
        }
    }
    zip.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 300_000);
    let read = read(&path, Format::WhatsApp).unwrap();
    assert!(read.warnings.iter().any(|it| it.contains("in one zip")), "{read:?}");
    let attached = import::attachment(&path, "a.txt", 1_000_000);
    assert!(matches!(attached, Err(ImportError::TooLarge { .. })));
}

#[test]
fn zips_with_names_that_lead_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("WhatsApp Chat - Anna.zip");
    let text = b"[13/12/2023, 18:05:09] Anna: \xe2\x80\x8e<attached: ../../etc/passwd>\n[13/12/2023, 18:05:10] Anna: \xe2\x80\x8e<attached: link.jpg>\n";
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let plain = zip::write::SimpleFileOptions::default();
    let windows = &*["C", "\\windows.jpg"].join(":");
    for (name, bytes) in
        [("/absolute/_chat.txt", &text[..]), ("../above.jpg", b"x"), (windows, b"x")]
    {
        zip.start_file(name, plain).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.add_symlink("link.jpg", "/etc/passwd", plain).unwrap();
    zip.add_directory("folder.jpg", plain).unwrap();
    zip.finish().unwrap();
    let before = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(read(&path, Format::WhatsApp).unwrap().messages, 2);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "nothing is unpacked");
    for name in
        ["link.jpg", "folder.jpg", "../above.jpg", "/absolute/_chat.txt", windows, "none.jpg"]
    {
        assert!(import::attachment(&path, name, 1_000).is_err(), "{name}");
    }
}

#[test]
fn zips_that_are_damaged_or_hold_no_chat() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.zip");
    let bytes = zip_of(&[("_chat.txt", WHATSAPP.as_bytes()), ("a.jpg", &[7; 300])]);
    fs::write(&good, &bytes).unwrap();
    let path = dir.path().join("bad.zip");
    for end in 0..bytes.len() {
        fs::write(&path, &bytes[..end]).unwrap();
        let _found = import::formats(&path);
        assert!(read(&path, Format::WhatsApp).map_or(0, |it| it.messages) <= 3);
        let mut flipped = bytes.clone();
        flipped[end] ^= 0x55;
        fs::write(&path, &flipped).unwrap();
        let _read = read(&path, Format::WhatsApp);
        let _attached = import::attachment(&path, "a.jpg", 1_000);
    }
    fs::write(&path, zip_of(&[("notes.pdf", b"x")])).unwrap();
    assert_has(&import::formats(&path).unwrap_err().to_string(), &["has no export in it"]);
    // In a folder one that is damaged does not keep the others from being read.
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let summary = read(dir.path(), Format::WhatsApp).unwrap();
    assert_eq!((summary.messages, summary.skipped), (3, 1));
}

#[cfg(unix)]
#[test]
fn folders_with_links_and_pipes() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(dir.path().join("result.json"), TELEGRAM).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("out.jpg")).unwrap();
    std::os::unix::fs::symlink("/", dir.path().join("root")).unwrap();
    fs::write(dir.path().join("in.jpg"), "x").unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe.jpg")).status();
    for name in ["out.jpg", "root/etc/hostname", "root", "."] {
        assert!(import::attachment(dir.path(), name, 1_000).is_err(), "{name}");
    }
    assert!(import::attachment(dir.path(), "in.jpg", 1_000).is_ok());
    if made.is_ok_and(|made| made.success()) {
        assert!(import::attachment(dir.path(), "pipe.jpg", 1_000).is_err(), "does not wait");
        assert!(import::formats(&dir.path().join("pipe.jpg")).is_err(), "does not wait");
    }
}
