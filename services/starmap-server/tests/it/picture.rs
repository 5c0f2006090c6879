//! Pictures: what is in them, that they are the same each time, and what no name can do to them.

use proptest::prelude::*;
use starmap_server::map::{Map, SystemIndex};
use starmap_server::picture::{self, MAX_DRAWN, MAX_SIDE};

use crate::assert_has;
use crate::common::{generated, index_of, small, small_parts};

/// What XML asks of a document: tags that close in order, nothing bare that must be escaped.
fn check_xml(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some((text, tag)) = rest.split_once('<') {
        check_text(text);
        let (tag, after) = tag.split_once('>').expect("a tag that ends");
        rest = after;
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    check_text(rest);
    assert_eq!(open, Vec::<&str>::new());
}

fn check_text(text: &str) {
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{text:?}");
    }
}

#[test]
fn a_route_is_drawn_with_its_names_its_way_and_a_legend() {
    let map = small();
    let way: Vec<SystemIndex> =
        ["Jita", "Marrow", "Tarn", "Amarr"].map(|name| index_of(&map, name)).into();
    let svg = picture::route(&map, &way, "Jita to Amarr", &[]);
    check_xml(&svg);
    for told in [
        ">Jita to Amarr<",
        ">Marrow<",
        ">Tarn<",
        "Tarn 0.3, Birch, Northmark",
        "light years",
        "data hand-made",
    ] {
        assert!(svg.contains(told), "{told}: {svg}");
    }
    // Three steps of the way, thick; none is dashed, since gates join them.
    assert_eq!(svg.matches("stroke-width=\"3.5\"").count(), 3);
    assert_eq!(svg.matches("stroke-dasharray").count(), 0);
    assert_eq!(picture::route(&small(), &way, "Jita to Amarr", &[]), svg, "the same each time");
    let bridged = [way[0], way[3]];
    assert_eq!(picture::route(&map, &bridged, "", &[]).matches("stroke-dasharray").count(), 1);
}

#[test]
fn north_is_up_and_east_is_right() {
    let map = small();
    let svg = picture::region(&map, map.region_by_name("Northmark").unwrap());
    let place = |name: &str| -> (f64, f64) {
        let tooltip = svg.find(&format!("<title>{name} ")).unwrap();
        let circle = &svg[svg[..tooltip].rfind("<circle").unwrap()..tooltip];
        let number = |name: &str| {
            circle.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse()
        };
        (number("cx").unwrap(), number("cy").unwrap())
    };
    // Ostra is two light years north of Jita, Velm two east of Ostra.
    let (jita, ostra, velm) = (place("Jita"), place("Ostra"), place("Velm"));
    assert!(ostra.1 < jita.1 && (ostra.0 - jita.0).abs() < 1.0, "{jita:?} {ostra:?}");
    assert!(velm.0 > ostra.0 && (velm.1 - ostra.1).abs() < 1.0, "{ostra:?} {velm:?}");
}

#[test]
fn places_are_drawn_with_what_is_around() {
    let map = small();
    let jita = picture::route(&map, &[index_of(&map, "Jita")], "Jita", &[]);
    check_xml(&jita);
    assert!(jita.contains(">Marrow<") && jita.contains(">Ostra<"));
}

#[test]
fn without_positions_it_is_drawn_in_order_and_says_so() {
    let mut parts = small_parts();
    for system in &mut parts.systems {
        system.position = None;
    }
    let (map, _) = Map::new(parts).unwrap();
    let svg = picture::region(&map, map.region_by_name("Northmark").unwrap());
    check_xml(&svg);
    assert_has(&svg, &["the map has no positions", ">Kestrel<"]);
    // One that has none among others that have is reported.
    let (map, _) = Map::new(small_parts()).unwrap();
    let way = ["J000001", "J000002", "Jita"].map(|name| index_of(&map, name));
    let svg = picture::route(&map, &way, "", &[]);
    assert!(svg.contains("1 systems without a position"), "{svg}");
}

#[test]
fn names_cannot_write_markup() {
    let mut parts = small_parts();
    parts.systems[0].name = "<script>&\"'".to_owned();
    parts.version = "]]>&<!--".to_owned();
    let (map, _) = Map::new(parts).unwrap();
    let svg = picture::route(&map, &[map.system_by_id(30_000_001).unwrap()], "", &[]);
    check_xml(&svg);
    assert!(svg.contains("&lt;script&gt;&amp;&quot;&#39;"), "{svg}");
    check_xml(&picture::route(&map, &[], "<&>\u{0}", &["a note".to_owned()]));
}

