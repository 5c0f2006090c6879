//! Recognizes a table and its columns by its first line.

use super::error::Table;

/// The position of each column in a table. Missing columns are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Systems {
        id: usize,
        name: usize,
        security: usize,
        constellation: usize,
        position: Option<[usize; 3]>,
    },
    Gates {
        id: Option<usize>,
        from: usize,
        to: usize,
    },
    Constellations {
        id: usize,
        name: usize,
        region: usize,
    },
    Regions {
        id: usize,
        name: usize,
    },
    Positions {
        system: usize,
        position: [usize; 3],
    },
}

impl Columns {
    /// Finds the columns in any order and case, also if there are others. `None` if this is not a table of a map.
    pub(super) fn of<'h>(header: impl Iterator<Item = &'h str>) -> Option<Self> {
        let names: Vec<String> = header.map(plain).collect();
        let find = |any: &[&str]| {
            let mut found = any.iter().filter_map(|it| names.iter().position(|name| name == it));
            found.next()
        };
        let position = || Some([find(&["x", "xm"])?, find(&["y", "ym"])?, find(&["z", "zm"])?]);
        if let Some(to) = find(&["tosolarsystemid", "tosystemid", "destinationsystemid"]) {
            let from = find(&["fromsolarsystemid", "fromsystemid", "solarsystemid", "systemid"])?;
            return Some(Self::Gates { id: find(&["stargateid", "gateid"]), from, to });
        }
        if let Some(id) = find(&["solarsystemid", "systemid"]) {
            let name = find(&["solarsystemname", "systemname", "name"]);
            let security = find(&["security", "securitystatus"]);
            let constellation = find(&["constellationid"]);
            if let (Some(name), Some(security), Some(constellation)) =
                (name, security, constellation)
            {
                let position = position();
                return Some(Self::Systems { id, name, security, constellation, position });
            }
            // Planets and stations also have a system and a position, but they have their own id.
            if names
                .iter()
                .any(|name| name.ends_with("id") && name != "solarsystemid" && name != "systemid")
            {
                return None;
            }
            let position = position()?;
            return Some(Self::Positions { system: id, position });
        }
        if let Some(id) = find(&["constellationid"]) {
            let name = find(&["constellationname", "name"])?;
            let region = find(&["regionid"])?;
            return Some(Self::Constellations { id, name, region });
        }
        let id = find(&["regionid"])?;
        let name = find(&["regionname", "name"])?;
        Some(Self::Regions { id, name })
    }

    pub(super) fn table(self) -> Table {
        match self {
            Self::Systems { .. } => Table::Systems,
            Self::Gates { .. } => Table::Gates,
            Self::Constellations { .. } => Table::Constellations,
            Self::Regions { .. } => Table::Regions,
            Self::Positions { .. } => Table::Positions,
        }
    }
}

/// Which table begins with this line.
pub(super) fn table_of(line: &str) -> Option<Table> {
    let delimiter = char::from(delimiter(line));
    let names = line.split(delimiter).map(|name| name.trim().trim_matches('"'));
    Columns::of(names).map(Columns::table)
}

/// The column separator in this first line: a comma, or a separator that some spreadsheets write instead.
pub(super) fn delimiter(line: &str) -> u8 {
    let count = |delimiter: u8| line.bytes().filter(|byte| *byte == delimiter).count();
    // If two occur equally often, the last one is used.
    [b'\t', b';', b','].into_iter().max_by_key(|it| count(*it)).unwrap_or(b',')
}

/// `solarSystemID`, `solar_system_id` and `Solar System ID` are one column.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
