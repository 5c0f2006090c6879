//! `generate`: a universe from a seed, to stdout or into the data directory.

use std::io::{self, Write as _};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{CareError, Request, Result, UniverseId};
use crate::commands::Replacement;
use crate::generate;

/// What a universe is made from, and what becomes of it.
#[derive(Debug, Clone, Args)]
pub struct GenerateArgs {
    /// Any text; digits alone are a number, up to 4294967295 and without a leading zero. A random one by default,
    /// which is printed on stderr.
    #[arg(long)]
    seed: Option<String>,
    /// How systems are built: classic (the default), compact, multiStarHeavy, moonRich, sparseOutpost, deepHierarchy.
    #[arg(long)]
    preset: Option<String>,
    /// How crowded the universe is: sparse, solarLike (the default), crowded, superDenseExperimental.
    #[arg(long)]
    style: Option<String>,
    /// How far apart orbits are: realistic (the default), compressed, toy, or keplerian, where periods obey Kepler's
    /// third law.
    #[arg(long)]
    scale: Option<String>,
    /// How many systems, 1 to 50; as many as the style has by default.
    #[arg(long, value_name = "N")]
    systems: Option<u64>,
    /// Creates a universe of this name in the data directory.
    #[arg(long)]
    name: Option<String>,
    /// Its id there; a random one by default.
    #[arg(long, requires = "name")]
    id: Option<UniverseId>,
}

impl GenerateArgs {
    /// Makes the universe. Returns the request to store it, or writes its state to stdout.
    pub(super) fn request(self) -> Result<Option<Request>> {
        let (named, id) = (self.name.clone(), self.id.clone());
        let name = named.as_deref().map(Replacement::check_name).transpose();
        let name = name.map_err(CareError::Recipe)?;
        let recipe = generate::recipe(&self.into_value());
        let recipe = recipe.map_err(|findings| CareError::Recipe(options(&findings)))?;
        let shown = recipe.to_value();
        // A closed stderr is ignored.
        let _ = writeln!(io::stderr().lock(), "generated from {shown}");
        let state = recipe.universe();
        let state = state.map_err(|findings| CareError::Recipe(findings.to_string()))?;
        let Some(name) = name else {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, &state).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(None);
        };
        let state = Box::new(state);
        Ok(Some(Request::Import { id, name, state }))
    }

    fn into_value(self) -> Value {
        // As in JSON, where the same number is the same seed.
        let seed = self.seed.map(|seed| match seed.parse::<u32>() {
            Ok(number) if number.to_string() == seed => json!(number),
            _ => json!(seed),
        });
        let members = [
            ("seed", seed),
            ("preset", self.preset.map(Value::from)),
            ("style", self.style.map(Value::from)),
            ("scale", self.scale.map(Value::from)),
            ("systems", self.systems.map(Value::from)),
        ];
        let given = members.into_iter();
        let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(given.collect::<Map<_, _>>())
    }
}

/// Findings in terms of the command-line options.
fn options(findings: &universe_core::Findings) -> String {
    let shown = findings.iter().map(|finding| {
        let option = finding.path.trim_start_matches('/');
        format!("--{option} {}", finding.message)
    });
    shown.collect::<Vec<_>>().join("; ")
}
