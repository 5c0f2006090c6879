//! `get`

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use serde_json::{Value, json};
use universe_core::Family;

use super::entities::{Universe, record, universe};
use super::{ClientError, Common, Connection, Result, print};
use crate::store::UniverseId;
use crate::view::{EntityPage, Selection};

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// The universe's id.
    id: UniverseId,

    /// Only entities of this family. Repeatable, or separated by commas.
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Family::ALL.map(Family::name))
        .map(|name| Family::find(&name).unwrap_or(Family::Stars)))]
    family: Vec<Family>,

    /// Only the entity of this id. Repeatable.
    #[arg(long, value_name = "ID")]
    entity: Vec<String>,

    /// Only the body or group of this id and what is below it.
    #[arg(long, value_name = "ID")]
    below: Option<String>,

    /// How many levels below that; all without it.
    #[arg(long, value_name = "N", requires = "below")]
    depth: Option<usize>,

    /// Only entities whose name or id contains this, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// Only bodies of this type, such as moon.
    #[arg(long, value_name = "TYPE")]
    kind: Option<String>,

    /// The universe as it was at this revision.
    #[arg(long, value_name = "N")]
    revision: Option<u64>,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::open(&self.common, dir).await?;
        if self.common.json && self.is_whole() {
            let read = record(&mut connection, &self.id, self.revision).await;
            connection.close().await?;
            service_host::print_json(&String::from_utf8_lossy(&read?))?;
            return Ok(ExitCode::SUCCESS);
        }
        let read = universe(&mut connection, &self.id, self.revision).await;
        connection.close().await?;
        self.show(&read?)
    }

    fn is_whole(&self) -> bool {
        self.family.is_empty()
            && self.entity.is_empty()
            && self.below.is_none()
            && self.name.is_none()
            && self.kind.is_none()
    }

    fn show(self, universe: &Universe) -> Result<ExitCode> {
        let given = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        let selection = Selection {
            families: (!self.family.is_empty()).then(|| self.family.clone()),
            ids: given(&self.entity),
            subtree: self.below.clone(),
            depth: self.depth,
            name: self.name.clone(),
            kind: self.kind.clone(),
            ..Selection::default()
        };
        let part = selection.of(&universe.state).map_err(ClientError::Given)?;
        if self.common.json {
            print::json(&whole(universe, &part))?
        } else {
            service_host::print(&rows(universe, &selection, &part))?
        }
        let ids = || {
            Family::ALL
                .into_iter()
                .flat_map(|family| universe.state.entities(family).map(|(id, _)| id))
        };
        let missing = part.missing.iter().map(|id| {
            let hint = universe_core::nearest::hint(id, ids());
            format!("{id:?}{hint}")
        });
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            Ok(ExitCode::SUCCESS)
        } else {
            Err(ClientError::Given(format!(
                "nothing that was asked for has the id {}",
                missing.join("; nor ")
            )))
        }
    }
}

fn whole(universe: &Universe, part: &EntityPage<'_>) -> Value {
    let mut found: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
    for it in &part.found {
        let family = found.entry(it.family.name()).or_default();
        family.insert(
            it.id,
            serde_json::to_value(it.with_facts(&universe.state)).unwrap_or_default(),
        );
    }
    json!({
        "id": universe.id,
        "name": universe.name,
        "revision": universe.revision,
        "time": universe.state.time(),
        "found": found,
    })
}

fn rows(universe: &Universe, selection: &Selection, part: &EntityPage<'_>) -> String {
    let head = format!("{}, {} entities", universe.headline(), part.total);
    if part.found.is_empty() {
        return format!("{head}: {}", selection.nothing(&universe.state));
    }
    let rows: Vec<_> = part
        .found
        .iter()
        .map(|it| {
            let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
            let kind = it.entity.get("bodyType").and_then(Value::as_str);
            [
                it.family.name().to_owned(),
                it.id.to_owned(),
                text(it.entity.name().as_deref()),
                text(kind),
                text(it.parent().as_deref()),
            ]
        })
        .collect();
    let table = service_host::table(&["FAMILY", "ID", "NAME", "TYPE", "IN"], &rows);
    format!("{head}\n{table}")
}
