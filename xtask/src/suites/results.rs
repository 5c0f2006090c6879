//! Reads a suite's output: its list of scenarios, and one `checks.json` in a separate folder for each scenario that
//! ran. Results for clients are in nested folders, by the name of the scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use xtask::Result;

/// What a suite tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuiteSubject {
    Server,
    Client,
}

/// One check of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) status: Status,
    /// The suite's text on what was wrong, or why the check was skipped; empty if there is none.
    pub(super) message: String,
}

/// The status of a check, as the suite defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// The server met a MUST or SHOULD requirement.
    Success,
    /// It violated a MUST requirement.
    Failure,
    /// It violated a SHOULD requirement.
    Warning,
    /// Not checked.
    Skipped,
    /// A line of a trace, or a note that something was not checked.
    Info,
    /// A word that these suites do not use.
    Unknown(String),
}

/// The length of the time at the end of a folder's name: `server-NAME-2026-01-31T12-00-00-000Z`. For clients, the first
/// word is missing.
const TIME: usize = "-2026-01-31T12-00-00-000Z".len();

/// The checks of each scenario that left a result in `folder`.
///
/// # Errors
/// When a file does not have the format of a suite, or a scenario has two results.
pub(super) fn read(folder: &Path, side: SuiteSubject) -> Result<BTreeMap<String, Vec<Check>>> {
    let mut ran = BTreeMap::new();
    read_below(folder, "", side, &mut ran)?;
    Ok(ran)
}

fn read_below(
    folder: &Path,
    above: &str,
    side: SuiteSubject,
    ran: &mut BTreeMap<String, Vec<Check>>,
) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        let file = entry.path().join("checks.json");
        if !file.is_file() {
            // A scenario that broke leaves an empty folder. The verdict reports it as missing.
            if side == SuiteSubject::Client && above.is_empty() && entry.file_type()?.is_dir() {
                read_below(&entry.path(), &format!("{name}/"), side, ran)?;
            }
            continue;
        }
        let scenario =
            scenario(&name, side).ok_or_else(|| format!("{name} is not a scenario's folder"))?;
        let text = fs::read_to_string(&file)?;
        let checks =
            checks(&text).ok_or_else(|| format!("{} is not a list of checks", file.display()))?;
        if ran.insert(scenario.to_owned(), checks).is_some() {
            return Err(format!("{scenario} has two results").into());
        }
    }
    Ok(())
}

impl SuiteSubject {
    /// The option of `list` for its scenarios.
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Server => "--server",
            Self::Client => "--client",
        }
    }

    /// The heading of the section with its scenarios, their mark in other sections, and the prefix of their folders.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Server => ("Server scenarios", "server]", "server-"),
            Self::Client => ("Client scenarios", "client]", ""),
        }
    }
}

/// The scenarios for one side in the output of `list`, including those that a set of requirements runs but does not
/// score.
pub(super) fn scenarios(listing: &str, side: SuiteSubject) -> BTreeSet<String> {
    let (heading, own, _) = side.words();
    let mut names = BTreeSet::new();
    let mut section = "";
    for line in listing.lines().filter(|line| !line.trim().is_empty()) {
        let Some(entry) = line.trim_start().strip_prefix("- ") else {
            if !line.starts_with(' ') {
                section = line;
            }
            continue;
        };
        let (name, mark) = entry.split_once(" [").unwrap_or((entry, ""));
        let wanted = if section.starts_with("Run and reported") {
            mark == own
        } else {
            section.starts_with(heading)
        };
        if wanted {
            names.insert(name.trim().to_owned());
        }
    }
    names
}

fn scenario(folder: &str, side: SuiteSubject) -> Option<&str> {
    let (_, _, prefix) = side.words();
    let name = folder.strip_prefix(prefix)?;
    let (name, time) = name.split_at_checked(name.len().checked_sub(TIME)?)?;
    (!name.is_empty() && time.starts_with('-') && time.ends_with('Z')).then_some(name)
}

fn checks(text: &str) -> Option<Vec<Check>> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.as_array()?.iter().map(check).collect()
}

fn check(value: &Value) -> Option<Check> {
    let text = |name| value.get(name).and_then(Value::as_str);
    // The reason for a skip is not an error, so it is in the details.
    let note = value.pointer("/details/message").and_then(Value::as_str);
    Some(Check {
        id: text("id")?.to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
        status: status(text("status")?),
        message: text("errorMessage").or(note).unwrap_or_default().to_owned(),
    })
}

