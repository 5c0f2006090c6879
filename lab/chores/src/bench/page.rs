//! The results as one self-contained page: bars in SVG, with the figures beside them.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::figure::{Figure, Row, shown};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
h2{font-size:1.1rem;margin:2rem 0 .3rem}svg{width:100%;height:auto;font:13px system-ui,sans-serif}\
.floor{fill:#999}.own{fill:#1b7f5c}.other{fill:#6d8fb8}.note{color:#555}";
/// The width of the picture, the left end of bars, the longest bar, and the height of a row, in units of the picture.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 260.0;
const LONGEST: f64 = 460.0;
const ROW: f64 = 22.0;
/// The longest bar as a multiple of the floor's. Otherwise one server with hundreds would make the others invisible.
const CUT: f64 = 20.0;

/// The page. `about` describes the machine; `skipped` lists what was not measured, and why.
pub(super) fn page(
    figures: &[Figure],
    about: &[(&str, String)],
    skipped: &[(String, String)],
) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "MCP servers beside the floor" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "MCP servers beside the floor" }
                p {
                    "Medians; in brackets the median of the ratios to the floor within each round. The floor is plain hyper \
                     and serde_json answering the same. All servers ran in turn on one machine with the load. Compare ratios: \
                     the figures themselves hold for this machine and hour. Bars of more than 20 times the floor are cut."
                }
                ul class="note" {
                    @for (name, value) in about { li { (name) ": " (value) } }
                    @for (name, reason) in skipped { li { (name) " was skipped: " (reason) } }
                }
                @for figure in figures { (bars(figure)) }
            }
        }
    }
    .into_string()
}

fn bars(figure: &Figure) -> Markup {
    let better = if figure.is_cost { "shorter is better" } else { "longer is better" };
    let most = figure.rows.iter().filter_map(Row::median).fold(f64::MIN_POSITIVE, f64::max);
    let floor = figure.rows.iter().find(|row| row.server == "floor").and_then(Row::median);
    let most = floor.filter(|floor| *floor > 0.0).map_or(most, |floor| most.min(CUT * floor));
    let height = ROW * super::figure::count_of(figure.rows.len());
    html! {
        h2 { (figure.name) " · " (figure.unit) " · " (better) }
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(figure.name) {
            @for (number, row) in figure.rows.iter().enumerate() {
                @let top = ROW * super::figure::count_of(number);
                @let text = top + ROW * 0.7;
                @let length = row.median().map_or(0.0, |value| LONGEST * (value / most).min(1.0));
                text x=(LEFT - 8.0) y=(text) text-anchor="end" { (row.server) " · " (row.era.name()) }
                rect class=(class(row)) x=(LEFT) y=(top + 3.0) width=(format!("{length:.1}")) height=(ROW - 6.0) {}
                text x=(format!("{:.1}", LEFT + length + 6.0)) y=(text) { (label(figure, row)) }
            }
        }
    }
}

fn class(row: &Row) -> &'static str {
    match row.server.as_str() {
        "floor" => "floor",
        _ if row.is_own() => "own",
        _ => "other",
    }
}

fn label(figure: &Figure, row: &Row) -> String {
    match (row.median(), figure.ratio(row)) {
        (Some(median), Some(ratio)) => format!("{} (×{ratio:.2})", shown(median)),
        (Some(median), None) => shown(median),
        (None, _) => row.failure.as_deref().map_or("–", |_| "failed").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;

    #[test]
    fn each_row_has_a_bar_and_its_figures() {
        let row = |server: &str, value: f64| Row {
            server: server.to_owned(),
            era: Era::Modern,
            values: vec![value],
            failure: None,
        };
        let figure = Figure {
            name: "Calls",
            unit: "calls/s",
            is_cost: false,
            rows: vec![row("floor", 200.0), row("ours", 150.0)],
        };
        let skipped = [("peer".to_owned(), "it does not build".to_owned())];
        let page = page(&[figure], &[("machine", "two <processors>".to_owned())], &skipped);
        for part in [
            "width=\"345.0\"",
            "150 (×0.75)",
            "two &lt;processors&gt;",
            "peer was skipped: it does not build",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
