//! OpenSpec's own tool, and its verdicts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde::Deserialize;
use serde_json::Value;

/// The tool, as `cargo xtask oracle` names it in the environment.
#[derive(Debug)]
pub(crate) struct Tool {
    node: PathBuf,
    script: PathBuf,
}

/// How long one run of it may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// What a run of it printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) out: String,
    pub(crate) err: String,
}

/// What one side says of one item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Verdict {
    pub(crate) valid: bool,
    pub(crate) strictly: bool,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// For finding out why two verdicts differ.
    pub(crate) reasons: Vec<String>,
}

/// What it says when it is asked by `archive.mjs`.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchiveAnswer {
    /// Whether it has done it, or finds it valid.
    pub(crate) yes: bool,
    pub(crate) said: Vec<String>,
}

/// Verdicts by kind and id, such as `spec/auth`.
pub(crate) type Verdicts = BTreeMap<String, Verdict>;

impl Tool {
    pub(crate) fn from_environment() -> Self {
        let path =
            |name| {
                let path = std::env::var_os(name);
                PathBuf::from(path.unwrap_or_else(|| {
                    panic!("{name} is not set; run this by `cargo xtask oracle`")
                }))
            };
        Self { node: path("ORACLE_NODE"), script: path("ORACLE_SCRIPT") }
    }

    /// Its answers to lines for `archive.mjs`, one each.
    pub(crate) fn each(&self, asked: &[String]) -> Vec<ArchiveAnswer> {
        let input = tempfile::tempdir().expect("a temporary folder");
        let lines = input.path().join("lines");
        fs::write(&lines, asked.join("\n")).expect("a file is written");
        // It is beside `node_modules/@fission-ai/openspec/bin/openspec.js`.
        let folder = self.script.ancestors().nth(5).expect("a folder");
        let lines = fs::File::open(lines).expect("a file is read");
        let output = self.node(&folder.join("archive.mjs"), input.path(), &[], lines.into());
        let answers = output.out.lines().map(serde_json::from_str);
        let answers: Vec<ArchiveAnswer> = answers
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}: {}{}", output.out, output.err));
        assert_eq!(answers.len(), asked.len(), "{}", output.err);
        answers
    }

    /// Runs it in a folder; what it prints.
    pub(crate) fn run(&self, root: &Path, arguments: &[&str]) -> Output {
        self.node(&self.script, root, arguments, Stdio::null())
    }

    /// Runs a script in a folder, without telemetry, in a home of its own.
    fn node(&self, script: &Path, root: &Path, arguments: &[&str], input: Stdio) -> Output {
        let home = tempfile::tempdir().expect("a temporary folder");
        let streams = ["out", "err"].map(|name| home.path().join(name));
        let file = |path: &PathBuf| fs::File::create(path).expect("a file is made");
        let mut child = Command::new(&self.node)
            .arg(script)
            .args(arguments)
            .current_dir(root)
            .env("HOME", home.path())
            .env("XDG_DATA_HOME", home.path())
            .env("XDG_CONFIG_HOME", home.path())
            .env("OPENSPEC_TELEMETRY", "0")
            .env("DO_NOT_TRACK", "1")
            .env("CI", "true")
            .stdin(input)
            .stdout(file(&streams[0]))
            .stderr(file(&streams[1]))
            .spawn()
            .expect("node starts");
        let begun = Instant::now();
        while child.try_wait().expect("node is watched").is_none() {
            if begun.elapsed() > DEADLINE {
                child.kill().expect("node is ended");
                panic!("the tool took longer than {DEADLINE:?}: {arguments:?}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        let [out, err] = streams.map(|path| fs::read_to_string(path).expect("what node printed"));
        Output { out, err }
    }

    /// Runs a command that must not fail.
    pub(crate) fn must(&self, root: &Path, arguments: &[&str]) {
        let output = self.run(root, arguments);
        assert!(!output.err.contains("Error"), "{arguments:?}: {}", output.err);
    }

    /// Its verdicts on everything in a project: one run with `--strict`, one without.
    pub(crate) fn verdicts(&self, root: &Path) -> Verdicts {
        let mut verdicts = Verdicts::new();
        for (key, item) in self.validate(root, &["--strict"]) {
            let mut verdict = Verdict { strictly: item["valid"] == true, ..Verdict::default() };
            for issue in item["issues"].as_array().expect("issues") {
                let text = |name: &str| issue[name].as_str().unwrap_or_default();
                match text("level") {
                    "ERROR" => verdict.errors += 1,
                    // It says this twice, as an error and as a warning.
                    "WARNING" if text("path").ends_with("].scenarios") => {}
                    "WARNING" => verdict.warnings += 1,
                    _ => {}
                }
                let [level, path, message] = ["level", "path", "message"].map(text);
                verdict.reasons.push(format!("{level} {path} {}: {message}", issue["line"]));
            }
            verdicts.insert(key, verdict);
        }
        for (key, item) in self.validate(root, &[]) {
            let verdict = verdicts.get_mut(&key).expect("both runs know the same items");
            verdict.valid = item["valid"] == true;
        }
        verdicts
    }

    fn validate(&self, root: &Path, more: &[&str]) -> Vec<(String, Value)> {
        let arguments = [&["validate", "--all", "--json"], more].concat();
        let output = self.run(root, &arguments);
        let report: Value = serde_json::from_str(&output.out)
            .unwrap_or_else(|error| panic!("{error}: {}", output.err));
        let items = report["items"].as_array().unwrap_or_else(|| panic!("no items: {report}"));
        let key = |item: &Value| {
            format!("{}/{}", item["type"].as_str().expect("type"), item["id"].as_str().expect("id"))
        };
        items.iter().map(|item| (key(item), item.clone())).collect()
    }
}
