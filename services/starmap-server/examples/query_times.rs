//! How long each question takes: `cargo run --release -p starmap-server --example query_times -- MAP [KIND]`, with a
//! part of their names only questions of this kind.
//!
//! Prints a table in Markdown. Each question is asked three times, and the shortest time counts.

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use starmap_server::explore::{
    Filter, Nearest, Search, analyze, borders, cuts, distances, jump_range, nearest, search, within,
};
use starmap_server::load::load;
use starmap_server::map::{Map, SecurityClass, SystemIndex};
use starmap_server::route::{
    Avoid, Avoided, Extra, Mode, Penalty, Query, SecurityFilter, Travel, alternatives,
    cost_of_safety, find,
};
use starmap_server::tour::{LoopQuery, Optimize, Start, WaypointsQuery, loop_, waypoints};

/// How many questions of each kind; of those that take longest a tenth.
const QUESTIONS: usize = 2_000;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (path, kind) = match arguments.as_slice() {
        [path] => (path, ""),
        [path, kind] => (path, kind.as_str()),
        _ => return Err("usage: query_times MAP [KIND]".into()),
    };
    let begin = Instant::now();
    let map = load(Path::new(path))?.map;
    let loading = begin.elapsed();
    let rows = Figures::new(&map, kind)?.all();
    let mut out = io::stdout().lock();
    writeln!(out, "Loading: {:.1} ms. Times in microseconds.\n", loading.as_secs_f64() * 1e3)?;
    writeln!(out, "| question | asked | p50 | p99 | longest |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for row in &rows {
        let [p50, p99, longest] = row.percentiles();
        let (name, count) = (&row.name, row.micros.len());
        writeln!(out, "| {name} | {count} | {p50:.0} | {p99:.0} | {longest:.0} |")?;
    }
    Ok(())
}

/// One kind of question.
struct Row {
    name: String,
    micros: Vec<f64>,
}

impl Row {
    /// The time that half of the questions stay below, the one that all but a hundredth do, and the longest.
    fn percentiles(&self) -> [f64; 3] {
        let mut micros = self.micros.clone();
        micros.sort_unstable_by(f64::total_cmp);
        let last = micros.len().saturating_sub(1);
        let at = |percent: usize| micros.get(last * percent / 100).copied().unwrap_or_default();
        [at(50), at(99), at(100)]
    }
}

/// SplitMix64: the same questions everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or_default()
    }

    fn pick(&mut self, systems: &[SystemIndex]) -> Option<SystemIndex> {
        systems.get(self.below(systems.len())).copied()
    }

    /// So many different ones, if there are.
    fn some(&mut self, systems: &[SystemIndex], count: usize) -> Vec<SystemIndex> {
        let mut left = systems.to_vec();
        let count = count.min(left.len());
        (0..count).map(|_| left.swap_remove(self.below(left.len()))).collect()
    }
}

type Pair = (SystemIndex, SystemIndex);

struct Figures<'m> {
    map: &'m Map,
    /// The systems of the largest part of the map.
    main: Vec<SystemIndex>,
    high: Vec<SystemIndex>,
    pairs: Vec<Pair>,
    /// The text in the names of the selected questions.
    kind: &'m str,
}

impl<'m> Figures<'m> {
    fn new(map: &'m Map, kind: &'m str) -> Result<Self, Failure> {
        let busiest = map.indices().max_by_key(|it| map.neighbours(*it).len());
        let hub = busiest.ok_or("the map is empty")?;
        let around = within(map, Travel::by_gates(), hub, u32::MAX, SecurityFilter::Any);
        let main: Vec<SystemIndex> = around.iter().map(|near| near.system).collect();
        let is_high = |it: &SystemIndex| map.system(*it).class == SecurityClass::High;
        let mut random = Random(1);
        let pair = |_| Some((random.pick(&main)?, random.pick(&main)?));
        Ok(Self {
            map,
            pairs: (0..QUESTIONS).filter_map(pair).collect(),
            high: main.iter().copied().filter(is_high).collect(),
            main,
            kind,
        })
    }

