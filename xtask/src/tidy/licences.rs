//! Every dependency is under a licence that this project may be shipped with.

use serde_json::Value;

use super::{list, text};

/// SPDX names, with exceptions as part of the name.
const KNOWN: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    // File by file: what is used as it is binds nothing else.
    "MPL-2.0",
    "MPL-2.0+",
    "Unicode-3.0",
    "Zlib",
];

/// The packages of `cargo metadata` whose licence is not known to be fine.
pub(super) fn check(metadata: &Value) -> Vec<String> {
    list(metadata, "packages")
        .filter(|package| !acceptable(text(package, "license")))
        .map(|package| {
            let (name, licence) = (text(package, "name"), text(package, "license"));
            format!(
                "{name}: licence {licence:?} is not among those known in xtask/src/tidy/licences.rs"
            )
        })
        .collect()
}

/// Reads `AND` as binding weaker than `OR`. That is wrong for `A OR B AND C`, but never too lenient: what
/// passes this way passes the right way too.
fn acceptable(expression: &str) -> bool {
    let alternatives = expression.replace(['(', ')'], " ").replace('/', " OR ");
    alternatives
        .split(" AND ")
        .all(|part| part.split(" OR ").any(|name| KNOWN.contains(&name.trim())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_known_alternative_is_enough_and_every_part_is_needed() {
        for fine in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 / GPL-3.0",
            "(GPL-3.0 OR MIT) AND Unicode-3.0",
        ] {
            assert!(acceptable(fine), "{fine}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "GPL-3.0 OR AGPL-3.0",
            "MIT-style",
            "MIT WITH strings",
        ] {
            assert!(!acceptable(bad), "{bad}");
        }
    }

    #[test]
    fn a_package_under_another_licence_is_named() {
        let metadata = json!({"packages": [
            {"name": "fine", "license": "MIT"},
            {"name": "greedy", "license": "AGPL-3.0"},
            {"name": "silent", "license": null},
        ]});
        let findings = check(&metadata);
        assert_eq!(findings.len(), 2);
        assert!(findings[0].starts_with("greedy: licence \"AGPL-3.0\""));
        assert!(findings[1].starts_with("silent: "));
    }
}
