//! Tables in CSV.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::error::{LoadError, Problem, Table};
use super::header::{self, Columns};
use super::{Read, json, source};
use crate::map::{Kind, PartsConstellation, PartsRegion, PartsSystem, Warning, within};

/// How tables write a missing value.
const NOTHING: [&str; 4] = ["", "None", "NULL", "\\N"];

/// Checks that all tables that a map needs are present.
pub(super) fn complete(files: &BTreeMap<Table, &Path>) -> Result<(), Problem> {
    let needed = [Table::Systems, Table::Gates, Table::Constellations, Table::Regions];
    match needed.into_iter().find(|table| !files.contains_key(table)) {
        Some(table) => Err(Problem::NoTable(table)),
        None => Ok(()),
    }
}

/// Reads one file for each table.
pub(super) fn read(files: &BTreeMap<Table, &Path>) -> Result<Read, LoadError> {
    let mut reading = Reading::default();
    for path in files.values() {
        reading.table(path).map_err(|problem| problem.at(path))?;
    }
    Ok(reading.finish())
}

#[derive(Debug, Default)]
struct Reading {
    read: Read,
    positions: HashMap<u32, [f64; 3]>,
}

/// A row and its location.
struct Row<'r> {
    record: &'r ByteRecord,
    header: &'r ByteRecord,
    line: u64,
}

impl Reading {
    fn table(&mut self, path: &Path) -> Result<(), Problem> {
        let bytes = source::whole(path)?;
        let text = json::without_mark(&bytes).trim_ascii_start();
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut rows = ReaderBuilder::new()
            .delimiter(header::delimiter(&String::from_utf8_lossy(first)))
            .from_reader(text);
        let header = rows.byte_headers().map_err(|error| said(&error))?.clone();
        let names = header.iter().map(|name| str::from_utf8(name).unwrap_or_default());
        let columns = Columns::of(names)
            .ok_or_else(|| Problem::line(1, "these are not the columns of a map"))?;
        let kind = kind_of(columns.table());
        let mut record = ByteRecord::new();
        let mut count = 0;
        while rows.read_byte_record(&mut record).map_err(|error| said(&error))? {
            count += 1;
            within(kind, count)?;
            let line = record.position().map_or(0, csv::Position::line);
            let row = Row { record: &record, header: &header, line };
            row.one_line()?;
            self.row(columns, &row)?;
        }
        Ok(())
    }

    fn row(&mut self, columns: Columns, row: &Row<'_>) -> Result<(), Problem> {
        let Read { parts, warnings, .. } = &mut self.read;
        match columns {
            Columns::Systems { id, name, security, constellation, position } => {
                let id = row.id(id)?;
                let position = position.map(|columns| row.position(columns)).transpose()?;
                let Some(security) = row.number(security)? else {
                    let (kind, lacks) = (Kind::System, "security status");
                    warnings.push(Warning::Incomplete { kind, id, lacks });
                    return Ok(());
                };
                parts.systems.push(PartsSystem {
                    id,
                    name: row.text(name)?.to_owned(),
                    security,
                    constellation: row.id(constellation)?,
                    position: position.flatten(),
                });
            }
            Columns::Gates { id, from, to } => {
                let (from, to) = (row.id(from)?, row.id(to)?);
                parts.gates.push((from, to));
                if let Some(id) = id {
                    parts.gate_ids.push((from, to, row.id(id)?));
                }
            }
            Columns::Constellations { id, name, region } => {
                parts.constellations.push(PartsConstellation {
                    id: row.id(id)?,
                    name: row.text(name)?.to_owned(),
                    region: row.id(region)?,
                });
            }
            Columns::Regions { id, name } => parts
                .regions
                .push(PartsRegion { id: row.id(id)?, name: row.text(name)?.to_owned() }),
            Columns::Positions { system, position } => {
                if let Some(position) = row.position(position)? {
                    self.positions.insert(row.id(system)?, position);
                }
            }
        }
        Ok(())
    }

    /// A position in the table of systems takes precedence over one in a separate table.
    fn finish(mut self) -> Read {
        for system in &mut self.read.parts.systems {
            let elsewhere = || self.positions.get(&system.id).copied();
            system.position = system.position.or_else(elsewhere);
        }
        self.read
    }
}

impl Row<'_> {
    /// An unclosed quote would make one field of all following rows.
    fn one_line(&self) -> Result<(), Problem> {
        if self.record.as_slice().contains(&b'\n') {
            Err(Problem::line(self.line, "a quoted field continues in the next line"))
        } else {
            Ok(())
        }
    }

    fn text(&self, column: usize) -> Result<&str, Problem> {
        let field = self.record.get(column).unwrap_or_default();
        let text = str::from_utf8(field).map_err(|_| self.wrong(column, "is not UTF-8"))?;
        Ok(text.trim())
    }

    fn id(&self, column: usize) -> Result<u32, Problem> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.wrong(column, &format!("is {}, not an id", quoted(text))))
    }

    fn number(&self, column: usize) -> Result<Option<f64>, Problem> {
        let text = self.text(column)?;
        if NOTHING.contains(&text) {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(column, &format!("is {}, not a number", quoted(text)))),
        }
    }

    /// All three numbers or none.
    fn position(&self, [x, y, z]: [usize; 3]) -> Result<Option<[f64; 3]>, Problem> {
        let (x, y, z) = (self.number(x)?, self.number(y)?, self.number(z)?);
        Ok(x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]))
    }

    fn wrong(&self, column: usize, what: &str) -> Problem {
        let name = self.header.get(column).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        Problem::line(self.line, format!("{} {what}", name.trim()))
    }
}

/// What the rows of a table are about.
fn kind_of(table: Table) -> Kind {
    match table {
        Table::Systems | Table::Positions => Kind::System,
        Table::Gates => Kind::Gate,
        Table::Constellations => Kind::Constellation,
        Table::Regions => Kind::Region,
    }
}

fn said(error: &csv::Error) -> Problem {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Problem::line(
            line,
            format!("{len} fields, but the first line names {expected_len} columns"),
        ),
        _ => Problem::damaged(error),
    }
}

/// The first characters of a field, to quote in an error.
fn quoted(text: &str) -> String {
    let first: String = text.chars().take(40).collect();
    format!("{first:?}")
}
