//! Reports of a check: each format holds what was found, several targets stand in one, and a baseline is held to.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use super::command_line::{bad, good};
use crate::command_line::run;

const ONLY: [&str; 6] =
    ["--only", "base.ping", "--only", "base.id-echo", "--revision", "2025-11-25"];

/// The report on a server that breaks one rule of two, and on one that keeps both.
async fn report(format: &str) -> String {
    let (bad, good) = (bad("base.ping"), good());
    let servers = ["--url", &bad, "--url", &good, "--name", "ba<d", "--name", "good"];
    let arguments = [&["check", "--format", format], &servers[..], &ONLY].concat();
    let (code, out, err) = run(&arguments).await;
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    out
}

/// What of an XML text counts: how often each element comes, and the attributes of all.
fn elements(xml: &str) -> (BTreeMap<String, usize>, Vec<String>) {
    let (mut counts, mut attributes) = (BTreeMap::new(), Vec::new());
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name().as_ref().to_owned();
                *counts.entry(name).or_default() += 1;
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    attributes.push(format!("{}={}", attribute.key.as_ref(), attribute.value));
                }
            }
            Event::Eof => return (counts, attributes),
            _ => {}
        }
    }
}

#[tokio::test]
async fn junit_has_a_suite_for_each_target_and_a_failure_for_each_finding() {
    let xml = report("junit").await;
    let (counts, attributes) = elements(&xml);
    assert_eq!(counts["testsuite"], 2);
    assert_eq!(counts["testcase"], 4);
    assert_eq!(counts["failure"], 1, "{xml}");
    for attribute in [
        "name=ba&lt;d 2025-11-25",
        "type=MUST",
        "failures=1",
        "failures=0",
        "classname=good 2025-11-25",
    ] {
        assert!(attributes.iter().any(|it| it == attribute), "{attribute}\n{xml}");
    }
    assert!(xml.contains("change: answer ping with"), "{xml}");
}

#[tokio::test]
async fn sarif_is_what_its_schema_says_and_names_the_rule() {
    let log: Value = serde_json::from_str(&report("sarif").await).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../data/sarif-2.1.0.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<_> = validator.iter_errors(&log).map(|it| it.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["level"] = "MUST".into();
    assert!(!validator.is_valid(&wrong), "the schema finds nothing");

    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let (result, rules) = (&results[0], &run["tool"]["driver"]["rules"]);
    assert_eq!(result["ruleId"], "base.ping");
    assert_eq!(result["level"], "error");
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], "base.ping");
    let location = &result["locations"][0];
    assert_eq!(location["logicalLocations"][0]["name"], "ba<d");
    // GitHub refuses a file in which a result has none (forcedotcom/code-analyzer#1970, microsoft/sarif-sdk#2694).
    let place = &location["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "ba-d");
    assert_eq!(place["region"]["startLine"], 1);
}

#[tokio::test]
async fn the_page_needs_nothing_else_and_folds_the_exchange() {
    let page = report("html").await;
    for wanted in [
        "<!DOCTYPE html>",
        "default-src 'none'",
        "<details",
        "ba&lt;d",
        "<th title=\"ping is answered with an empty result\">base.ping</th><td>MUST</td>\
         <td class=\"mark finding\">✗</td><td class=\"mark holds\">✓</td>",
        "&quot;pong&quot;:true",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    for unwanted in ["<script", "<link", "<img", "src=", "url(", "ba<d"] {
        assert!(!page.contains(unwanted), "{unwanted}");
    }
}

#[tokio::test]
async fn the_markdown_page_is_a_matrix_with_each_finding_below() {
    let page = report("markdown").await;
    for line in [
        "| 1 | ba\\<d | correct 1.0.0 | 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28 | 1 | 1 MUST, 0 SHOULD, 0 practice | 0 |",
        "| `base.ping` | MUST | ✗ | ✓ |",
        "| `base.id-echo` | MUST | ✓ | ✓ |",
        "## 1. ba\\<d",
    ] {
        assert!(page.lines().any(|it| it == line), "{line}\n{page}");
    }
    assert!(!page.contains("## 2."), "{page}");
    assert!(page.contains("- **MUST `base.ping`** (2025-11-25): "), "{page}");
}

#[tokio::test]
async fn results_are_put_together_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, url) in [("bad", bad("base.ping")), ("good", good())] {
        let file = path(name);
        let output = ["--name", name, "--format", "json", "--output", &file];
        let (_, out, _) = run(&[&["check", "--url", &url], &output[..], &ONLY].concat()).await;
        assert!(out.contains(&format!("{name}: supports ")), "the text goes on: {out}");
    }
    let (bad, good) = (path("bad"), path("good"));
    let (code, out, _) = run(&["report", "--format", "markdown", &bad, &good]).await;
    assert_eq!(code, 1);
    assert!(out.contains("| `base.ping` | MUST | ✗ | ✓ |"), "{out}");
    assert_eq!(run(&["report", &good]).await.0, 0);

    std::fs::write(path("other"), "{\"report\":1}").unwrap();
    let (code, _, err) = run(&["report", &good, &path("other")]).await;
    assert_eq!(code, 2);
    assert!(err.contains("other: missing field `tool`"), "{err}");
}

#[tokio::test]
async fn a_baseline_keeps_what_is_known_and_fails_where_it_is_out_of_date() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("known.json");
    let path = file.to_str().unwrap();
    let check = async |url: &str, option: &str| {
        run(&[&["check", "--url", url, option, path], &ONLY[..]].concat()).await
    };
    let (code, _, err) = check(&bad("base.ping"), "--write-baseline").await;
    assert_eq!((code, err.as_str()), (0, ""));
    let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let known = &written["known"];
    assert_eq!(known.as_array().unwrap().len(), 1);
    assert_eq!((&known[0]["name"], &known[0]["target"]), (&json!("base.ping"), &Value::Null));

    let (code, out, _) = check(&bad("base.ping"), "--baseline").await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("known base.ping (2025-11-25): "), "{out}");
    assert!(
        out.contains(
            "0 MUST, 0 SHOULD, 0 practice, 1 in the baseline, 0 in the baseline that hold now"
        ),
        "{out}"
    );

    // Another failure is not covered, and one that is gone has to go.
    let (code, out, _) = check(&bad("base.id-echo"), "--baseline").await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("MUST base.id-echo"), "{out}");
    let (code, out, _) = check(&good(), "--baseline").await;
    assert_eq!(code, 1, "{out}");
    let says = "base.ping (2025-11-25): listed in the baseline as failing, but holds now";
    assert!(out.contains(says), "{out}");

    for (text, says) in [
        ("{}", "the baseline cannot be read: missing field"),
        ("{\"baseline\":2,\"known\":[]}", "version 2 of the format"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (code, _, err) = check(&good(), "--baseline").await;
        assert_eq!(code, 2);
        assert!(err.contains(says), "{err}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_does_not_hide_the_others() {
    let good = good();
    let servers = ["--url", &good, "--command", "/no/such/server"];
    let arguments = [&["check", "--format", "junit"], &servers[..], &ONLY].concat();
    let (code, out, _) = run(&arguments).await;
    assert_eq!(code, 3, "{out}");
    let (counts, _) = elements(&out);
    assert_eq!((counts["testcase"], counts["error"]), (3, 1), "{out}");
    let names = ["--name", "one"];
    let (code, _, err) = run(&[&arguments[..], &names].concat()).await;
    assert_eq!(code, 2);
    assert!(err.contains("--name is given 1 times for 2 servers"), "{err}");
}
