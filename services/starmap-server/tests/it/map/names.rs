//! Names that are near others, judged by looking at all of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use starmap_server::map::{Map, Parts, PartsSystem};

use super::super::common::generated;

/// A map whose systems bear these names.
fn named(names: &[String]) -> Map {
    let parts = generated(1, names.len());
    let named = parts.systems.into_iter().zip(names);
    let systems = named.map(|(system, name)| PartsSystem {
        name: name.clone(),
        ..system
    });
    let systems = systems.collect();
    Map::new(Parts { systems, ..parts }).unwrap().0
}

/// Few letters, so that many names are near each other; some are longer than a byte, some share a bit with another.
fn name() -> impl Strategy<Value = String> {
    "[abzé0-1-]{1,9}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_suggested_is_what_is_near(
        names in prop::collection::btree_set(name(), 1..60), typed in name(),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let map = named(&names);
        let holding: BTreeMap<_, _> = (names.iter().filter(|it| it.contains(&typed)))
            .map(|it| ((!it.starts_with(&typed), it), it))
            .collect();
        let far = |it: &String| strsim::osa_distance(&typed, it);
        let most = (typed.chars().count() / 3).max(2);
        let near: BTreeMap<_, _> = (names.iter().filter(|it| far(it) <= most))
            .map(|it| ((far(it), it), it))
            .collect();
        let expected: Vec<&String> = match holding.is_empty() {
            true => near.values().take(3).copied().collect(),
            false => holding.values().take(3).copied().collect(),
        };
        prop_assert_eq!(map.suggest(&typed, 3), expected);
        let once: Vec<&String> = names.iter().filter(|it| far(it) == 1).collect();
        let corrected = map.correct(&typed).map(|it| &*map.system(it).name);
        prop_assert_eq!(corrected, once.first().filter(|_| once.len() == 1).map(|it| it.as_str()));
    }
}
