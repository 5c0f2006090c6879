//! The frontmatter of a `SKILL.md`: found, read and checked.

use serde_json::{Map, Value};

use crate::yaml;

/// The most bytes of frontmatter that are read.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// The most characters of a description (Agent Skills, `description` field).
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// The prefix of the keys of `metadata` that are reserved for protocol extensions (SEP-2640, *Frontmatter*).
const RESERVED: &str = "io.modelcontextprotocol/";

/// The frontmatter of the `SKILL.md` of the skill `name`, as JSON; or what is wrong with it.
pub(crate) fn read(name: &str, skill_md: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(skill_md)
        .map_err(|error| format!("not UTF-8: bad byte at offset {}", error.valid_up_to()))?;
    let value = yaml::parse(block(text)?).map_err(|error| {
        // The block begins on the second line of the file.
        format!("line {}: {}", error.line + 1, error.problem)
    })?;
    let Value::Object(fields) = value else {
        return Err("the frontmatter must be a mapping with name and description".to_owned());
    };
    check(name, &fields)?;
    Ok(fields)
}

/// Whether a `SKILL.md` begins with this frontmatter.
#[cfg(feature = "client")]
pub(crate) fn is_begin(fields: &Map<String, Value>, skill_md: &[u8]) -> bool {
    let name = fields.get("name").and_then(Value::as_str);
    read(name.unwrap_or_default(), skill_md).as_ref() == Ok(fields)
}

/// A `SKILL.md` with these parts. JSON strings are double-quoted scalars of YAML 1.2.
pub(crate) fn write(name: &str, description: &str, body: &str) -> String {
    let (name, description) = (Value::from(name), Value::from(description));
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}")
}

/// The text between the opening and the closing line of three hyphens. The line break before the closing line counts as
/// part of that line, as in most readers of frontmatter; only a block scalar with `|+` shows the difference.
fn block(text: &str) -> Result<&str, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")).ok_or(
        "must begin with YAML frontmatter: a first line of three hyphens and nothing else",
    )?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end_matches([' ', '\t', '\r', '\n']) == "---" {
            let block = known_range::text(rest, ..end);
            let block = block.strip_suffix('\n').unwrap_or(block);
            return Ok(block.strip_suffix('\r').unwrap_or(block));
        }
        end += line.len();
        if end > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes of frontmatter"));
        }
    }
    Err("the frontmatter has no end: a line of three hyphens is missing".to_owned())
}

fn check(name: &str, fields: &Map<String, Value>) -> Result<(), String> {
    let string = |key: &str| match fields.get(key) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => Err(format!("{key} must be a string, not {other}; quote it")),
        None => Err(format!("the frontmatter has no {key}")),
    };
    let given = string("name")?;
    if given != name {
        return Err(format!(
            "its name is {given:?} and its folder's is {name:?}; they must be equal"
        ));
    }
    let description = string("description")?;
    if description.trim().is_empty() {
        return Err("description is empty; say what the skill does and when to use it".to_owned());
    }
    let chars = description.chars().count();
    if chars > MAX_DESCRIPTION_CHARS {
        return Err(format!(
            "description has {chars} characters; at most {MAX_DESCRIPTION_CHARS} are allowed"
        ));
    }
    let metadata = fields.get("metadata").and_then(Value::as_object);
    match metadata.and_then(|metadata| metadata.keys().find(|key| key.starts_with(RESERVED))) {
        Some(key) => {
            Err(format!("the key {key:?} of metadata is reserved: none may begin with {RESERVED}"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(text: &str) -> String {
        read("a-b", text.as_bytes()).unwrap_err()
    }

    #[test]
    fn every_field_comes_through_verbatim() {
        let text = "\u{feff}---\r\nname: a-b\r\ndescription: 'Does: it'\r\nlicense: MIT\r\nmetadata:\r\n  version: 1.0\r\n  x.y/z: [1]\r\n--- \t\r\nname: body\n";
        assert_eq!(
            Value::Object(read("a-b", text.as_bytes()).unwrap()),
            json!({"name": "a-b", "description": "Does: it", "license": "MIT", "metadata": {"version": 1.0, "x.y/z": [1]}})
        );
        assert!(read("a-b", b"---\nname: a-b\ndescription: d\n---").is_ok());
        assert!(read("a-b", b"---\nname: a-b\ndescription: |\n  d\n  ---\n  e\n---\n").is_ok());
    }

    #[test]
    fn the_last_line_break_is_not_of_the_frontmatter() {
        for end in ["\n", "\r\n"] {
            let text = "---\nname: a-b\ndescription: |+\n  d\n\n---\n".replace('\n', end);
            let fields = read("a-b", text.as_bytes()).unwrap();
            assert_eq!(fields["description"], "d\n", "{end:?}");
        }
    }

    #[test]
    fn each_rule_refuses_its_sample() {
        let with = |field: &str| problem(&format!("---\nname: a-b\n{field}\n---\n"));
        for text in
            ["", "# Title", " ---\nname: a-b", "--- \nname: a-b\n---\n", "\n---\n---\n", "----\n"]
        {
            assert!(problem(text).contains("must begin"), "{text:?}");
        }
        assert!(problem("---\nname: a-b\ndescription: d\n").contains("no end"));
        assert!(problem("---\nname: a-b\ndescription: d\n----\n").contains("no end"));
        assert!(problem("---\n---\n").contains("mapping"));
        assert!(problem("---\n- a\n---\n").contains("mapping"));
        assert!(problem("---\nname: a-b\nx: [\n---\n").starts_with("line "));
        assert!(problem("---\nname: a-b\nx: 1\nx: 2\n---\n").starts_with("line 4: "));
        assert!(problem("---\ndescription: d\n---\n").contains("no name"));
        assert!(problem("---\nname: c\ndescription: d\n---\n").contains("must be equal"));
        assert!(problem("---\nname: 1\ndescription: d\n---\n").contains("must be a string"));
        assert!(with("x: 1").contains("no description"));
        assert!(with("description:").contains("must be a string, not null"));
        assert!(with("description: ' '").contains("empty"));
        assert!(with(&format!("description: {}", "é".repeat(1025))).contains("1025 characters"));
        assert!(
            with("description: d\nmetadata: {io.modelcontextprotocol/x: 1}").contains("reserved")
        );
        assert!(
            read("a-b", b"---\nname: a-b\ndescription: \xff\n---\n")
                .unwrap_err()
                .contains("not UTF-8")
        );
    }

    #[test]
    fn the_limits_are_inclusive() {
        let text = |n: usize| format!("---\nname: a-b\ndescription: d\n{}\n---\n", "#".repeat(n));
        let head = "name: a-b\ndescription: d\n\n".len();
        assert!(read("a-b", text(MAX_BYTES - head).as_bytes()).is_ok());
        assert!(problem(&text(MAX_BYTES - head + 1)).contains("65536"));
        let longest = format!("---\nname: a-b\ndescription: {}\n---\n", "é".repeat(1024));
        assert!(read("a-b", longest.as_bytes()).is_ok());
    }

    #[test]
    fn what_is_written_is_read_back() {
        for description in [
            "plain",
            "a: b # c",
            "\"q\" \\ 'q'",
            "two\nlines\t",
            "null",
            "{x",
            "é\u{2028}\u{1f600}",
            "- a",
        ] {
            let text = write("a-b", description, "# Body\n---\n");
            let fields = read("a-b", text.as_bytes()).unwrap();
            assert_eq!(fields["description"], description);
            assert!(text.ends_with("\n---\n\n# Body\n---\n"));
        }
    }
}