/// An attribute of the first element that has it.
fn number(svg: &str, name: &str) -> f64 {
    let value = svg.split(&format!(" {name}=\"")).nth(1).unwrap();
    value.split('"').next().unwrap().parse().unwrap()
}

/// The small map with its systems elsewhere.
fn placed(place: impl Fn(f64) -> [f64; 3]) -> Map {
    let mut parts = small_parts();
    for (at, system) in (0..).zip(&mut parts.systems) {
        system.position = Some(place(f64::from(at)));
    }
    Map::new(parts).unwrap().0
}

#[test]
fn every_text_has_room() {
    // The system farthest to the right has a name that is longer than the margin.
    let mut parts = small_parts();
    parts.systems[6].name = "Rook of the long and winding name".to_owned();
    parts.version =
        "a version of the data that is as long as versions with a date and a time are".to_owned();
    let (map, _) = Map::new(parts).unwrap();
    for svg in [
        picture::route(&map, &[map.system_by_id(30_000_007).unwrap()], &"title ".repeat(12), &[]),
        picture::region(&map, map.region_by_name("Northmark").unwrap()),
    ] {
        check_xml(&svg);
        let width = number(&svg, "width");
        // The title, then the systems and the legend, each in a group that is moved to the right.
        let groups = svg.split("translate(").enumerate();
        for (text, shift) in groups.flat_map(|(group, inside)| {
            let shift = match group {
                0 => 0.0,
                _ => inside.split(' ').next().unwrap().parse().unwrap(),
            };
            inside.split("<text ").skip(1).map(move |text| (text, shift))
        }) {
            let (left, right) = extent(text);
            assert!(left + shift >= 0.0 && right + shift <= width, "{text}: {width}");
        }
    }
}

/// From where to where a text goes, about, by what follows `<text `.
fn extent(text: &str) -> (f64, f64) {
    let (tag, rest) = text.split_once('>').unwrap();
    let tag = format!(" {tag}");
    let size = if tag.contains("font-size=\"16\"") { 16.0 } else { 10.0 };
    let long = rest.split('<').next().unwrap().chars().count() as f64 * size * 0.6;
    let x = number(&tag, "x");
    match tag.split("text-anchor=\"").nth(1).map(|it| &it[..3]) {
        Some("end") => (x - long, x),
        Some("mid") => (x - long / 2.0, x + long / 2.0),
        _ => (x, x + long),
    }
}

#[test]
fn places_that_nothing_can_be_drawn_by_are_drawn_in_bounds() {
    for map in [
        placed(|_| [0.0; 3]),
        placed(|at| [at * 1e-310, 0.0, 0.0]),
        placed(|at| [at * 1e306, 0.0, -1.7e308]),
        placed(|at| [if at < 1.0 { -1.7e308 } else { 1.7e308 }, 0.0, at]),
    ] {
        let svg = picture::region(&map, map.region_by_name("Northmark").unwrap());
        check_xml(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    // All at one place, but for two that are far from it.
    let mut parts = generated(7, 600);
    for (at, system) in (0..).zip(&mut parts.systems) {
        let far = if at < 2 { f64::from(at) * 1e18 } else { 5e17 };
        system.position = Some([far, 0.0, 0.0]);
    }
    let (map, _) = Map::new(parts).unwrap();
    let way: Vec<SystemIndex> = map.indices().collect();
    let svg = picture::route(&map, &way, "", &[]);
    assert!(number(&svg, "width") <= MAX_SIDE, "{}", number(&svg, "width"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_map_is_drawn_in_bounds(seed in any::<u64>(), size in 2_usize..900) {
        let (map, _) = Map::new(generated(seed, size)).unwrap();
        let way: Vec<SystemIndex> = map.indices().collect();
        let svg = picture::route(&map, &way, "all of it", &[]);
        check_xml(&svg);
        prop_assert!(svg.len() < 2_000_000);
        prop_assert!(svg.matches("<circle").count() <= MAX_DRAWN);
        prop_assert_eq!(svg.contains("are left out"), size > MAX_DRAWN);
        prop_assert!(number(&svg, "width") <= MAX_SIDE && number(&svg, "height") <= MAX_SIDE + 102.0);
    }
}