    fn all(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.routes(&mut rows);
        self.routes_with_more(&mut rows);
        self.surroundings(&mut rows);
        self.tours(&mut rows);
        rows.retain(|row| !row.micros.is_empty());
        rows
    }

    fn routes(&self, rows: &mut Vec<Row>) {
        let penalty = Penalty::default();
        for (name, mode) in [
            ("shortest", Mode::Shortest),
            ("safe", Mode::Safe),
            ("unsafe", Mode::Unsafe),
            ("safer", Mode::Safer { penalty }),
            ("less secure", Mode::LessSecure { penalty }),
        ] {
            let route = |&(from, to): &Pair| find(self.map, &Query::new(from, to, mode));
            rows.push(self.measure(&format!("route, {name}"), &self.pairs, route));
        }
    }

    fn routes_with_more(&self, rows: &mut Vec<Row>) {
        let map = self.map;
        let mut random = Random(2);
        let some = (0..5).filter_map(|_| random.pick(&self.main)).map(Avoided::System);
        let avoid = Avoid::new(map, some.collect::<Vec<_>>()).unwrap_or_default();
        rows.push(self.measure("route, avoiding 5 systems", &self.pairs, |&(from, to)| {
            find(map, &Query::new(from, to, Mode::Shortest).avoiding(&avoid))
        }));
        let bridge = |_| {
            let (from, to) = (random.pick(&self.main)?, random.pick(&self.main)?);
            (from != to).then_some(Extra { from, to, both_ways: true, cost: None })
        };
        let bridges = Travel::new((0..300).filter_map(bridge).collect()).unwrap_or_default();
        rows.push(self.measure("route, safe, 300 jump bridges", &self.pairs, |&(from, to)| {
            find(map, &Query::new(from, to, Mode::Safe).with(&bridges))
        }));
        let alone = map.indices().find(|it| map.neighbours(*it).is_empty());
        rows.push(self.measure("route, none: no gates", &self.pairs, |&(from, to)| {
            find(map, &Query::new(from, alone.unwrap_or(to), Mode::Safe))
        }));
        rows.push(self.measure(
            "route, none: region and class avoided",
            &self.pairs,
            |&(from, to)| {
                let region = Avoided::Region(map.system(to).region);
                let avoid = Avoid::new(map, [Avoided::Class(SecurityClass::Low), region]);
                find(
                    map,
                    &Query::new(from, to, Mode::Shortest).avoiding(&avoid.unwrap_or_default()),
                )
            },
        ));
        for (name, mode) in [("shortest", Mode::Shortest), ("safe", Mode::Safe)] {
            rows.push(self.measure(
                &format!("3 alternatives, {name}"),
                &self.pairs,
                |&(from, to)| alternatives(map, &Query::new(from, to, mode), 3),
            ));
        }
        rows.push(self.measure("cost of safety", &self.pairs, |&(from, to)| {
            cost_of_safety(map, &Query::new(from, to, Mode::Safe))
        }));
    }

