//! Why there is no route.

use starmap_server::map::SecurityClass;
use starmap_server::route::{Avoid, Avoided, Mode, NoRoute, Travel, find};

use super::super::common::{index_of, real, small};
use super::{avoid, extra, query};

/// What helps where no gates lead.
const HELP: &str = "give the wormholes or bridges that are open as connections";

#[test]
fn a_system_without_gates_is_named() {
    let map = small();
    for (from, to, named) in [
        ("Jita", "J000001", "J000001"),
        ("J000001", "Jita", "J000001"),
        ("J000001", "J000002", "J000001"),
    ] {
        let error = find(&map, &query(&map, from, to, Mode::Safe)).unwrap_err();
        let system = index_of(&map, named);
        assert_eq!(error, NoRoute::NoGates { system });
        assert_eq!(error.reason(&map), format!("no gate leads to or from {named}; {HELP}"));
    }
}

#[test]
fn parts_that_nothing_joins_are_counted() {
    let map = small();
    let reason =
        |from, to| find(&map, &query(&map, from, to, Mode::Shortest)).unwrap_err().reason(&map);
    assert_eq!(
        reason("Isle-A", "Jita"),
        format!(
            "from Isle-A only 2 systems that gates join can be reached, and Jita is not among them; {HELP}"
        )
    );
    assert_eq!(
        reason("Jita", "Isle-A"),
        format!(
            "Isle-A can be reached only from 2 systems that gates join, and Jita is not among them; {HELP}"
        )
    );
}

#[test]
fn a_one_way_connection_does_not_lead_back() {
    let map = small();
    let travel = Travel::new(vec![extra(&map, "Jita", "Isle-A", false, None)]).unwrap();
    let there = query(&map, "Jita", "Isle-B", Mode::Shortest).with(&travel);
    assert_eq!(find(&map, &there).unwrap().jumps(), 2);
    let back = query(&map, "Isle-B", "Jita", Mode::Shortest).with(&travel);
    let NoRoute::CutOff { from_origin, to_destination, .. } = find(&map, &back).unwrap_err() else {
        panic!("it is cut off");
    };
    assert_eq!((from_origin, to_destination), (2, 15));
}

#[test]
fn the_one_thing_that_cuts_the_way_is_named() {
    let map = small();
    // The low systems do not cut it, Rook does.
    let avoid = avoid(&map, &["Marrow", "Rook", "Tarn"]);
    let query = query(&map, "Jita", "Sable", Mode::Shortest).avoiding(&avoid);
    let error = find(&map, &query).unwrap_err();
    let give_up = vec![Avoided::System(index_of(&map, "Rook"))];
    assert_eq!(error, NoRoute::Avoided { give_up, jumps: 6 });
    assert_eq!(
        error.reason(&map),
        "every way passes through what is avoided; without avoiding Rook there is one of 6 jumps"
    );
}

/// Past two avoided systems it would be shorter, but for the other way a single thing must be given up.
#[test]
fn one_thing_with_many_systems_is_less_than_two_with_one() {
    let map = small();
    let alder = Avoided::Constellation(map.constellation_by_name("Alder").unwrap());
    let low = ["Marrow", "Tarn"].map(|name| Avoided::System(index_of(&map, name)));
    let avoid = Avoid::new(&map, low.into_iter().chain([alder])).unwrap();
    let query = query(&map, "Jita", "Amarr", Mode::Shortest).avoiding(&avoid);
    let give_up = vec![alder];
    assert_eq!(find(&map, &query), Err(NoRoute::Avoided { give_up, jumps: 5 }));
}

#[test]
fn several_things_that_cut_it_together_are_named() {
    let map = small();
    let birch = Avoided::Constellation(map.constellation_by_name("Birch").unwrap());
    let south = Avoided::Region(map.region_by_name("Southreach").unwrap());
    let low = Avoided::Class(SecurityClass::Low);
    let ostra = Avoided::System(index_of(&map, "Ostra"));
    let avoid = Avoid::new(&map, [ostra, low, birch, south]).unwrap();
    let query = query(&map, "Jita", "Wend", Mode::Shortest).avoiding(&avoid);
    let NoRoute::Avoided { give_up, jumps } = find(&map, &query).unwrap_err() else {
        panic!("it is avoided");
    };
    // Southreach and the low Sable must be given up in any case, and then Ostra is in the way, or Marrow, which is low
    // too.
    assert_eq!(give_up, [low, birch, south]);
    assert_eq!(jumps, 8);
}

#[test]
fn pochven_and_wormholes_of_the_real_map_are_explained() {
    let Some(map) = real() else { return };
    let error = |from, to| find(&map, &query(&map, from, to, Mode::Shortest)).unwrap_err();
    let NoRoute::CutOff { from_origin, to_destination, .. } = error("Jita", "Niarja") else {
        panic!("Pochven is cut off");
    };
    assert_eq!((from_origin, to_destination), (5_175, 27));
    let system = index_of(&map, "J105443");
    assert_eq!(error("J105443", "Jita"), NoRoute::NoGates { system });
    let delve = Avoided::Region(map.region_by_name("Delve").unwrap());
    let avoid = Avoid::new(&map, [Avoided::Class(SecurityClass::Low), delve]).unwrap();
    let to_delve = query(&map, "Jita", "1DQ1-A", Mode::Shortest).avoiding(&avoid);
    let NoRoute::Avoided { give_up, .. } = find(&map, &to_delve).unwrap_err() else {
        panic!("it is avoided");
    };
    assert_eq!(give_up, [delve]);
}
