//! What is between systems: groups of them, nebulae, and planets without a star.

use serde_json::{Value, json};

use super::bodies::{Body, Kind, mass};
use super::{Random, Recipe, Universe, names, rounded};

const COLORS: [&str; 8] =
    ["#5B8DEF", "#E07A5F", "#81B29A", "#F2CC8F", "#B388EB", "#EF6F9A", "#4FB6C6", "#A3B85B"];
const NEBULAE: [(&str, &str); 5] = [
    ("#5B3FA8", "#E07ACB"),
    ("#1F5F8B", "#7FD1E8"),
    ("#8B2F4E", "#F2A07B"),
    ("#2F6B4F", "#B7E08A"),
    ("#3A3F8B", "#8FB3FF"),
];
/// How many systems a group has.
const GROUP_SIZE: usize = 4;

type Position = [f64; 3];

/// Adds all of it to the systems of a universe, each of which reaches as far as `extent`.
pub(super) fn add(recipe: &Recipe, master: &Random, universe: &mut Universe, extent: f64) {
    let settings = recipe.style.settings();
    let groups = add_groups(universe, &mut master.fork("groups"));
    let mut random = master.fork("nebulae");
    for n in 1..=random.int(settings.nebulae.0, settings.nebulae.1) {
        let nebula = nebula(n, &groups, extent, &mut random);
        universe.nebulae.insert(format!("nebula-{n}"), nebula);
    }
    let mut random = master.fork("rogue-planets");
    let reach = universe.systems.iter().map(|(_, [x, _, z])| (x * x + z * z).sqrt());
    let reach = reach.fold(extent, f64::max) + extent;
    for n in 1..=random.int(settings.rogues.0, settings.rogues.1) {
        let rogue = rogue(n, reach, &mut random);
        universe.roots.push(rogue.id.clone());
        universe.stars.insert(rogue.id.clone(), rogue.into_value());
    }
}

/// Groups the systems, a few each. Gives the groups with their places.
fn add_groups(universe: &mut Universe, random: &mut Random) -> Vec<(String, Position)> {
    let mut groups = Vec::new();
    for ((systems, color), n) in
        universe.systems.chunks(GROUP_SIZE).zip(COLORS.iter().cycle()).zip(1..)
    {
        let count = systems.len() as f64;
        let mean = |axis: usize| {
            let parts = systems.iter().filter_map(|(_, place)| place.get(axis));
            rounded(parts.sum::<f64>() / count)
        };
        let (id, place) = (format!("group-{n}"), [0, 1, 2].map(mean));
        let children: Vec<_> =
            systems.iter().map(|(system, _)| json!({ "id": system, "type": "system" })).collect();
        let group = json!({
            "id": id,
            "name": format!("{} Cluster", names::star(random)),
            "children": children,
            "parentGroupId": null,
            "color": color,
            "position": position(place),
        });
        universe.groups.insert(id.clone(), group);
        universe.root_groups.push(id.clone());
        groups.push((id, place));
    }
    groups
}

fn nebula(n: i32, groups: &[(String, Position)], extent: f64, random: &mut Random) -> Value {
    let (group, place) = match random.pick(groups) {
        Some((group, place)) => (vec![group], *place),
        None => (Vec::new(), [0.0; 3]),
    };
    let place = place.map(|part| rounded(part + extent * random.between(-1.5, 1.5)));
    let (base, accent) = random.pick(&NEBULAE).copied().unwrap_or(("#5B3FA8", "#E07ACB"));
    json!({
        "id": format!("nebula-{n}"),
        "name": format!("{} Nebula", names::star(random)),
        "position": position(place),
        "radius": rounded(extent * random.between(0.8, 2.0)),
        "density": rounded(random.between(0.2, 0.7)),
        "brightness": rounded(random.between(0.3, 0.8)),
        "baseColor": base,
        "accentColor": accent,
        "noiseScale": rounded(random.between(0.5, 2.0)),
        "noiseDetail": random.int(2, 5),
        "seed": format!("nebula-{n}"),
        "associatedGroupIds": group,
    })
}

fn rogue(n: i32, reach: f64, random: &mut Random) -> Body {
    let angle = random.between(0.0, std::f64::consts::TAU);
    let distance = reach * random.between(0.3, 1.0);
    let place = [
        distance * libm::cos(angle),
        reach * random.between(-0.05, 0.05),
        distance * libm::sin(angle),
    ];
    let speed = reach * 0.001;
    let velocity = [0; 3].map(|_| rounded(random.between(-speed, speed)));
    let id = format!("rogue-{n}");
    let mass = mass(Kind::Planet, random);
    let named = (id.clone(), names::star(random));
    Body::new(Kind::Planet, mass, named, random).with("isRoguePlanet", json!(true)).with(
        "roguePlanet",
        json!({
            "seed": id,
            "initialPosition": position(place.map(rounded)),
            "velocity": position(velocity),
            "pathCurvature": 0,
            "showTrajectory": true,
        }),
    )
}

fn position([x, y, z]: Position) -> Value {
    json!({ "x": x, "y": y, "z": z })
}