fn status(word: &str) -> Status {
    match word {
        "SUCCESS" => Status::Success,
        "FAILURE" => Status::Failure,
        "WARNING" => Status::Warning,
        "SKIPPED" => Status::Skipped,
        "INFO" => Status::Info,
        other => Status::Unknown(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_scenario() {
        assert_eq!(
            scenario("server-tools-list-2026-11-22T02-51-07-123Z", SuiteSubject::Server),
            Some("tools-list")
        );
        assert_eq!(
            scenario("auth/dpop-2026-11-22T02-51-07-123Z", SuiteSubject::Client),
            Some("auth/dpop")
        );
        for other in ["server-2026-11-22T02-51-07-123Z", "notes", "server-x"] {
            assert_eq!(scenario(other, SuiteSubject::Server), None, "{other}");
        }
    }

    #[test]
    fn a_result_is_read_with_every_status() {
        let read = checks(
            r#"[{"id":"a","description":"d","status":"WARNING","errorMessage":"m","timestamp":"t"},
                {"id":"b","name":"B","status":"LOST","details":{"message":"why"}}]"#,
        )
        .expect("checks");
        assert_eq!(read[0].status, Status::Warning);
        assert_eq!((read[0].description.as_str(), read[0].message.as_str()), ("d", "m"));
        assert_eq!(read[1].status, Status::Unknown("LOST".to_owned()));
        assert_eq!(read[1].message, "why");
        for broken in ["", "{}", "[1]", r#"[{"id":"a"}]"#, r#"[{"status":"INFO"}]"#] {
            assert_eq!(checks(broken), None, "{broken}");
        }
    }

    #[test]
    fn results_are_found_by_folder_and_a_broken_one_is_an_error() {
        let folder = xtask::target().join(format!("xtask-results-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let own = folder.join(name);
            fs::create_dir_all(&own).expect("folder");
            fs::write(own.join("checks.json"), text).expect("file");
        };
        write("server-ping-2026-11-22T02-51-07-123Z", r#"[{"id":"p","status":"SUCCESS"}]"#);
        fs::create_dir_all(folder.join("server-lost-2026-11-22T02-51-07-124Z")).expect("folder");
        let ran = read(&folder, SuiteSubject::Server).expect("results");
        assert_eq!(ran.keys().collect::<Vec<_>>(), ["ping"]);
        write("auth/dpop-2026-11-22T02-51-07-123Z", r#"[{"id":"p","status":"SUCCESS"}]"#);
        let ran = read(&folder, SuiteSubject::Client).expect("results");
        assert!(ran.contains_key("auth/dpop"));
        write("server-ping-2026-11-22T02-51-08-000Z", "[]");
        assert!(
            read(&folder, SuiteSubject::Server)
                .expect_err("two")
                .to_string()
                .contains("two results")
        );
        write("server-ping-2026-11-22T02-51-08-000Z", "{}");
        assert!(
            read(&folder, SuiteSubject::Server)
                .expect_err("broken")
                .to_string()
                .contains("not a list")
        );
        fs::remove_dir_all(&folder).expect("clean up");
    }

    #[test]
    fn both_forms_of_a_list_are_read() {
        let plain = "Server scenarios (test against a server):\n  - ping [2025-06-18]\n  - tasks [extension]\n";
        assert_eq!(
            scenarios(plain, SuiteSubject::Server),
            ["ping", "tasks"].map(String::from).into()
        );
        let required = "Required for X (3 scenarios):\n\nServer scenarios (test against a server):\n  - ping\n\n\
            Client scenarios (test against a client):\n  - auth/x\n\nRun and reported, but never scored:\n  \
            extension (2):\n    - auth/y [client]\n    - tasks [server]\n";
        assert_eq!(
            scenarios(required, SuiteSubject::Server),
            ["ping", "tasks"].map(String::from).into()
        );
        assert_eq!(
            scenarios(required, SuiteSubject::Client),
            ["auth/x", "auth/y"].map(String::from).into()
        );
        assert!(scenarios("Client scenarios:\n  - initialize\n", SuiteSubject::Server).is_empty());
    }
}
