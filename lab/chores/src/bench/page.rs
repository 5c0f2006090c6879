//! The page of figures, `docs/src/figures.md`, with its picture: the results of the last whole run, and what tests and
//! other chores have written down. Nothing on it is written by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Duration;

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::figure::{count_of, shown};
use crate::era::{LEGACY, MODERN};
use xtask::{Result, process, root, say};

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#222}.head{font-weight:600}.floor{fill:#999}\
.own{fill:#1b7f5c}.other{fill:#6d8fb8}";
/// The width of the picture, the left end of bars, the longest bar, and the height of a row, in units of the picture.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 200.0;
const LONGEST: f64 = 520.0;
const ROW: f64 = 22.0;
/// The longest bar as a multiple of the floor's. Otherwise one server with hundreds would make the others invisible.
const CUT: f64 = 20.0;
/// What the picture shows, in the older era.
const PICTURED: [&str; 4] = [
    "Small calls, 64 connections",
    "Small calls, 64 connections: 99 of 100 answers within",
    "Memory of a session with an open stream",
    "Size of the program",
];

/// Writes the page and its picture from the results of a whole run.
///
/// # Errors
/// When a file that it takes figures from is missing, or it cannot be written.
pub(super) fn write(results: &Value) -> Result<()> {
    let docs = root().join("docs/src");
    let orbits = fs::read_to_string(docs.join("reference/orbits.md"))?;
    let judged = fs::read_to_string(root().join("conformance/docs/servers.md"))?;
    fs::write(docs.join("figures.md"), page(results, &orbits, &judged, &reports()?)?)?;
    fs::write(docs.join("figures.svg"), picture(results))?;
    say("written to docs/src/figures.md and docs/src/figures.svg")
}

fn page(results: &Value, orbits: &str, judged: &str, reports: &Reports) -> Result<String> {
    let about = |what: &str| match results.get("about").map_or("", |about| text(about, what)) {
        "" => "unknown".to_owned(),
        about => about.to_owned(),
    };
    let mut page = format!(
        "# Figures\n\n\
        Written by `cargo xtask bench`, which measures for half an hour on a Linux machine that does\n\
        nothing else; with `--page` it writes this again from the last run. The last run:\n\n\
        - {}\n- {}\n- {}\n- commit {}\n\n\
        ![Four of the figures as bars](figures.svg)\n\n\
        ## Beside other libraries\n\n\
        The floor is plain hyper and serde_json that answer the same. The other columns are medians of\n\
        ratios to it within a round: {LEGACY} / {MODERN}, or the one that there is. All servers ran in\n\
        turn, with the same tools. Compare the ratios; what the floor reaches holds for that machine\n\
        and hour. It has no sessions, so their memory is given in KiB.\n\n",
        about("processor"),
        about("compiler"),
        about("plan"),
        about("commit"),
    );
    for (name, reason) in results["skipped"].as_array().into_iter().flatten().filter_map(pair) {
        writeln!(page, "{name} was skipped: {reason}\n")?;
    }
    compared(&mut page, results)?;
    page.push_str(
        "\n## The universe server\n\n| what | unit | case | median |\n|---|---|---|---|\n",
    );
    for figure in figures(results).filter(|figure| !is_compared(figure)) {
        for row in rows(figure).filter(|row| text(row, "server") != "floor") {
            let case = format!("{}, {}", text(row, "server"), text(row, "era"));
            let (name, unit) = (text(figure, "name"), text(figure, "unit"));
            writeln!(page, "| {name} | {unit} | {case} | {} |", number(&row["median"]))?;
        }
    }
    let sky = orbits.lines().skip_while(|line| !line.starts_with("| body |"));
    let sky: Vec<_> = sky.take_while(|line| line.starts_with('|')).collect();
    writeln!(
        page,
        "\n## The sky\n\n\
        How far [the bodies of Sol](reference/orbits.md#how-true-sol-is) are from where an ephemeris\n\
        has them, on 200 dates from 1950 to 2050. A test holds these figures.\n\n{}",
        sky.join("\n")
    )?;
    // Server, transport, revisions, MUST, SHOULD, practice, tools called, time.
    let broken = |at: usize| {
        let cell = move |line: &str| line.split('|').nth(at)?.trim().parse::<usize>().ok();
        let cells: Vec<_> = judged.lines().filter_map(cell).collect();
        (cells.len(), cells.iter().filter(|count| **count > 0).count())
    };
    let ((checks, must), (_, should), (_, practice)) = (broken(4), broken(5), broken(6));
    let unconfirmed = judged.matches("**not yet**").count();
    writeln!(
        page,
        "\n## What `check` finds\n\n\
        `mcp-conformance check` judged published servers of others {checks} times, over one transport\n\
        each time: {must} times a MUST was broken, {should} times a SHOULD, {practice} times a rule of\n\
        practice. Findings of a MUST that were not repeated by hand: {unconfirmed}. Each is in\n\
        `conformance/docs/servers.md`.\n\n\
        ## Public reports\n\n\
        Reports of users of other programs, replayed on these. Each is a test that names its thread.\n\n\
        | tests of | reports | ignored tests |\n|---|---|---|"
    )?;
    for (tests, (threads, ignored)) in reports {
        writeln!(page, "| {tests} | {} | {ignored} |", threads.len())?;
    }
    Ok(page)
}

/// The table of what was measured beside the floor.
fn compared(page: &mut String, results: &Value) -> Result<()> {
    let mut servers: Vec<&str> = Vec::new();
    for row in figures(results).filter(|figure| is_compared(figure)).flat_map(rows) {
        let server = text(row, "server");
        if server != "floor" && !servers.contains(&server) {
            servers.push(server);
        }
    }
    let names: Vec<_> = servers.iter().map(|name| label(name)).collect();
    writeln!(page, "| what | better is | floor | {} |", names.join(" | "))?;
    writeln!(page, "|---|---|---|{}", "---|".repeat(servers.len()))?;
    for figure in figures(results).filter(|figure| is_compared(figure)) {
        let cell = |server: &str, member: &str| {
            let of = |era: &str| {
                rows(figure).find(|row| text(row, "server") == server && text(row, "era") == era)
            };
            let both = [of(LEGACY), of(MODERN)].into_iter().flatten();
            // Where the floor has none, there is no ratio.
            let shown = |row: &Value| match row[member].as_f64() {
                None => format!("{} {}", number(&row["median"]), text(figure, "unit")),
                Some(figure) => shown(figure),
            };
            let both: Vec<_> = both.map(shown).collect();
            if both.is_empty() { "–".to_owned() } else { both.join(" / ") }
        };
        let better = if figure["lessIsBetter"] == true { "less" } else { "more" };
        let cells: Vec<_> = servers.iter().map(|server| cell(server, "ratio")).collect();
        let floor = format!("{} {}", cell("floor", "median"), text(figure, "unit"));
        writeln!(
            page,
            "| {} | {better} | {floor} | {} |",
            text(figure, "name"),
            cells.join(" | ")
        )?;
    }
    Ok(())
}

/// For each folder with tests, the threads that they name, and how many tests are ignored.
type Reports = BTreeMap<String, (BTreeSet<String>, usize)>;

fn reports() -> Result<Reports> {
    let mut list = Command::new("git");
    list.current_dir(root()).args(["ls-files", "*/tests/*.rs"]);
    let mut reports = Reports::new();
    for path in process::run(&mut list, Duration::from_secs(20))?.stdout.lines() {
        let source = fs::read_to_string(root().join(path))?;
        let threads: BTreeSet<_> = threads(&source).map(str::to_owned).collect();
        if let Some((tests, _)) = path.split_once("/tests/")
            && !threads.is_empty()
        {
            let (all, ignored) = reports.entry(tests.to_owned()).or_default();
            all.extend(threads);
            *ignored += source.matches("#[ignore").count();
        }
    }
    Ok(reports)
}

/// The threads that a text names, as `owner/repository#number`.
fn threads(source: &str) -> impl Iterator<Item = &str> {
    let is_outside = |sign: char| !(sign.is_ascii_alphanumeric() || "-_./#".contains(sign));
    source.split(is_outside).map(|word| word.trim_end_matches('.')).filter(|word| {
        let Some((repository, number)) = word.split_once('#') else {
            return false;
        };
        let names: Vec<_> = repository.split('/').collect();
        matches!(names.as_slice(), [owner, name] if !owner.is_empty() && !name.is_empty())
            && number.parse::<u32>().is_ok()
    })
}

/// The picture: for each figure its bars.
fn picture(results: &Value) -> String {
    let pictured: Vec<_> = PICTURED
        .iter()
        .filter_map(|name| figures(results).find(|figure| text(figure, "name") == *name))
        .map(|figure| (figure, rows(figure).filter(|row| text(row, "era") == LEGACY).collect()))
        .collect();
    let lines: usize = pictured.iter().map(|(_, rows): &(_, Vec<_>)| rows.len() + 2).sum();
    let mut top = 0.0;
    let drawn = pictured.iter().map(|(figure, rows)| {
        let at = top;
        top += ROW * count_of(rows.len() + 2);
        bars(figure, rows, at)
    });
    let drawn: Vec<_> = drawn.collect();
    let height = ROW * count_of(lines);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) role="img" {
            style { (PreEscaped(STYLE)) }
            rect width="100%" height="100%" fill="#fff" {}
            @for figure in &drawn { (figure) }
        }
    }
    .into_string()
}

