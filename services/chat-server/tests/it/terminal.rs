//! What somebody at a terminal sees.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::mcp::harness::TestSetup;

/// A terminal: where a person sits, and where a program writes.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let mut options = OpenOptions::new();
    let program = options.read(true).write(true).open(name.to_str().unwrap());
    (person.into(), program.unwrap())
}

/// All that is shown until the program has ended.
async fn shown(mut person: File) -> String {
    let read = move || {
        let mut shown = Vec::new();
        let mut part = [0; 4096];
        // When no program has the other end any more, that is an error on Linux.
        while let Ok(count @ 1..) = person.read(&mut part) {
            shown.extend_from_slice(&part[..count]);
        }
        String::from_utf8(shown).unwrap()
    };
    tokio::task::spawn_blocking(read).await.unwrap()
}

const EXPORT: &str = r#"
[[source]]
id = "whatsapp"
kind = "whatsapp-export"
path = "WhatsApp Chat with Ann.txt"
"#;

#[tokio::test]
async fn importing_shows_a_bar_that_goes_to_its_end_and_away() {
    let setup = TestSetup::new(EXPORT);
    let mut lines = String::new();
    for n in 0..20_000 {
        let (hour, minute) = (n / 60 % 24, n % 60);
        writeln!(lines, "13/01/2025, {hour:02}:{minute:02} - Ann: {n}").unwrap();
    }
    setup.write("WhatsApp Chat with Ann.txt", &lines);
    let (person, program) = terminal();
    let mut command = setup.command("import");
    command.stdout(Stdio::piped()).stderr(Stdio::from(program));
    let child = command.spawn().unwrap();
    // It holds the terminal open otherwise.
    drop(command);
    let (shown, ended) = tokio::join!(shown(person), child.wait_with_output());
    let ended = ended.unwrap();
    assert_eq!(ended.status.code(), Some(0), "{shown}");
    let stdout = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(stdout, "whatsapp: 1 chats, 20000 messages, 0 left out\n");
    let mut bars: Vec<&str> = shown.split('\r').collect();
    assert_eq!(bars.remove(0), "", "{shown:?}");
    assert_eq!(bars.pop(), Some("\u{1b}[K"), "it does not go away");
    let percent = |bar: &&str| -> u32 {
        let (cells, percent) = bar.strip_prefix("whatsapp ").unwrap().split_at(30 * 3);
        let percent = percent.strip_suffix(" %").unwrap().trim().parse().unwrap();
        let filled = u32::try_from(cells.matches('█').count()).unwrap();
        assert_eq!(cells.chars().count(), 30);
        // Both are rounded down.
        let right = percent * 30 / 100..=(percent + 1) * 30 / 100;
        assert!(right.contains(&filled), "{bar}");
        percent
    };
    let percents: Vec<u32> = bars.iter().map(percent).collect();
    assert!(percents.is_sorted(), "{percents:?}");
    let is_within = percents.iter().any(|percent| (1..100).contains(percent));
    assert!(is_within, "{percents:?}");
}
