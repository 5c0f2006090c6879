//! Names that are near others, judged by looking at all of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use starmap_server::map::{Map, Parts, PartsSystem};

use super::super::common::generated;

/// A map whose systems bear these names.
fn named(names: &[String]) -> Map {
    let parts = generated(1, names.len());
    let named = parts.systems.into_iter().zip(names);
    let systems = named.map(|(system, name)| PartsSystem { name: name.clone(), ..system });
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
        let far = |it: &String| strsim::osa_distance(&typed, it);
        let most = (typed.chars().count() / 3).max(2);
        let long = typed.chars().count();
        let rank = |it: &String| {
            let (far, same) = (far(it), it.chars().next() == typed.chars().next());
            match () {
                () if far == 1 && long > 2 => Some(0),
                () if it.starts_with(&typed) => Some(1),
                () if far == 2 && long > 3 && same => Some(2),
                () if it.contains(&typed) => Some(3),
                () if far <= most => Some(2 + far),
                () => None,
            }
        };
        let ranked = names.iter().filter_map(|it| Some(((rank(it)?, it), it)));
        let ranked: BTreeMap<_, _> = ranked.collect();
        let expected: Vec<&String> = ranked.values().take(3).copied().collect();
        prop_assert_eq!(map.suggest(&typed, 3), expected);
        let once: Vec<&String> = names.iter().filter(|it| far(it) == 1).collect();
        let corrected = map.correct(&typed).map(|it| &*map.system(it).name);
        prop_assert_eq!(corrected, once.first().filter(|_| once.len() == 1).map(|it| it.as_str()));
    }
}