fn bars(figure: &Value, rows: &[&Value], top: f64) -> Markup {
    let median = |row: &Value| row["median"].as_f64();
    let better =
        if figure["lessIsBetter"] == true { "shorter is better" } else { "longer is better" };
    let most = rows.iter().filter_map(|row| median(row)).fold(f64::MIN_POSITIVE, f64::max);
    let floor = rows.iter().find(|row| text(row, "server") == "floor").and_then(|row| median(row));
    let most = floor.filter(|floor| *floor > 0.0).map_or(most, |floor| most.min(CUT * floor));
    html! {
        text class="head" x="8" y=(top + ROW * 0.8) {
            (text(figure, "name")) ", " (text(figure, "unit")) " (" (better) ")"
        }
        @for (number, row) in rows.iter().enumerate() {
            @let line = top + ROW * count_of(number + 1);
            @let length = median(row).map_or(0.0, |value| LONGEST * (value / most).min(1.0));
            text x=(LEFT - 8.0) y=(line + ROW * 0.7) text-anchor="end" { (label(text(row, "server"))) }
            rect class=(class(row)) x=(LEFT) y=(line + 3.0) width=(format!("{length:.1}")) height=(ROW - 6.0) {}
            text x=(format!("{:.1}", LEFT + length + 6.0)) y=(line + ROW * 0.7) {
                (number_of(row))
            }
        }
    }
}

