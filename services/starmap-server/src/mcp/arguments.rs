//! The arguments that many tools have in common.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::connections::Connection;
use crate::errors::UniverseError;
use crate::map::Map;
use crate::name::List;

use super::names::Names;
use super::records::Detail;

// What most tools take besides their own arguments. Not in the schema, which takes it for a description of the tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Common {
    /// names, summary (default) or full
    pub(crate) detail: Option<String>,
    /// Take an unknown name for the only one that is a letter away.
    pub(crate) correct: Option<bool>,
}

impl Common {
    /// The requested detail for each system, and the resolver for the names in the call.
    pub(crate) fn begin<'m>(&self, map: &'m Map) -> Result<(Detail, Names<'m>), UniverseError> {
        let detail = Detail::of(self.detail.as_deref())?;
        Ok((detail, Names::new(map, self.correct)))
    }
}

// The connections that a way may take besides the gates. Not in the schema, which takes it for the tool's description.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Ways {
    /// Bridges, wormholes; kind: gate, bridge, wormhole, jump; max_ship as ship
    #[schemars(length(max = 500))]
    pub(crate) connections: Option<Vec<Connection>>,
    /// false: without the connections that the server was started with
    pub(crate) own_connections: Option<bool>,
    /// Its size: small, medium, large, xlarge, capital
    pub(crate) ship: Option<String>,
    /// Rules to lift: zarzakh, capitals, jove, wormhole_class
    pub(crate) allow: Option<List>,
}