    fn surroundings(&self, rows: &mut Vec<Row>) {
        let map = self.map;
        let origins: Vec<SystemIndex> = self.pairs.iter().map(|pair| pair.0).collect();
        let area = |origin: &SystemIndex| {
            within(map, Travel::by_gates(), *origin, 10, SecurityFilter::Any)
        };
        rows.push(self.measure("within 10 jumps", &origins, area));
        let border = |origin: &SystemIndex| {
            borders(map, Travel::by_gates(), *origin, 15, SecurityFilter::Any, 10)
        };
        rows.push(self.measure("borders within 15 jumps", &origins, border));
        let low = Filter { class: Some(SecurityClass::Low), ..Filter::default() };
        rows.push(self.measure("search: all low systems by distance", &origins, |&origin| {
            let filter = low.clone();
            search(
                map,
                Travel::by_gates(),
                &Search { origin: Some(origin), filter, limit: 100, ..Search::default() },
            )
        }));
        rows.push(self.measure("search: by a part of the name", &origins, |&origin| {
            let name = map.system(origin).name.chars().take(2).collect();
            let filter = Filter { name: Some(name), ..Filter::default() };
            search(map, Travel::by_gates(), &Search { filter, limit: 100, ..Search::default() })
        }));
        rows.push(self.measure("nearest 5 with 2 neighbours below high", &origins, |&origin| {
            let filter = Filter { min_adjacent_lower: 2, ..Filter::default() };
            nearest(map, Travel::by_gates(), &Nearest { origin, max_jumps: 30, filter, limit: 5 })
        }));
        let ways: Vec<Vec<SystemIndex>> = (self.pairs.iter())
            .filter_map(|(from, to)| find(map, &Query::new(*from, *to, Mode::Shortest)).ok())
            .map(|route| route.systems)
            .filter(|systems| systems.len() > 1)
            .collect();
        rows.push(self.measure("analyze a shortest route", &ways, |way| {
            analyze(map, way, Travel::by_gates())
        }));
        let areas: Vec<Vec<SystemIndex>> = (origins.iter().take(QUESTIONS / 10))
            .map(|origin| area(origin).iter().map(|near| near.system).collect())
            .collect();
        rows.push(self.measure("chokepoints within 10 jumps", &areas, |area| cuts(map, area)));
        rows.push(self.measure("jump range of 7 light years", &origins, |&origin| {
            jump_range(map, origin, 7.0, 100)
        }));
        let mut random = Random(3);
        for count in [10, 50, 100] {
            let systems = |_| random.some(&self.main, count);
            let sets: Vec<Vec<SystemIndex>> = (0..QUESTIONS / 10).map(systems).collect();
            let matrix = |set: &Vec<SystemIndex>| {
                distances(map, set, set, Avoid::nothing(), Travel::by_gates())
            };
            rows.push(self.measure(&format!("distances {count} × {count}"), &sets, matrix));
        }
    }

    fn tours(&self, rows: &mut Vec<Row>) {
        let map = self.map;
        let mut random = Random(4);
        for count in [5, 10, 12, 13, 25, 50] {
            let systems = |_| random.some(&self.main, count);
            let sets: Vec<Vec<SystemIndex>> = (0..QUESTIONS / 10).map(systems).collect();
            rows.push(self.measure(&format!("order of {count} waypoints"), &sets, |set| {
                let query = WaypointsQuery {
                    waypoints: set,
                    start: Start::FirstAndBack,
                    security: SecurityFilter::Any,
                    avoid: Avoid::nothing(),
                    travel: Travel::by_gates(),
                };
                waypoints(map, &query)
            }));
        }
        let origins: Vec<SystemIndex> =
            (0..QUESTIONS / 10).filter_map(|_| random.pick(&self.high)).collect();
        for (name, optimize) in [("density", Optimize::Density), ("coverage", Optimize::Coverage)] {
            for target_jumps in [20, 40, 100] {
                rows.push(self.measure(
                    &format!("loop of {target_jumps}, {name}"),
                    &origins,
                    |&origin| {
                        let query = LoopQuery {
                            origin,
                            target_jumps,
                            min_borders: 4,
                            max_borders: 8,
                            optimize,
                            security: SecurityFilter::HighSec,
                            avoid: Avoid::nothing(),
                            travel: Travel::by_gates(),
                            stop: None,
                        };
                        loop_(map, &query)
                    },
                ));
            }
        }
    }

    /// Asks each question of the selected kind three times and keeps the shortest time: the others include other
    /// processes' work.
    fn measure<Q, A>(&self, name: &str, questions: &[Q], answer: impl Fn(&Q) -> A) -> Row {
        let time = |question: &Q| {
            let begin = Instant::now();
            black_box(answer(black_box(question)));
            begin.elapsed().as_secs_f64() * 1e6
        };
        let least = |question: &Q| (0..3).map(|_| time(question)).fold(f64::INFINITY, f64::min);
        let wanted = name.contains(self.kind);
        Row {
            name: name.to_owned(),
            micros: questions.iter().filter(|_| wanted).map(least).collect(),
        }
    }
}
