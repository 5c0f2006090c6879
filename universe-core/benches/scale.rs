//! What a command costs does not depend on the size of the universe, except for the logarithm in
//! every look-up: the same commands on 100, 10,000 and 100,000 bodies, all children of one star
//! and all in one group, which is the hardest shape for an ordered list.
#![expect(clippy::unwrap_used, reason = "a benchmark fails like a test")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use universe_core::{Command, State};

fn universe(bodies: usize) -> State {
    let ids: Vec<_> = (1..bodies).map(|n| format!("body-{n}")).collect();
    let body = |id: &str, parent: Option<&str>, children: &[String]| {
        json!({
            "id": id, "name": "A body", "mass": 0.5, "radius": 0.25, "color": "#3366CC",
            "children": children, "parentId": parent, "orbitalDistance": 5, "orbitalSpeed": 2.25,
            "orbitalPhase": 90, "bodyType": "planet", "eccentricity": 0.1, "semiMajorAxis": 5.5,
        })
    };
    let mut stars: Map<_, _> =
        ids.iter().map(|id| (id.clone(), body(id, Some("sol"), &[]))).collect();
    stars.insert("sol".to_owned(), body("sol", None, &ids));
    let entries: Vec<_> = ids.iter().map(|id| json!({ "id": id, "type": "system" })).collect();
    State::from_partial(json!({
        "stars": stars,
        "rootIds": ["sol"],
        "groups": { "all": { "id": "all", "name": "All", "children": entries, "parentGroupId": null } },
        "rootGroupIds": ["all"],
    }))
    .unwrap()
}

fn command(value: Value) -> Command {
    Command::from_value(value).unwrap()
}

/// The commands to measure on a universe of this size.
type Commands<'a> = &'a dyn Fn(usize) -> Vec<Command>;

fn scale(criterion: &mut Criterion) {
    let payload = json!({
        "name": "New", "mass": 0.5, "radius": 0.25, "color": "#3366CC", "parentId": "sol",
        "orbitalDistance": 5, "orbitalSpeed": 2.25, "orbitalPhase": 90, "bodyType": "planet",
    });
    let middle = |size: usize| format!("body-{}", size / 2);
    let families: [(&str, Commands<'_>); 5] = [
        ("tick", &|_| vec![command(json!({ "type": "tick", "dt": 0.5 }))]),
        ("updateStar", &|size| {
            let (id, payload) = (middle(size), json!({ "name": "Renamed", "mass": 2 }));
            vec![command(json!({ "type": "updateStar", "id": id, "payload": payload }))]
        }),
        ("addStar+removeStar", &|_| {
            vec![
                command(json!({ "type": "addStar", "id": "new", "payload": payload })),
                command(json!({ "type": "removeStar", "id": "new" })),
            ]
        }),
        ("attachStar+detachStar", &|size| {
            let id = middle(size);
            vec![
                command(json!({ "type": "attachStar", "childId": id, "parentId": "sol" })),
                command(json!({ "type": "detachStar", "childId": id })),
            ]
        }),
        ("moveToGroup", &|size| {
            let id = middle(size);
            vec![command(json!({
                "type": "moveToGroup", "childId": id, "childType": "system", "targetGroupId": "all",
            }))]
        }),
    ];
    for (name, commands) in families {
        let mut group = criterion.benchmark_group(name);
        for size in [100, 10_000, 100_000] {
            let (start, commands) = (universe(size), commands(size));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| {
                    let mut state = black_box(&start).clone();
                    for command in &commands {
                        state = state.apply(command).unwrap().state;
                    }
                    state
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, scale);
criterion_main!(benches);
