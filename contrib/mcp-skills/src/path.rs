//! Names and paths of a skill: which are allowed, and how they are written in a URI.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// The scheme of every URI that skills are served under.
pub(crate) const SCHEME: &str = "skill://";

/// The characters to encode in a segment of a path: all but `pchar` (RFC 3986 §3.3).
const NOT_PCHAR: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The characters to encode in the first segment of a skill's path: all but those of a `reg-name` (RFC 3986 §3.2.2).
const NOT_REG_NAME: &AsciiSet = &NOT_PCHAR.add(b':').add(b'@');

/// The most segments of a skill's path, and of a file's path below its skill's folder.
pub(crate) const MAX_DEPTH: usize = 16;

/// The most bytes of either.
const MAX_PATH_BYTES: usize = 1024;

/// The most characters of a skill's name (Agent Skills, `name` field).
const MAX_NAME_CHARS: usize = 64;

/// Whether a skill may have this name: 1–64 of `a-z 0-9 -`, each hyphen between two others (Agent Skills, `name`).
pub(crate) fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&name.len())
        && name.split('-').all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// Whether a file or a folder of this name is left out when a folder is read.
pub(crate) fn is_hidden(segment: &str) -> bool {
    segment.starts_with('.')
}

/// What is wrong with the path of a skill, or of a file below its skill's folder, if anything.
///
/// A segment that begins with a dot is refused, which covers `.` and `..`; so is a backslash, which is a path separator
/// on some systems that may store the file.
pub(crate) fn problem(path: &str) -> Option<&'static str> {
    if path.len() > MAX_PATH_BYTES {
        return Some("a path has at most 1024 bytes");
    }
    if path.split('/').count() > MAX_DEPTH {
        return Some("a path has at most 16 segments");
    }
    path.split('/').find_map(|segment| {
        if segment.is_empty() {
            Some("a path is relative, and none of its segments is empty")
        } else if is_hidden(segment) {
            Some("no segment of a path may begin with a dot")
        } else if segment.contains(|c: char| c == '\\' || c.is_control()) {
            Some("a path has neither backslashes nor control characters")
        } else {
            None
        }
    })
}

/// The name of the skill at a path: its last segment.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The path of a file as it is written in a URI.
pub(crate) fn encode(path: &str) -> String {
    encode_as(path, NOT_PCHAR)
}

/// The path of a skill as it is written in a URI, where its first segment is the authority.
pub(crate) fn encode_skill(path: &str) -> String {
    match path.split_once('/') {
        Some((first, rest)) => format!("{}/{}", encode_as(first, NOT_REG_NAME), encode(rest)),
        None => encode_as(path, NOT_REG_NAME),
    }
}

/// The path of the skill whose `SKILL.md` is at a URI, as it is written there.
pub(crate) fn of_skill(uri: &str) -> &str {
    let path = uri.strip_prefix(SCHEME).unwrap_or(uri);
    path.strip_suffix("/SKILL.md").unwrap_or(path)
}

fn encode_as(path: &str, set: &'static AsciiSet) -> String {
    let mut encoded = String::with_capacity(path.len());
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            encoded.push('/');
        }
        encoded.extend(utf8_percent_encode(segment, set));
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lowercase_words_joined_by_single_hyphens() {
        for good in ["a", "7", "git-workflow", "a-b-c", &"x".repeat(64)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-", "-a", "a-", "a--b", "A", "a_b", "a.b", "a b", "é", "a/b", "..", "%61"]
        {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(!is_name(&"x".repeat(65)));
    }

    #[test]
    fn each_rule_for_paths_refuses_its_sample() {
        for good in ["a", "a/b.md", "Ünï cødé/a b.txt", "a..b", "a:b@c", "%2e%2e"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", ".env", "a/.git/b",
            "a\\b", "..\\a", "a\0b", "a\nb", "a\u{85}b",
        ] {
            assert!(problem(bad).is_some(), "{bad:?}");
        }
        assert_eq!(problem(&["a"; 16].join("/")), None);
        assert!(problem(&["a"; 17].join("/")).is_some());
        assert_eq!(problem(&"x".repeat(1024)), None);
        assert!(problem(&"x".repeat(1025)).is_some());
    }

    #[test]
    fn what_a_segment_may_not_hold_is_encoded() {
        assert_eq!(encode("a b/c#d?.md"), "a%20b/c%23d%3F.md");
        assert_eq!(encode("100%/ü"), "100%25/%C3%BC");
        assert_eq!(encode("a-b_c.d~(1)+[2]"), "a-b_c.d~(1)+%5B2%5D");
    }
}
