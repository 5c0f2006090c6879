//! One page that needs nothing else: no script, no font, no picture.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::matrix::{Group, LEGEND, groups, rows};
use super::{Location, Outcome, Results, Subject, Tool};

const STYLE: &str = "
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .2rem .6rem; text-align: left; }
td.mark { text-align: center; white-space: nowrap; }
.finding, .fixed { background: #d3382f33; }
.known { background: #b5890033; }
.unclear { background: #6c71c433; }
.holds { background: #2a9d5733; }
.inapplicable { opacity: .6; }
details { border: 1px solid #8886; border-radius: .3rem; margin: .4rem 0; padding: .3rem .7rem; }
summary { cursor: pointer; }
pre { overflow-x: auto; background: #8882; padding: .6rem; border-radius: .3rem; }
";

/// The page.
pub(super) fn page(results: &Results) -> Markup {
    let title = match results.tool {
        Tool::Check => "MCP servers against the rules",
        Tool::Replay => "MCP servers against transcripts",
        Tool::Client => "MCP clients against the rules",
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p { "Written by mcp-conformance " (results.version) " at " time { (results.at) } "." }
                (summary(results))
                h2 { "Matrix" }
                p { (LEGEND) }
                (matrix(results))
                @for (number, target) in (1..).zip(&results.targets) {
                    (subject(number, target))
                }
            }
        }
    }
}

fn summary(results: &Results) -> Markup {
    html! {
        table {
            tr { th {} th { "target" } th { "server" } th { "revisions" } th { "holds" } th { "findings" } th { "known" } th { "not judged" } th { "does not apply" } }
            @for (number, target) in (1..).zip(&results.targets) {
                tr {
                    td { a href=(format!("#t{number}")) { (number) } }
                    td { (target.name) }
                    td { (target.server.as_deref().unwrap_or_default()) }
                    @match &target.unreachable {
                        Some(why) => td.finding { "not reached: " (why) },
                        None => td { (target.revisions.join(", ")) },
                    }
                    td { (target.count(Outcome::Holds)) }
                    td { (target.by_level(Outcome::fails)) }
                    td { (target.count(Outcome::Known)) }
                    td { (target.count(Outcome::Unclear)) }
                    td { (target.count(Outcome::Inapplicable)) }
                }
            }
        }
    }
}

fn matrix(results: &Results) -> Markup {
    html! {
        table {
            tr {
                th {} th {}
                @for (number, target) in (1..).zip(&results.targets) {
                    th title=(target.name) { a href=(format!("#t{number}")) { (number) } }
                }
            }
            @for row in rows(results) {
                tr {
                    th title=(row.case.title) { (row.case.name) }
                    td { (row.case.level.map(|it| it.to_string()).unwrap_or_default()) }
                    @for cell in &row.cells {
                        td class=(format!("mark {}", cell.outcome.map_or("", class))) { (cell.text()) }
                    }
                }
            }
        }
    }
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Finding => "finding",
        Outcome::Known => "known",
        Outcome::Fixed => "fixed",
        Outcome::Inapplicable => "inapplicable",
        Outcome::Unclear => "unclear",
    }
}

fn subject(number: usize, target: &Subject) -> Markup {
    let groups = groups(&target.cases);
    html! {
        h2 id=(format!("t{number}")) { (number) ". " (target.name) }
        @if let Some(calls) = &target.calls { p { (calls.to_string()) "." } }
        @if groups.is_empty() && target.unreachable.is_none() {
            p { "No findings." }
        }
        @for group in groups {
            (finding(&group))
        }
    }
}

fn finding(group: &Group<'_>) -> Markup {
    let case = group.case;
    let level = case.level.map(|it| it.to_string()).unwrap_or_default();
    let label = match case.verdict {
        Outcome::Finding => level,
        Outcome::Known => format!("{level} (known)"),
        Outcome::Fixed => "holds, but is in the baseline".to_owned(),
        Outcome::Unclear => "not judged".to_owned(),
        Outcome::Holds | Outcome::Inapplicable => String::new(),
    };
    html! {
        details class=(class(case.verdict)) {
            summary {
                strong { (label) " " (case.name) }
                (group.within()) ": " (case.seen.as_deref().unwrap_or_default())
            }
            p { (case.title) "." }
            @if let Some(section) = &case.section { p { "Section: " (section) } }
            @if let Some(fix) = &case.fix { p { "Change: " (fix) } }
            @if let Some(Location { file, line }) = &case.place { p { (file) ":" (line) } }
            @if let Some(exchange) = &case.exchange { pre { (exchange) } }
        }
    }
}