fn number_of(row: &Value) -> String {
    format!("{} (× {})", number(&row["median"]), number(&row["ratio"]))
}

fn class(row: &Value) -> &'static str {
    match text(row, "server") {
        "floor" => "floor",
        "ours" | "ours-http" => "own",
        _ => "other",
    }
}

/// What a reader calls a server.
fn label(server: &str) -> &str {
    match server {
        "ours" => "this library",
        "ours-http" => "this, `http` alone",
        other => other,
    }
}

fn figures(results: &Value) -> impl Iterator<Item = &Value> {
    results["figures"].as_array().into_iter().flatten()
}

fn rows(figure: &Value) -> impl Iterator<Item = &Value> {
    figure["rows"].as_array().into_iter().flatten()
}

/// Whether it compares libraries.
fn is_compared(figure: &Value) -> bool {
    rows(figure).any(|row| text(row, "server") == "ours")
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), shown)
}

fn pair(value: &Value) -> Option<(&str, &str)> {
    Some((value.get(0)?.as_str()?, value.get(1)?.as_str()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn results() -> Value {
        let row = |server: &str, median: f64, ratio: f64| json!({ "server": server, "era": LEGACY, "median": median, "ratio": ratio });
        json!({
            "about": { "processor": "2 × fast" },
            "skipped": [["peer", "it does not build"]],
            "figures": [
                { "name": PICTURED[0], "unit": "calls/s", "lessIsBetter": false,
                  "rows": [row("floor", 200.0, 1.0), row("ours", 150.0, 0.75), row("a<b", 10.0, 0.05)] },
                { "name": "durable", "unit": "calls/s", "lessIsBetter": false,
                  "rows": [row("universe-server", 7.5, 1.0)] },
            ],
        })
    }

    #[test]
    fn the_page_has_what_was_measured_and_what_was_written_down() {
        let orbits = "text\n| body | seen from |\n|---|---|\n| Mars | the Sun |\n\nmore";
        let judged = "| server | transport | revisions | MUST | SHOULD | practice |\n|---|---|---|---|---|---|\n\
            | a 1 | stdio | x | 0 | 2 | 0 |\n| b 1 | http | x | 3 | 0 | 0 |\n";
        let reports = Reports::from([(
            "server".to_owned(),
            (
                threads("// o/r#1, o/r#1 and o/s#22: text; a#3, /x#4").map(str::to_owned).collect(),
                0,
            ),
        )]);
        let page = page(&results(), orbits, judged, &reports).unwrap();
        for part in [
            "- 2 × fast\n- unknown\n",
            "peer was skipped: it does not build",
            "| what | better is | floor | this library | a<b |",
            "| more | 200 calls/s | 0.75 | 0.05 |",
            "| durable | calls/s | universe-server, 2025-11-25 | 7.50 |",
            "| body | seen from |\n|---|---|\n| Mars | the Sun |\n\n",
            "each time: 1 times a MUST was broken, 1 times a SHOULD, 0 times a rule",
            "| server | 2 | 0 |",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn each_row_has_a_bar_and_its_figures() {
        let picture = picture(&results());
        for part in ["width=\"390.0\"", "150 (× 0.75)", "a&lt;b", "longer is better"] {
            assert!(picture.contains(part), "{part} in {picture}");
        }
    }
}
