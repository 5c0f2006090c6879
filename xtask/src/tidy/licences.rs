//! Checks that every dependency has a licence that this project may be distributed with.

use serde_json::Value;

use super::{list, text};

/// The file with the list of allowed licences. `cargo deny` reads it too.
pub(super) const PATH: &str = "deny.toml";

/// The packages of `cargo metadata` whose licence is not on the allowed list.
pub(super) fn check(metadata: &Value, deny: &str) -> Vec<String> {
    let known = match known(deny) {
        Ok(known) => known,
        Err(problem) => return vec![format!("{PATH}: {problem}")],
    };
    list(metadata, "packages")
        .filter(|package| !acceptable(text(package, "license"), &known))
        .map(|package| {
            let (name, licence) = (text(package, "name"), text(package, "license"));
            format!("{name}: licence {licence:?} is not among those in {PATH}")
        })
        .collect()
}

/// The SPDX names in `licenses.allow`. An exception is part of the name.
fn known(deny: &str) -> Result<Vec<String>, String> {
    let deny: toml::Table = deny.parse().map_err(|problem| format!("{problem}"))?;
    let allowed = deny.get("licenses").and_then(|it| it.get("allow"));
    let allowed = allowed.and_then(toml::Value::as_array);
    let allowed = allowed.ok_or("licenses.allow must be a list")?;
    let names = allowed.iter().filter_map(toml::Value::as_str);
    Ok(names.map(str::to_owned).collect())
}

/// Treats `AND` as having lower precedence than `OR`. That is wrong for `A OR B AND C`, but never too lenient: an
/// expression that passes this way also passes the correct way. A `+` after a name allows newer versions and the named
/// one.
fn acceptable(expression: &str, known: &[String]) -> bool {
    let is_known = |name: &str| known.iter().any(|it| it == name.trim().trim_end_matches('+'));
    let alternatives = expression.replace(['(', ')'], " ").replace('/', " OR ");
    alternatives.split(" AND ").all(|part| part.split(" OR ").any(is_known))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DENY: &str = r#"licenses.allow = ["Apache-2.0", "MIT", "MPL-2.0", "Unicode-3.0"]"#;

    #[test]
    fn one_known_alternative_is_enough_and_every_part_is_needed() {
        let known = known(DENY).expect("a list");
        for fine in [
            "MIT",
            "MPL-2.0+",
            "MIT/Apache-2.0",
            "Apache-2.0 / GPL-3.0",
            "(GPL-3.0 OR MIT) AND Unicode-3.0",
        ] {
            assert!(acceptable(fine, &known), "{fine}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "GPL-3.0 OR AGPL-3.0",
            "MIT-style",
            "MIT WITH strings",
        ] {
            assert!(!acceptable(bad, &known), "{bad}");
        }
    }

    #[test]
    fn a_package_under_another_licence_is_named() {
        let metadata = json!({"packages": [
            {"name": "fine", "license": "MIT"},
            {"name": "greedy", "license": "AGPL-3.0"},
            {"name": "silent", "license": null},
        ]});
        let findings = check(&metadata, DENY);
        assert_eq!(findings.len(), 2);
        assert!(findings[0].starts_with("greedy: licence \"AGPL-3.0\""));
        assert!(findings[1].starts_with("silent: "));
    }

    #[test]
    fn a_list_that_cannot_be_read_is_a_finding() {
        for broken in ["", "licenses = 1", "licenses.allow = ["] {
            let findings = check(&json!({"packages": []}), broken);
            assert!(findings.iter().any(|it| it.starts_with(PATH)), "{broken}");
        }
    }
}
