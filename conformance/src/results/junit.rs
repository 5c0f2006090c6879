//! JUnit XML: a suite for each target and revision, a test case for each case.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{Case, Outcome, Results, Subject};

/// Writes the results.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(results: &Results, mut out: impl Write) -> io::Result<()> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let failures = results.cases().filter(|(_, case)| results.fails(case));
    let attributes = [
        ("name", "mcp-conformance".to_owned()),
        ("tests", results.cases().count().to_string()),
        ("failures", failures.count().to_string()),
    ];
    writer
        .create_element("testsuites")
        .with_attributes(attributes.iter().map(|(name, value)| (*name, value.as_str())))
        .write_inner_content(|writer| {
            for target in &results.targets {
                suites(writer, results, target)?;
            }
            Ok(())
        })?;
    // Names of servers and values of all kinds may have them.
    let text = clean(&String::from_utf8_lossy(&writer.into_inner()));
    writeln!(out, "{text}")
}

fn suites(writer: &mut Writer<impl Write>, results: &Results, target: &Subject) -> io::Result<()> {
    if let Some(why) = &target.unreachable {
        let name = target.name.as_str();
        let suite = writer.create_element("testsuite");
        let suite = suite.with_attributes([("name", name), ("tests", "1"), ("errors", "1")]);
        suite.write_inner_content(|writer| {
            let case = writer.create_element("testcase");
            let case = case.with_attributes([("classname", name), ("name", "reachable")]);
            let error = ("message", why.as_str());
            let error = |writer: &mut Writer<_>| {
                writer.create_element("error").with_attribute(error).write_empty().map(drop)
            };
            case.write_inner_content(error).map(drop)
        })?;
    }
    let mut revisions: Vec<&str> = Vec::new();
    for case in &target.cases {
        if !revisions.contains(&case.revision.as_str()) {
            revisions.push(&case.revision);
        }
    }
    for revision in revisions {
        let of = |case: &&Case| case.revision == revision;
        let cases: Vec<_> = target.cases.iter().filter(of).collect();
        let failed = cases.iter().filter(|case| results.fails(case)).count();
        let held = cases.iter().filter(|case| case.verdict == Outcome::Holds).count();
        let seconds: f64 = cases.iter().filter_map(|case| case.seconds).sum();
        let attributes = [
            ("name", format!("{} {revision}", target.name).trim_end().to_owned()),
            ("timestamp", results.at.trim_end_matches('Z').to_owned()),
            ("tests", cases.len().to_string()),
            ("failures", failed.to_string()),
            ("errors", "0".to_owned()),
            ("skipped", (cases.len() - failed - held).to_string()),
            ("time", format!("{seconds:.3}")),
        ];
        let attributes = attributes.each_ref().map(|(name, value)| (*name, value.as_str()));
        writer.create_element("testsuite").with_attributes(attributes).write_inner_content(
            |writer| {
                cases.iter().try_for_each(|case| test_case(writer, results, target, case))?;
                let calls = target.calls.as_ref().filter(|calls| calls.revision == revision);
                if let Some(calls) = calls {
                    let text = calls.to_string();
                    let element = writer.create_element("system-out");
                    element.write_text_content(BytesText::new(&text))?;
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

fn test_case(
    writer: &mut Writer<impl Write>,
    results: &Results,
    target: &Subject,
    case: &Case,
) -> io::Result<()> {
    let seconds = format!("{:.3}", case.seconds.unwrap_or_default());
    let class = format!("{} {}", target.name, case.revision);
    let element = writer.create_element("testcase").with_attributes([
        ("classname", class.trim_end()),
        ("name", case.name.as_str()),
        ("time", seconds.as_str()),
    ]);
    let seen = case.seen.clone().unwrap_or_else(|| case.title.clone());
    let level = case.level.map_or("finding".to_owned(), |level| level.to_string());
    let (kind, message) = match case.verdict {
        Outcome::Holds => return element.write_empty().map(drop),
        Outcome::Finding | Outcome::Fixed if results.fails(case) => ("failure", seen),
        Outcome::Finding | Outcome::Fixed => ("skipped", format!("{level}: {seen}")),
        Outcome::Known => ("skipped", format!("known: {seen}")),
        Outcome::Inapplicable => ("skipped", seen),
        Outcome::Unclear => ("skipped", format!("not judged: {seen}")),
    };
    element.write_inner_content(|writer| {
        let mut inner = writer.create_element(kind).with_attribute(("message", message.as_str()));
        if kind != "failure" {
            return inner.write_empty().map(drop);
        }
        inner = inner.with_attribute(("type", level.as_str()));
        let text = details(case);
        inner.write_text_content(BytesText::new(&text)).map(drop)
    })?;
    Ok(())
}

/// Everything that a person needs.
fn details(case: &Case) -> String {
    let mut text = format!("{}\n", case.title);
    for (name, value) in [("section", &case.section), ("change", &case.fix)] {
        if let Some(value) = value {
            text += &format!("{name}: {value}\n");
        }
    }
    text + case.exchange.as_deref().unwrap_or_default()
}

/// Without the control characters that XML 1.0 cannot hold.
fn clean(text: &str) -> String {
    let is_good = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(is_good).collect()
}
