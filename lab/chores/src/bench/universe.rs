//! The figures of real tools: the tools of the universe server, on Sol and on a universe of 100,000 bodies.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::case;
use super::compare::{Plan, load_calls};
use super::connection::Connection;
use super::contestant::{self, Contestant};
use super::exchange::{NUMBER, ToolCall};
use super::figure::{Figure, Measured, interleaved};
use super::load::Sample;
use crate::era::Era;
use xtask::process::Server;
use xtask::{Result, target};

/// The number of bodies in a small and in a large universe.
const SIZES: [usize; 2] = [100, 100_000];
const COMMANDS: [&str; 3] = ["tick", "addStar", "updateStar"];

/// A row: the floor with its small call, or a tool of the universe server.
struct Case<'a> {
    name: String,
    era: Era,
    task: Task<'a>,
}

enum Task<'a> {
    Floor(&'a Contestant),
    /// On Sol.
    Sol(&'a ToolCall),
    /// On a universe with this many bodies.
    Command(&'static str, usize),
}

impl Measured for Case<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn era(&self) -> Era {
        self.era
    }
}

/// All figures of the universe server at `program`.
///
/// # Errors
/// When nothing can be printed. A failure is reported in its row.
pub(super) fn figures(floors: &[Contestant], program: &Path, plan: Plan) -> Result<Vec<Figure>> {
    let sol = json!({ "universeId": "sol" });
    let tick = json!({ "universeId": "sol", "command": { "type": "tick", "dt": 1 } });
    let read = ToolCall::universe("get_universe_state", sol);
    let write = ToolCall::universe("send_universe_command", tick);
    let mut figures = Vec::new();
    let tools = [
        (
            &read,
            [
                "get_universe_state of Sol, 16 connections",
                "get_universe_state of Sol: CPU time of the server",
            ],
        ),
        (
            &write,
            [
                "send_universe_command, a tick of Sol, durable, 16 connections",
                "send_universe_command: CPU time of the server",
            ],
        ),
    ];
    for (call, [name, cpu]) in tools {
        let mut cases = floor_cases(floors);
        cases.extend([Era::Legacy, Era::Modern].map(|era| Case {
            name: "universe-server".to_owned(),
            era,
            task: Task::Sol(call),
        }));
        let kinds = [(name, "calls/s", false), (cpu, "µs/call", true)];
        figures.extend(interleaved(
            &kinds,
            &cases.iter().collect::<Vec<_>>(),
            plan.rounds,
            |case| case.measure(program, plan),
        )?);
    }
    let mut cases = floor_cases(floors);
    cases.retain(|case| case.era == Era::Modern);
    for command in COMMANDS {
        cases.extend(SIZES.map(|size| Case {
            name: format!("{command}, {size} bodies"),
            era: Era::Modern,
            task: Task::Command(command, size),
        }));
    }
    let kinds = [
        ("Durable commands by size of the universe, 16 connections", "calls/s", false),
        ("Durable commands by size of the universe: CPU time of the server", "µs/call", true),
    ];
    figures.extend(interleaved(&kinds, &cases.iter().collect::<Vec<_>>(), plan.rounds, |case| {
        case.measure(program, plan)
    })?);
    let cases = SIZES.map(|size| Case {
        name: format!("get_universe_state, {size} bodies"),
        era: Era::Modern,
        task: Task::Command("get", size),
    });
    let kinds = [
        ("The whole state by size of the universe, 1 connection", "calls/s", false),
        ("The whole state by size of the universe: CPU time of the server", "µs/call", true),
    ];
    figures.extend(interleaved(&kinds, &cases.iter().collect::<Vec<_>>(), plan.rounds, |case| {
        case.measure(program, plan)
    })?);
    Ok(figures)
}

fn floor_cases(floors: &[Contestant]) -> Vec<Case<'_>> {
    let floors = floors.iter().filter(|it| it.program.name == "floor");
    let case = |floor| Case {
        name: "floor".to_owned(),
        era: Contestant::era(floor),
        task: Task::Floor(floor),
    };
    floors.map(case).collect()
}

impl Case<'_> {
    /// Calls per second, and the server's CPU time per call.
    fn measure(&self, program: &Path, plan: Plan) -> Result<Vec<f64>> {
        let sample = match self.task {
            Task::Floor(floor) => {
                load_calls(&floor.start()?, &ToolCall::small(), self.era, 16, plan.duration)
            }
            Task::Sol(call) => {
                load_calls(&Universes::start(program)?.server, call, self.era, 16, plan.duration)
            }
            Task::Command(command, size) => on_bodies(program, command, size, plan),
        }?;
        Ok(vec![sample.per_second, sample.cpu_micros])
    }
}

fn on_bodies(program: &Path, command: &'static str, size: usize, plan: Plan) -> Result<Sample> {
    let universes = Universes::start(program)?;
    let mut connection = Connection::open(universes.server.url())?;
    let id = case::create_universe(&mut connection, &bodies(size))?;
    drop(connection);
    let command = match command {
        "get" => {
            let call = ToolCall::universe("get_universe_state", json!({ "universeId": id }));
            return load_calls(&universes.server, &call, Era::Modern, 1, plan.duration);
        }
        "addStar" => json!({
            "type": "addStar", "id": format!("new-{NUMBER}"),
            "payload": {
                "name": "New", "mass": 0.5, "radius": 0.25, "color": "#3366CC", "parentId": "sol",
                "orbitalDistance": 5, "orbitalSpeed": 2.25, "orbitalPhase": 90, "bodyType": "planet",
            },
        }),
        "updateStar" => json!({
            "type": "updateStar", "id": format!("body-{}", size / 2),
            "payload": { "name": format!("Renamed {NUMBER}"), "mass": 2 },
        }),
        _ => json!({ "type": "tick", "dt": 0.5 }),
    };
    let arguments = json!({ "universeId": id, "command": command, "result": "events" });
    let call = ToolCall::universe("send_universe_command", arguments);
    load_calls(&universes.server, &call, Era::Modern, 16, plan.duration)
}

/// A universe with one star and all other bodies in orbit around it.
fn bodies(size: usize) -> Value {
    let ids: Vec<_> = (1..size).map(|number| format!("body-{number}")).collect();
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
    json!({ "stars": stars, "rootIds": ["sol"] })
}

/// The universe server on a separate folder, which is removed when this is dropped.
struct Universes {
    server: Server,
    data: PathBuf,
}

impl Universes {
    fn start(program: &Path) -> Result<Self> {
        let data = target().join("bench").join("universes");
        // An interrupted run may have left this folder. It need not exist.
        let _ = fs::remove_dir_all(&data);
        let arguments: Vec<OsString> = vec![
            "--listen".into(),
            "127.0.0.1:0".into(),
            "--data-dir".into(),
            data.clone().into(),
            "--demo".into(),
            // A universe of 100,000 bodies is 30 MB of JSON.
            "--max-body".into(),
            "64MiB".into(),
            "--max-universe".into(),
            "64MiB".into(),
        ];
        Ok(Self { server: contestant::start(program, arguments)?, data })
    }
}

impl Drop for Universes {
    fn drop(&mut self) {
        // The server is killed only a moment later, so it may write again. The next start removes those files.
        let _ = fs::remove_dir_all(&self.data);
    }
}
