//! How long maps take to load, and how much memory one takes: `cargo run --release --example load_times -- FILE…`.
//!
//! Each file or folder is loaded a hundred times; so is the map of the first, written in the own format.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use starmap_server::load::{load, write};
use starmap_server::map::Map;

const TIMES: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let Some(first) = files.first() else {
        return Err("name at least one map".into());
    };
    let folder = std::env::temp_dir().join(format!("load-times-{}", std::process::id()));
    let own = folder.join("universe.graph");
    write(&load(first)?.map, &own)?;
    files.push(own);
    let mut out = io::stdout();
    // Kept to the end: the memory of maps that are gone would be taken again, and not be seen.
    let mut maps = Vec::with_capacity(TIMES * files.len());
    let measured = files.iter().try_for_each(|file| measure(file, &mut maps, &mut out));
    fs::remove_dir_all(folder)?;
    measured
}

fn measure(
    path: &Path,
    maps: &mut Vec<Map>,
    out: &mut impl io::Write,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(TIMES);
    // What the allocator keeps from loading once is not counted.
    let loaded = load(path)?;
    let before = resident()?;
    for _ in 0..TIMES {
        let start = Instant::now();
        let loaded = load(path)?;
        times.push(start.elapsed());
        maps.push(loaded.map);
    }
    let each = resident()?.saturating_sub(before) / TIMES;
    times.sort_unstable();
    let at = |part: usize| times.get(TIMES * part / 100).copied().unwrap_or_default();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (p50, p99) = (milliseconds(at(50)), milliseconds(at(99)));
    let systems = loaded.map.systems().len();
    let bytes = fs::metadata(path)?.len();
    writeln!(
        out,
        "{:<45} {bytes:>9} bytes, {systems} systems: p50 {p50:.2} ms, p99 {p99:.2} ms, {each} kB a map in memory",
        loaded.format.to_string(),
    )?;
    Ok(())
}

/// The memory of this process in kB (Linux; elsewhere 0).
fn resident() -> Result<usize, Box<dyn Error>> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return Ok(0);
    };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.unwrap_or("0").parse()?)
}
