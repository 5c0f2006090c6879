//! Reading recipes, with all that is wrong with them at once.

use serde_json::Value;

use super::{MAX_SEED, MAX_SYSTEMS, Preset, Recipe, Scale, Seed, Style};
use crate::check::describe;
use crate::finding::{Findings, Path, Quoted};
use crate::nearest;

const MEMBERS: [&str; 5] = ["seed", "preset", "style", "scale", "systems"];

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Classic,
        Self::Compact,
        Self::MultiStarHeavy,
        Self::MoonRich,
        Self::SparseOutpost,
        Self::DeepHierarchy,
    ];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Compact => "compact",
            Self::MultiStarHeavy => "multiStarHeavy",
            Self::MoonRich => "moonRich",
            Self::SparseOutpost => "sparseOutpost",
            Self::DeepHierarchy => "deepHierarchy",
        }
    }
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Sparse, Self::SolarLike, Self::Crowded, Self::SuperDenseExperimental];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sparse => "sparse",
            Self::SolarLike => "solarLike",
            Self::Crowded => "crowded",
            Self::SuperDenseExperimental => "superDenseExperimental",
        }
    }
}

impl Scale {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Realistic, Self::Compressed, Self::Toy, Self::Keplerian];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Realistic => "realistic",
            Self::Compressed => "compressed",
            Self::Toy => "toy",
            Self::Keplerian => "keplerian",
        }
    }
}

pub(super) fn recipe(given: &Value) -> Result<Recipe, Findings> {
    let mut findings = Findings::default();
    let Value::Object(members) = given else {
        let found = describe(given);
        let message = format_args!("expected an object with a seed, found {found}");
        findings.push(&Path::ROOT, message);
        return Err(findings);
    };
    for name in members.keys().filter(|name| !MEMBERS.contains(&&***name)) {
        let hint = match nearest::hint(name, MEMBERS) {
            none if none.is_empty() => format!("; there are {}", MEMBERS.join(", ")),
            hint => hint,
        };
        findings.add(name, format_args!("is not a member of generate{hint}"));
    }
    let seed = match members.get("seed") {
        Some(Value::String(text)) if text.chars().count() <= MAX_SEED => Seed::Text(text.clone()),
        Some(Value::String(_)) => {
            let message = format_args!("must have at most {MAX_SEED} characters");
            findings.add("seed", message);
            Seed::Number(0.0)
        }
        Some(Value::Number(number)) => Seed::Number(number.as_f64().unwrap_or_default()),
        Some(other) => {
            let found = describe(other);
            let message = format_args!("expected text or a number, found {found}");
            findings.add("seed", message);
            Seed::Number(0.0)
        }
        None => {
            findings.add("seed", "is missing; expected text or a number");
            Seed::Number(0.0)
        }
    };
    let mut recipe = Recipe::new(seed);
    let mut choose = |member: &str, names: &[&str]| match members.get(member)? {
        Value::String(name) => {
            let found = names.iter().position(|known| known == name);
            if found.is_none() {
                let hint = nearest::hint(name, names.iter().copied());
                let (name, names) = (Quoted(name), names.join(", "));
                let message = format_args!("is {name}, expected one of {names}{hint}");
                findings.add(member, message);
            }
            found
        }
        other => {
            let (names, found) = (names.join(", "), describe(other));
            let message = format_args!("expected one of {names}, found {found}");
            findings.add(member, message);
            None
        }
    };
    let preset = choose("preset", &Preset::ALL.map(Preset::name));
    let style = choose("style", &Style::ALL.map(Style::name));
    let scale = choose("scale", &Scale::ALL.map(Scale::name));
    let preset = preset.and_then(|at| Preset::ALL.get(at).copied());
    recipe.preset = preset.unwrap_or(recipe.preset);
    let style = style.and_then(|at| Style::ALL.get(at).copied());
    recipe.style = style.unwrap_or(recipe.style);
    let scale = scale.and_then(|at| Scale::ALL.get(at).copied());
    recipe.scale = scale.unwrap_or(recipe.scale);
    recipe.systems = recipe.style.systems();
    if let Some(systems) = members.get("systems") {
        // 3.0 is a whole number in JSON.
        let whole = systems.as_f64().filter(|count| count.fract() == 0.0);
        match whole.filter(|count| (1.0..=f64::from(MAX_SYSTEMS)).contains(count)) {
            Some(count) => recipe.systems = count as u32,
            None => {
                let message = format_args!("must be a whole number from 1 to {MAX_SYSTEMS}");
                findings.add("systems", message);
            }
        }
    }
    findings.into_result()?;
    Ok(recipe)
}
