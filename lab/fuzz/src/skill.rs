//! Skills: a `SKILL.md` is served as it is or refused in words, and what is served keeps the rules. The input is the
//! file; its folder is named `pdf`.

use mcp_skills::{Skill, Skills};
use serde_json::{Value, to_value};

const URI: &str = "skill://pdf/SKILL.md";

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let skills = match Skills::from_skills([Skill::from_markdown("pdf", data.to_vec())]) {
        Ok(skills) => skills,
        Err(problem) => {
            let told = problem.to_string();
            assert!(told.starts_with("skill \"pdf\": SKILL.md: "), "{told}");
            return;
        }
    };
    let text = std::str::from_utf8(data).expect("what is served is UTF-8");
    let entry = to_value(skills.get(URI).expect("it is there")).unwrap();
    assert_eq!(entry["uri"], URI);
    let fields = entry["frontmatter"].as_object().expect("a mapping");
    assert_eq!(fields["name"], "pdf");
    let description = fields["description"].as_str().expect("a string");
    assert!(!description.trim().is_empty());
    assert!(description.chars().count() <= 1024);
    // Without aliases nothing grows, but for what is escaped.
    assert!(size(&entry["frontmatter"]) <= data.len());
    let read = to_value(skills.read(URI).expect("it is there")).unwrap();
    assert_eq!(read["text"], text);
    // The body is nobody's but the model's.
    let longer = [data, b"\n---\n: [\n"].concat();
    let longer = Skills::from_skills([Skill::from_markdown("pdf", longer)]);
    let longer = longer.expect("it is still there");
    let again = to_value(longer.get(URI).expect("it is there")).unwrap();
    assert_eq!(again["frontmatter"], entry["frontmatter"]);
}

/// The characters of all strings.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| name.chars().count() + size(value)).sum()
        }
        _ => 0,
    }
}
