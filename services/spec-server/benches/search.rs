//! Search over 5,000 made-up specs, the same in every run: how long it takes to build the index, to take in one change
//! and to answer, and how much memory it needs. `cargo bench -p spec-server --bench search`
//!
//! Nothing is asserted: figures are for people. Beside the time on the clock stands what of it was the processor's,
//! where the system shows it (Linux, to some milliseconds): what else runs on the machine counts little there.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program that tells figures")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use spec_server::project::{Limits, Project};
use spec_server::search::{Searcher, Settings, TOP_K};

const SPECS: usize = 5_000;
const QUERIES: usize = 2_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut words = Words(1);
    for number in 0..SPECS {
        write(root, number, &words.spec());
    }
    let project = Project::open(root).unwrap().with_limits(Limits::default());
    let (specs, read) = timed(|| project.specs().unwrap().items);
    print("read and parse the files", read);

    let before = resident();
    let searcher = Searcher::open(root, Settings::default()).unwrap();
    let ((), built) = timed(|| searcher.update(&specs).unwrap());
    print("build the index", built);
    if let (Some(before), Some(after)) = (before, resident()) {
        println!(
            "{:<44} {:>9.1} MiB",
            "memory of the index",
            after.saturating_sub(before) as f64 / 1024.0
        );
    }
    print("update without a change", timed(|| searcher.update(&specs).unwrap()).1);

    let mut changes = Vec::new();
    let mut visible = Vec::new();
    for number in 0..50 {
        let mark = format!("changed{number}mark");
        write(root, number * 97, &words.spec().replace("SHALL", &format!("SHALL {mark}")));
        let (found, whole) = timed(|| {
            let specs = project.specs().unwrap().items;
            let ((), update) = timed(|| searcher.update(&specs).unwrap());
            changes.push(update);
            searcher.search(&mark, TOP_K).unwrap().hits.len()
        });
        assert!(found > 0);
        visible.push(whole);
    }
    print_spread("update after one changed file", changes);
    print_spread("from that file on disk to its answer", visible);

    let queries: Vec<String> = (0..QUERIES).map(|_| words.query()).collect();
    let mut hits = 0;
    let answers = queries.iter().map(|query| {
        let (found, time) = timed(|| searcher.search(query, TOP_K).unwrap());
        hits += found.hits.len();
        time
    });
    print_spread("search, one to six words", answers.collect());
    println!("{:<44} {:>9.1}", "hits of a query", hits as f64 / QUERIES as f64);
}

fn write(root: &Path, number: usize, text: &str) {
    let folder = root.join(format!("openspec/specs/area-{}/capability-{number}", number % 40));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("spec.md"), text).unwrap();
}

/// What a piece of work took.
#[derive(Clone, Copy, Default)]
struct Took {
    clock: Duration,
    processor: Duration,
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (begun, used) = (Instant::now(), processor());
    let done = work();
    let took = Took { clock: begun.elapsed(), processor: processor().saturating_sub(used) };
    (done, took)
}

/// What this thread has had of a processor.
fn processor() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let told = told.split(' ').next().and_then(|told| told.parse().ok());
    told.map_or(Duration::ZERO, Duration::from_nanos)
}

fn print(what: &str, took: Took) {
    let [clock, processor] = [took.clock, took.processor].map(|time| time.as_secs_f64() * 1e3);
    println!("{what:<44} {clock:>9.2} ms {processor:>9.2} ms");
}

/// The median, the 99th percentile and the mean.
fn print_spread(what: &str, mut took: Vec<Took>) {
    took.sort_unstable_by_key(|took| took.clock);
    let clock = |part: f64| {
        let took = took.get((took.len() as f64 * part) as usize);
        took.map_or(0.0, |took| took.clock.as_secs_f64() * 1e3)
    };
    let processor: Duration = took.iter().map(|took| took.processor).sum();
    let mean = processor.as_secs_f64() * 1e3 / took.len().max(1) as f64;
    println!("{:<44} {:>9.2} ms", format!("{what}, p50"), clock(0.5));
    println!("{:<44} {:>9.2} ms", format!("{what}, p99"), clock(0.99));
    println!("{:<44} {:>12} {mean:>9.2} ms", format!("{what}, mean"), "");
}

/// Memory of this process in KiB, where the system shows it.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Made-up words, drawn so that few are frequent and many are rare.
struct Words(u64);

impl Words {
    const SYLLABLES: [&str; 20] = [
        "ba", "ce", "dor", "fi", "gal", "hu", "ir", "jo", "ken", "li", "mar", "no", "per", "qui",
        "ra", "sto", "tem", "ul", "ver", "wo",
    ];

    /// Below `bound`, by a linear congruential generator (Knuth's MMIX).
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn word(&mut self) -> String {
        // The product of two even draws is small more often than not.
        let mut rank = self.below(200) * self.below(200);
        let mut word = String::new();
        for _ in 0..3 {
            let syllable = usize::try_from(rank % 20).unwrap();
            word.push_str(Self::SYLLABLES.get(syllable).unwrap());
            rank /= 20;
        }
        word
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn query(&mut self) -> String {
        let count = 1 + self.below(6);
        self.words(count)
    }

    fn spec(&mut self) -> String {
        let mut text =
            format!("# {}\n\n## Purpose\n{}.\n\n## Requirements\n", self.words(3), self.words(20));
        for _ in 0..3 + self.below(7) {
            text += &format!(
                "\n### Requirement: {}\nThe system SHALL {}.\n",
                self.words(4),
                self.words(25)
            );
            for _ in 0..1 + self.below(4) {
                text += &format!(
                    "\n#### Scenario: {}\n- **WHEN** {}\n- **THEN** {}\n",
                    self.words(3),
                    self.words(12),
                    self.words(12)
                );
            }
        }
        text
    }
}
