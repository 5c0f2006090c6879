//! Heads of requests and answers, as a proxy reads and rewrites them.

use std::io::{self, Read as _};
use std::net::TcpStream;

use memchr::memmem;

/// The maximum length of a head, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// A head without its blank line, and the bytes read after it. `None` if the connection ends before.
pub(super) fn read_head(mut from: &TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = memmem::find(&read, b"\r\n\r\n") {
            let rest = read.split_off(end + 4);
            read.truncate(end);
            return Ok(Some((String::from_utf8_lossy(&read).into_owned(), rest)));
        }
        let count = from.read(&mut piece)?;
        if count == 0 || read.len() > MAX_HEAD {
            return Ok(None);
        }
        read.extend_from_slice(known_range::items(&piece, ..count));
    }
}

/// The value of a header, in lower case but for what it names.
pub(super) fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut headers = head.split("\r\n").filter_map(|line| line.split_once(':'));
    headers.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// A head without the headers `dropped` and those of the connection, and with lines that are added at its end.
pub(super) fn rewritten(head: &str, dropped: &[&str], added: &str) -> String {
    let is_kept = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        !["connection", "keep-alive"].iter().chain(dropped).any(|it| *it == name)
    };
    let mut text: String =
        head.split("\r\n").filter(is_kept).flat_map(|line| [line, "\r\n"]).collect();
    text.push_str(added);
    text.push_str("\r\n");
    text
}
