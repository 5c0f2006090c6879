//! The measured values of each round, and their summary: medians, and ratios to the floor within each round.

use serde_json::{Value, json};

use crate::era::Era;
use xtask::{Result, say};

/// One kind of figure, with a row for each server.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    /// Whether less is better.
    pub(super) is_cost: bool,
    pub(super) rows: Vec<Row>,
}

/// The values of one server, in the order of the rounds.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) server: String,
    pub(super) era: Era,
    pub(super) values: Vec<f64>,
    /// The reason why values are missing, or were not measured to the end.
    pub(super) failure: Option<String>,
}

/// A server or case that has a row.
pub(super) trait Measured {
    fn name(&self) -> String;
    fn era(&self) -> Era;
}

/// The name, the unit, and whether less is better.
pub(super) type Kind = (&'static str, &'static str, bool);

impl Figure {
    fn new((name, unit, is_cost): Kind) -> Self {
        Self { name, unit, is_cost, rows: Vec::new() }
    }

    /// The median of the ratios to the floor in the same era, or in the other era if the floor has only that one.
    pub(super) fn ratio(&self, row: &Row) -> Option<f64> {
        let floors = || self.rows.iter().filter(|row| row.server == "floor");
        let floor = floors().find(|floor| floor.era == row.era).or_else(|| floors().next())?;
        let ratios = row.values.iter().zip(&floor.values);
        median(
            ratios.filter(|(_, floor)| **floor > 0.0).map(|(value, floor)| value / floor).collect(),
        )
    }

    /// Prints the figure as a table.
    pub(super) fn print(&self) -> Result<()> {
        let better = if self.is_cost { "less" } else { "more" };
        say(&format!("\n{}, {} ({better} is better)\n", self.name, self.unit))?;
        say("| server | era | median | × floor |")?;
        say("|---|---|---|---|")?;
        for row in &self.rows {
            let median = row.median().map_or_else(|| "–".to_owned(), shown);
            let ratio =
                self.ratio(row).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
            let era = row.era.name();
            say(&format!("| {} | {era} | {median} | {ratio} |", row.server))?;
            if let Some(failure) = &row.failure {
                say(&format!("{} ({era}) FAILED: {failure}", row.server))?;
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "server": row.server, "era": row.era.name(), "values": row.values, "median": row.median(),
                    "ratio": self.ratio(row), "failure": row.failure,
                })
            })
            .collect();
        json!({ "name": self.name, "unit": self.unit, "lessIsBetter": self.is_cost, "rows": rows })
    }
}

impl Row {
    pub(super) fn median(&self) -> Option<f64> {
        median(self.values.clone())
    }

    /// Whether it is one of the project's own servers, which must not fail.
    pub(super) fn is_own(&self) -> bool {
        ["floor", "ours", "ours-http", "universe-server"].contains(&self.server.as_str())
    }
}

/// Measures servers one after another, `rounds` times, so that a disturbance of the machine affects them all. A server
/// that fails is left out from then on.
///
/// # Errors
/// When nothing can be printed.
pub(super) fn interleaved<T: Measured>(
    kinds: &[Kind],
    measured: &[&T],
    rounds: usize,
    measure: impl Fn(&T) -> Result<Vec<f64>>,
) -> Result<Vec<Figure>> {
    let mut figures: Vec<_> = kinds.iter().copied().map(Figure::new).collect();
    for figure in &mut figures {
        figure.rows.extend(measured.iter().map(|it| Row {
            server: it.name(),
            era: it.era(),
            values: Vec::new(),
            failure: None,
        }));
    }
    for _ in 0..rounds {
        for (number, each) in measured.iter().enumerate() {
            let has_failed =
                |figure: &Figure| figure.rows.get(number).is_none_or(|row| row.failure.is_some());
            if figures.iter().any(has_failed) {
                continue;
            }
            let outcome = measure(each).map_err(|error| error.to_string());
            for (at, figure) in figures.iter_mut().enumerate() {
                let Some(row) = figure.rows.get_mut(number) else {
                    continue;
                };
                match &outcome {
                    Ok(values) => row.values.extend(values.get(at)),
                    Err(error) => row.failure = Some(error.clone()),
                }
            }
        }
    }
    for figure in &figures {
        figure.print()?;
    }
    Ok(figures)
}

/// The median. `None` if there are no values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        1 => values.get(half).copied(),
        _ => Some((values.get(half.checked_sub(1)?)? + values.get(half)?) / 2.0),
    }
}

/// A number with three significant digits.
pub(super) fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A number of things as a figure.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(super) fn count_of(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_each_round() {
        let mut figure = Figure::new(("calls", "1/s", false));
        let row = |server: &str, values: &[f64]| Row {
            server: server.to_owned(),
            era: Era::Legacy,
            values: values.to_vec(),
            failure: None,
        };
        figure.rows = vec![
            row("floor", &[100.0, 10.0, 50.0]),
            row("ours", &[50.0, 9.0, 25.0]),
            row("gone", &[]),
        ];
        let ratios: Vec<_> = figure.rows.iter().map(|row| figure.ratio(row)).collect();
        assert_eq!(ratios, [Some(1.0), Some(0.5), None]);
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), Some(2.5));
    }
}
