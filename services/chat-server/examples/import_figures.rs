//! Measures how fast exports are read, and with how much memory:
//! `cargo run --release -p chat-server --example import_figures -- [MIB]`
//!
//! Makes a `result.json` of the given size in MiB (1,024 by default) and a WhatsApp chat of 40,000 messages in a
//! temporary folder, reads both, and removes them. The largest memory is that of the process so far, as Linux reports
//! it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use chat_server::import::{self, Options, Summary};
use jiff::tz::TimeZone;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How many messages WhatsApp exports at most.
const WHATSAPP_MESSAGES: u32 = 40_000;

fn main() -> Outcome<()> {
    let mebibytes: u64 = match std::env::args().nth(1) {
        Some(number) => number.parse()?,
        None => 1_024,
    };
    let folder = tempfile::tempdir()?;
    let telegram = folder.path().join("result.json");
    let whatsapp = folder.path().join("WhatsApp Chat with Team.txt");
    write_telegram(&telegram, mebibytes * 1024 * 1024)?;
    write_whatsapp(&whatsapp)?;
    writeln!(std::io::stdout(), "peak before reading: {} KiB", peak())?;
    figure(&whatsapp)?;
    figure(&telegram)
}

fn figure(path: &Path) -> Outcome<()> {
    let size = path.metadata()?.len();
    let start = Instant::now();
    let Summary { messages, skipped, .. } = read(path)?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        std::io::stdout(),
        "{}: {size} bytes, {messages} messages ({skipped} left out) in {seconds:.2} s: {:.0} messages/s, {:.1} MB/s, peak {} KiB",
        path.file_name().unwrap_or_default().display(),
        messages as f64 / seconds,
        size as f64 / seconds / 1e6,
        peak()
    )?;
    Ok(())
}

fn read(path: &Path) -> Outcome<Summary> {
    let options = Options { zone: TimeZone::UTC, day_order: None, me: None };
    let take = &mut |_| ControlFlow::Continue(());
    Ok(import::read(path, None, &options, take, &mut |_, _| {})?)
}

/// Ten chats of equal size, with what ordinary messages have.
fn write_telegram(path: &Path, size: u64) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write!(
        file,
        r#"{{"about":"made","personal_information":{{"user_id":1}},"chats":{{"about":"","list":["#
    )?;
    let mut written = 0_u64;
    for chat in 0..10 {
        let comma = if chat == 0 { "" } else { "," };
        write!(
            file,
            r#"{comma}{{"name":"Chat {chat}","type":"private_supergroup","id":{chat},"messages":["#
        )?;
        let mut id = 0_u64;
        while written < size / 10 * (chat + 1) {
            let message = message(id);
            let comma = if id == 0 { "" } else { "," };
            write!(file, "{comma}\n{message}")?;
            written += message.len() as u64 + 2;
            id += 1;
        }
        write!(file, "]}}")?;
    }
    write!(file, "]}}}}")?;
    file.flush()?;
    Ok(())
}

fn message(id: u64) -> String {
    let seconds = 1_600_000_000 + id * 60;
    let who = id % 7;
    let more = match id % 5 {
        0 => {
            r#""photo":"photos/photo_1.jpg","photo_file_size":48213,"width":1280,"height":960,"text":"","text_entities":[]"#
        }
        1 => {
            r#""text":["see ",{"type":"bold","text":"this"}," at ",{"type":"link","text":"https://a.example/page"}],"text_entities":[{"type":"plain","text":"see "},{"type":"bold","text":"this"},{"type":"plain","text":" at "},{"type":"link","text":"https://a.example/page"}]"#
        }
        2 => {
            r#""reply_to_message_id":1,"text":"A line with a control character \x01 in it, and an emoji 🎉.","text_entities":[],"reactions":[{"type":"emoji","count":1,"emoji":"👍","recent":[{"from":"Bert","from_id":"user2","date":"2023-01-01T00:00:00"}]}]"#
        }
        _ => {
            r#""text":"The meeting is moved to half past three on Thursday; please bring the plans of the second floor.","text_entities":[{"type":"plain","text":"The meeting is moved to half past three on Thursday; please bring the plans of the second floor."}]"#
        }
    };
    format!(
        r#"{{"id":{id},"type":"message","date":"2023-01-01T00:00:00","date_unixtime":"{seconds}","from":"Person {who}","from_id":"user{who}",{more}}}"#
    )
}

fn write_whatsapp(path: &Path) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for id in 0..WHATSAPP_MESSAGES {
        let (day, hour, minute) = (id / 1_440 % 28 + 1, id / 60 % 24, id % 60);
        let who = id % 7;
        let text = match id % 4 {
            0 => "IMG-20231213-WA0001.jpg (file attached)",
            1 => "a text\nof two lines",
            _ => "The meeting is moved to half past three on Thursday; bring the plans.",
        };
        writeln!(file, "{day:02}/12/2023, {hour:02}:{minute:02} - Person {who}: {text}")?;
    }
    file.flush()?;
    Ok(())
}

/// The most memory of this process so far, in KiB; 0 where it is not reported.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
