//! Recordings in which one byte of one result is another, replayed against the server that they were made of.

use std::path::Path;

use mcp_conformance::{Era, Replay, Target, Transcript};
use proptest::prelude::any;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::check::correct;
use crate::one_byte::changes;
use crate::recording::record;

const SESSION: &str = r#"{"transcript":1,"name":"session"}
{"open":"main"}
{"mcp":{"method":"tools/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"tools/call","params":{"name":"test_simple_text","arguments":{}}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"tools/call","params":{"name":"test_image_content","arguments":{}}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"tools/call","params":{"name":"test_multiple_content_types","arguments":{}}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"tools/call","params":{"name":"test_error_handling","arguments":{}}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"resources/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"resources/templates/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"prompts/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"prompts/get","params":{"name":"test_simple_prompt"}},"expect":{"result":{"$any":true}}}
"#;

/// A scalar of a recording that can be another.
struct Scalar {
    line: usize,
    /// Where in the line.
    within: String,
    /// Where in the answer.
    path: String,
    value: Value,
}

impl Scalar {
    /// The line in which it is the other.
    fn changed(&self, text: &str) -> String {
        let line = text.lines().nth(self.line - 1).unwrap();
        let mut step: Value = serde_json::from_str(line).unwrap();
        *step.pointer_mut(&self.within).unwrap() = self.value.clone();
        step.to_string()
    }
}

fn scalars(text: &str, at: usize) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    for (line, step) in (1..).zip(text.lines()) {
        let step: Value = serde_json::from_str(step).unwrap();
        let mut found = Vec::new();
        changes(&step["expect"]["result"], "", at, &mut found);
        // What is inside a matcher has a path of its own in the answer.
        let found = found.into_iter().map(|(within, value)| Scalar {
            line,
            path: format!("/result{}", within.replace("/$literal", "")),
            within: format!("/expect/result{within}"),
            value,
        });
        scalars.extend(found.filter(|it| !it.path.contains("/$")));
    }
    scalars
}

fn replaced(text: &str, number: usize, line: &str) -> Transcript {
    let lines = (1..).zip(text.lines());
    let lines: Vec<&str> = lines.map(|(at, old)| if at == number { line } else { old }).collect();
    Transcript::parse("changed.jsonl", &lines.join("\n")).unwrap()
}

fn recorded(folder: &Path) -> Vec<(Era, String)> {
    let transcripts = Transcript::read_all([folder]).unwrap();
    let read = |it: &Transcript| std::fs::read_to_string(it.source_name()).unwrap();
    let both = transcripts.iter().map(|it| (it.eras()[0], read(it)));
    both.collect()
}

#[test]
fn one_changed_byte_of_a_recording_fails_at_its_path() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = runtime.block_on(correct::everything_over_http());
    let server = Target::url(&url).unwrap();
    let session = [Transcript::parse("session.jsonl", SESSION).unwrap()];
    runtime.block_on(record(server.clone(), &session, folder.path(), false));
    let recorded = recorded(folder.path());
    assert_eq!(recorded.len(), 2, "one for each era");
    for (era, text) in &recorded {
        let whole = Transcript::parse("whole.jsonl", text).unwrap();
        let outcome = runtime.block_on(Replay::new(server.clone()).run_one(&whole, *era));
        assert!(outcome.is_ok(), "{outcome:?}");
        assert!(scalars(text, 0).len() > 100, "{}", scalars(text, 0).len());
    }
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&any::<(bool, usize, usize)>(), |(which, scalar, at)| {
            let (era, text) = &recorded[usize::from(which)];
            let mut scalars = scalars(text, at);
            let scalar = scalars.swap_remove(scalar % scalars.len());
            let Scalar { line, path, .. } = &scalar;
            let transcript = replaced(text, *line, &scalar.changed(text));
            let replay = Replay::new(server.clone());
            let outcome = runtime.block_on(replay.run_one(&transcript, *era));
            let failure = outcome.expect_err(&format!("{era} {line} {path}"));
            assert_eq!(failure.line, *line, "{failure:?}");
            let named = failure.mismatches.iter().any(|it| it.path == *path);
            assert!(named, "{path}: {failure:?}");
            Ok(())
        })
        .unwrap();
}
