//! Maps written the way others write them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use serde_json::{Value, json};
use starmap_server::map::{Map, Parts};

/// ARIA's cache, as its program writes it.
pub(crate) fn aria(parts: &Parts) -> Value {
    let mut listed: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut stargates = serde_json::Map::new();
    for (id, (from, to)) in (50_000_001..).zip(&parts.gates) {
        listed.entry(*from).or_default().push(id);
        stargates.insert(id.to_string(), json!({ "destination_system_id": to }));
    }
    let object = |entries: Vec<(u32, Value)>| -> Value {
        let entries = entries.into_iter().map(|(id, value)| (id.to_string(), value));
        Value::Object(entries.collect())
    };
    let regions = parts.regions.iter();
    let regions = regions.map(|it| (it.id, json!({ "name": it.name })));
    let constellations = parts.constellations.iter();
    let constellations =
        constellations.map(|it| (it.id, json!({ "name": it.name, "region_id": it.region })));
    let systems = parts.systems.iter().map(|it| {
        let mut system = json!({
            "name": it.name,
            "security": it.security,
            "constellation_id": it.constellation,
            "stargates": listed.get(&it.id).cloned().unwrap_or_default(),
        });
        if let Some([x, y, z]) = it.position {
            system["position"] = json!({ "x": x, "y": y, "z": z });
        }
        (it.id, system)
    });
    json!({
        "generated": parts.version,
        "regions": object(regions.collect()),
        "constellations": object(constellations.collect()),
        "systems": object(systems.collect()),
        "stargates": stargates,
    })
}

/// The tables of Fuzzwork, with more columns than are needed: name and text of each file.
pub(crate) fn fuzzwork(parts: &Parts) -> Vec<(&'static str, String)> {
    let region_of = |constellation: u32| {
        let mut all = parts.constellations.iter();
        all.find(|it| it.id == constellation).map_or(0, |it| it.region)
    };
    let mut regions = "regionID,regionName,x,y,z,factionID\n".to_owned();
    for it in &parts.regions {
        writeln!(regions, "{},{},1.0,2.0,3.0,None", it.id, it.name).unwrap();
    }
    let mut constellations = "regionID,constellationID,constellationName,x,y,z\n".to_owned();
    for it in &parts.constellations {
        writeln!(constellations, "{},{},{},1,2,3", it.region, it.id, it.name).unwrap();
    }
    let mut systems = "regionID,constellationID,solarSystemID,solarSystemName,x,y,z,border,\
                       constellation,security,factionID,securityClass\n"
        .to_owned();
    for it in &parts.systems {
        let region = region_of(it.constellation);
        let position = match it.position {
            Some([x, y, z]) => format!("{x:e},{y:e},{z:e}"),
            None => "None,None,None".to_owned(),
        };
        let (id, name, security) = (it.id, &it.name, it.security);
        let constellation = it.constellation;
        writeln!(
            systems,
            "{region},{constellation},{id},{name},{position},0,None,{security:?},None,B"
        )
        .unwrap();
    }
    let mut jumps = "fromRegionID,fromConstellationID,fromSolarSystemID,toSolarSystemID,\
                     toConstellationID,toRegionID\n"
        .to_owned();
    for (from, to) in &parts.gates {
        writeln!(jumps, "1,2,{from},{to},3,4").unwrap();
    }
    vec![
        ("mapRegions.csv", regions),
        ("mapConstellations.csv", constellations),
        ("mapSolarSystems.csv", systems),
        ("mapSolarSystemJumps.csv", jumps),
    ]
}

/// The documents of the Static Data Export: name and text of each.
pub(crate) fn export(parts: &Parts) -> Vec<(&'static str, String)> {
    let lines =
        |lines: Vec<Value>| -> String { lines.iter().map(|it| format!("{it}\n")).collect() };
    let name = |name: &str| json!({ "de": "anders", "en": name });
    let regions = parts.regions.iter();
    let regions = regions.map(|it| json!({ "_key": it.id, "name": name(&it.name) }));
    let constellations = parts.constellations.iter().map(
        |it| json!({ "_key": it.id, "name": name(&it.name), "regionID": it.region, "wormholeClassID": 7 }),
    );
    let systems = parts.systems.iter().map(|it| {
        let mut system = json!({
            "_key": it.id,
            "name": name(&it.name),
            "securityStatus": it.security,
            "constellationID": it.constellation,
            "stargateIDs": (50_000_001..)
                .zip(&parts.gates)
                .filter(|(_, (from, _))| *from == it.id)
                .map(|(id, _)| id)
                .collect::<Vec<u32>>(),
        });
        if let Some([x, y, z]) = it.position {
            system["position"] = json!({ "x": x, "y": y, "z": z });
        }
        system
    });
    let gates = (50_000_001..).zip(&parts.gates).map(|(id, (from, to))| {
        let destination = json!({ "solarSystemID": to, "stargateID": 50_000_009 });
        json!({ "_key": id, "solarSystemID": from, "destination": destination })
    });
    let about = json!({ "_key": "sde", "buildNumber": 3_142_455, "releaseDate": "2026-01-01" });
    vec![
        ("_sde.jsonl", lines(vec![about])),
        ("mapRegions.jsonl", lines(regions.collect())),
        ("mapConstellations.jsonl", lines(constellations.collect())),
        ("mapSolarSystems.jsonl", lines(systems.collect())),
        ("mapStargates.jsonl", lines(gates.collect())),
    ]
}

/// A zip of these entries.
pub(crate) fn zip(entries: &[(&str, String)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut file);
    for (name, text) in entries {
        let builder = archive.new_file(name);
        let builder = builder.compression_method(rawzip::CompressionMethod::DEFLATE);
        let (mut entry, config) = builder.start().unwrap();
        let encoder = DeflateEncoder::new(&mut entry, Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(text.as_bytes()).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    file
}

/// Packed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes each file into a folder.
pub(crate) fn put(folder: &Path, files: &[(&str, String)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// That two maps have the same on them, whatever their versions: bit by bit, names and all.
pub(crate) fn assert_same(a: &Map, b: &Map) {
    assert_eq!(a.regions(), b.regions());
    assert_eq!(a.constellations(), b.constellations());
    assert_eq!(a.systems(), b.systems());
    let bits = |map: &Map| -> Vec<u64> {
        let systems = map.systems().iter();
        let numbers = systems.flat_map(|it| it.position.into_iter().flatten().chain([it.security]));
        numbers.map(f64::to_bits).collect()
    };
    assert_eq!(bits(a), bits(b));
    assert_eq!(a.connections(), b.connections());
    for index in a.indices() {
        assert_eq!(a.neighbours(index), b.neighbours(index));
    }
}
