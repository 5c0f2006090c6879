//! `diff`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};
use universe_core::{Entity, Family};

use super::entities::{Universe, universe};
use super::{Common, Connection, DIFFERENT, Result};
use crate::store::UniverseId;

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// The universe's id.
    id: UniverseId,

    /// The universe that it is compared with; by default itself, in its current state.
    #[arg(required_unless_present_any = ["from", "to"])]
    other: Option<UniverseId>,

    /// The first one as it was at this revision.
    #[arg(long, value_name = "N")]
    from: Option<u64>,

    /// The second one as it was at this revision.
    #[arg(long, value_name = "N")]
    to: Option<u64>,

    #[command(flatten)]
    pub(super) common: Common,
}

/// The differences, by family.
#[derive(Debug, Default, Serialize)]
struct Difference {
    from: DiffOperand,
    to: DiffOperand,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    added: BTreeMap<&'static str, Vec<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    removed: BTreeMap<&'static str, Vec<String>>,
    /// Members with their values before and after. Null stands for a missing value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    changed: BTreeMap<&'static str, BTreeMap<String, Members>>,
}

type Members = BTreeMap<String, [Value; 2]>;

#[derive(Debug, Default, Serialize)]
struct DiffOperand {
    id: String,
    revision: u64,
    time: f64,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::open(&self.common, dir).await?;
        let read = self.read(&mut connection).await;
        connection.close().await?;
        let (from, to) = read?;
        let difference = Difference::between(&from, &to);
        self.common.show(&difference, || difference.describe(&from, &to))?;
        if difference.is_none() { Ok(ExitCode::SUCCESS) } else { Ok(ExitCode::from(DIFFERENT)) }
    }

    async fn read(&self, connection: &mut Connection) -> Result<(Universe, Universe)> {
        let from = universe(connection, &self.id, self.from).await?;
        let other = self.other.as_ref().unwrap_or(&self.id);
        let to = universe(connection, other, self.to).await?;
        Ok((from, to))
    }
}

impl Difference {
    fn between(from: &Universe, to: &Universe) -> Self {
        let side = |of: &Universe| DiffOperand {
            id: of.id.clone(),
            revision: of.revision,
            time: of.state.time(),
        };
        let mut found = Self { from: side(from), to: side(to), ..Self::default() };
        for (family, id) in to.state.changed_since(&from.state) {
            let id: &str = id;
            let (before, after) = (from.state.entity(family, id), to.state.entity(family, id));
            let list = match (before, after) {
                (None, Some(_)) => found.added.entry(family.name()).or_default(),
                (Some(_), None) => found.removed.entry(family.name()).or_default(),
                (before, after) => {
                    let changed = found.changed.entry(family.name()).or_default();
                    changed.insert(id.to_owned(), members(before, after));
                    continue;
                }
            };
            list.push(id.to_owned());
        }
        found
    }

    fn is_none(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.changed.is_empty()
            && self.from.time.to_bits() == self.to.time.to_bits()
    }

    fn describe(&self, from: &Universe, to: &Universe) -> String {
        let mut text = format!("from {}\nto   {}", from.headline(), to.headline());
        if self.is_none() {
            text.push_str("\nno difference");
            return text;
        }
        let mut line = |line: &str| {
            let _ = write!(text, "\n{}", service_host::one_line(line));
        };
        for family in Family::ALL.map(Family::name) {
            let ids =
                |of: &BTreeMap<&str, Vec<String>>| of.get(family).cloned().unwrap_or_default();
            ids(&self.added).iter().for_each(|id| line(&format!("+ {family}/{id}")));
            ids(&self.removed).iter().for_each(|id| line(&format!("- {family}/{id}")));
            for (id, members) in self.changed.get(family).into_iter().flatten() {
                line(&format!("~ {family}/{id}"));
                for (member, [before, after]) in members {
                    line(&format!("    {member}: {before} -> {after}"));
                }
            }
        }
        text
    }
}

/// The members with different values.
fn members(before: Option<Entity<'_>>, after: Option<Entity<'_>>) -> Members {
    let object = |entity: Option<Entity<'_>>| match serde_json::to_value(entity) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let (mut before, after) = (object(before), object(after));
    let mut members = Members::new();
    for (name, after) in after {
        let before = before.remove(&name).unwrap_or_default();
        if before != after {
            members.insert(name, [before, after]);
        }
    }
    members.extend(before.into_iter().map(|(name, before)| (name, [before, Value::Null])));
    members
}
