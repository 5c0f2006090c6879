//! Recognizes the content of a file by its first bytes.

use super::error::{Foreign, Table};
use super::{built, header};

/// The kind of content in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Own,
    Zip,
    /// One value, or one value per line.
    Json,
    Table(Table),
    Foreign(Foreign),
}

/// How text that is not a table begins, in lower case.
const TEXTS: [(&str, Content); 4] = [
    ("{", Content::Json),
    ("[", Content::Foreign(Foreign::JSON_LIST)),
    ("<", Content::Foreign(Foreign::HTML)),
    ("%yaml", Content::Foreign(Foreign::YAML)),
];

/// How other files begin.
const MAGIC: [(&[u8], Content); 13] = [
    (b"\x93STARMAP", Content::Foreign(Foreign::OLDER)),
    (b"PK\x03\x04", Content::Zip),
    (b"PK\x05\x06", Content::Foreign(Foreign::ARCHIVE)),
    (b"ARIA", Content::Foreign(Foreign::ARIA_GRAPH)),
    (b"SQLite format 3\0", Content::Foreign(Foreign::SQLITE)),
    (b"BZh", Content::Foreign(Foreign::PACKED)),
    (b"\xfd7zXZ\0", Content::Foreign(Foreign::PACKED)),
    (b"\x28\xb5\x2f\xfd", Content::Foreign(Foreign::PACKED)),
    (b"7z\xbc\xaf\x27\x1c", Content::Foreign(Foreign::PACKED)),
    (b"Rar!\x1a\x07", Content::Foreign(Foreign::PACKED)),
    // A gzip in a gzip.
    (b"\x1f\x8b", Content::Foreign(Foreign::PACKED)),
    (b"\xff\xfe", Content::Foreign(Foreign::UTF_16)),
    (b"\xfe\xff", Content::Foreign(Foreign::UTF_16)),
];

/// Recognizes content by the first bytes of a file, unpacked if it was packed with gzip. The bytes must include the
/// first line, if there are lines.
pub(super) fn of(head: &[u8]) -> Content {
    if head.is_empty() {
        return Content::Foreign(Foreign::EMPTY);
    }
    if let Some((_, content)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return *content;
    }
    // Since protocol 2, a pickle begins with its protocol; the highest so far is 5.
    if matches!(head, [0x80, 2..=5, ..]) {
        return Content::Foreign(Foreign::PICKLE);
    }
    if head.get(257..262) == Some(b"ustar") {
        return Content::Foreign(Foreign::TAR);
    }
    if head.contains(&0) {
        return Content::Foreign(Foreign::UNKNOWN);
    }
    // Protocols 0 and 1 have no mark: an opcode, and for a dictionary or a list of protocol 0 its memo.
    if [&b"(dp"[..], b"(lp", b"(i", b"c__", b"ccopy_reg", b"ccollections", b"}q", b"]q"]
        .iter()
        .any(|begin| head.starts_with(begin))
    {
        return Content::Foreign(Foreign::PICKLE);
    }
    // The head may end within a character, and a name further on may be in an older encoding.
    text(&String::from_utf8_lossy(head))
}

fn text(head: &str) -> Content {
    let text = head.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Content::Foreign(Foreign::EMPTY);
    }
    if text.starts_with(built::BEGIN) {
        return Content::Own;
    }
    let begin: String = text.chars().take(20).collect::<String>().to_lowercase();
    if let Some((_, content)) = TEXTS.iter().find(|(start, _)| begin.starts_with(start)) {
        return *content;
    }
    let line = text.lines().next().unwrap_or_default();
    if let Some(table) = header::table_of(line) {
        return Content::Table(table);
    }
    Content::Foreign(match () {
        () if text.lines().take(3).any(is_yaml) => Foreign::YAML,
        () if line.contains([',', ';', '\t']) => Foreign::TABLE,
        () => Foreign::UNKNOWN,
    })
}

/// Whether it is a YAML document marker, or `key:` with or without a value.
fn is_yaml(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else {
        return line.trim_end() == "---";
    };
    let plain = |c: char| c.is_alphanumeric() || "_-'\"".contains(c);
    !key.is_empty()
        && key.chars().all(plain)
        && (value.is_empty() || value.starts_with([' ', '\r']))
}
