//! What the benchmarks of stores share: commands by the port, beside another program that does the same, in turn.
//!
//! Both run in each round, so that a noisy machine disturbs them alike; what counts is the ratio within a round, of
//! which the median is given. Servers and clients share the processors of this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use universe_store::{
    Append, AppendError, CommandId, Meta, NewEntry, Revision, Timestamp, Turns, UniverseId,
    UniverseLog,
};

/// The body of each command.
pub(crate) const BODY: &[u8] = &[b'x'; 300];

/// How many rounds there are, and how long each side has in one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    pub(crate) each: Duration,
}

/// What the clients do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// At how many nodes they are.
    pub(crate) nodes: usize,
    /// To how many universes they write: one for each client, or all to the same one.
    pub(crate) universes: usize,
    /// How many clients wait for acknowledgements.
    pub(crate) clients: usize,
}

impl Work {
    /// The same on every engine that nodes share.
    pub(crate) const SHARED: [Self; 4] =
        [Self::new(1, 64, 64), Self::new(3, 64, 64), Self::new(1, 1, 64), Self::new(3, 1, 64)];

    pub(crate) const fn new(nodes: usize, universes: usize, clients: usize) -> Self {
        Self { nodes, universes, clients }
    }

    /// How many write at once, and how many commands each writes together. With a universe for each client, each
    /// appends by itself; with one for all, a node appends what its clients wait for as one batch, as the writer of the
    /// universe server does.
    pub(crate) const fn writers(self) -> (usize, usize) {
        match self.universes {
            1 => (self.nodes, self.clients / self.nodes),
            _ => (self.clients, 1),
        }
    }
}

impl Rounds {
    /// Of the command line: their number and the seconds of each side, after `--`. `None` without `--bench`: `cargo
    /// test` runs benchmarks too, in a hurry.
    pub(crate) fn wanted(count: usize, each: Duration) -> Option<Self> {
        let mut arguments = std::env::args();
        let is_bench = arguments.any(|argument| argument == "--bench");
        let numbers: Vec<u64> =
            std::env::args().filter_map(|argument| argument.parse().ok()).collect();
        let count = numbers.first().map_or(count, |count| *count as usize);
        let each = numbers.get(1).copied().map_or(each, Duration::from_secs);
        is_bench.then_some(Self { count: count.max(1), each })
    }

    /// One row of the table: `ours` and the others in turn, all in commands a second. Gives the median of the ratios
    /// to the first of the others.
    pub(crate) fn compare(
        self,
        row: &str,
        mut ours: impl FnMut() -> f64,
        others: &mut [&mut dyn FnMut() -> f64],
    ) -> f64 {
        let mut all = Vec::new();
        let mut beside = vec![(Vec::new(), Vec::new()); others.len()];
        for _ in 0..self.count {
            let rate = ours();
            all.push(rate);
            for (other, (rates, ratios)) in others.iter_mut().zip(&mut beside) {
                let floor = other();
                rates.push(floor);
                ratios.push(rate / floor);
            }
        }
        print!("{row}  {:>8.0}", median(&mut all));
        for (rates, ratios) in &mut beside {
            let (rate, ratio) = (median(rates), median(ratios));
            let (least, most) = (ratios[0], ratios[self.count - 1]);
            print!("  {rate:>9.0}  {ratio:.2} ({least:.2}-{most:.2})");
        }
        println!();
        let ratios = beside.first_mut().map(|(_, ratios)| median(ratios));
        ratios.unwrap_or(f64::NAN)
    }
}

/// The median, of what is sorted in passing.
pub(crate) fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Commands a second by the port, at these nodes.
pub(crate) async fn commands(opened: Vec<Arc<dyn UniverseLog>>, work: Work, time: Duration) -> f64 {
    for n in 0..work.universes {
        let meta = Meta { id: id(n), name: String::new(), created_at: Timestamp::now() };
        let body = Bytes::from_static(BODY);
        opened[0].create(meta, body).await.unwrap();
    }
    let (writers, batch) = work.writers();
    rate(time, writers, |n, until| {
        let store = Arc::clone(&opened[n % work.nodes]);
        write(store, id(n % work.universes), batch, until)
    })
    .await
}

/// What so many producers do in a second, together. Each gets its number and the time to stop, and gives its count.
pub(crate) async fn rate<F>(
    time: Duration,
    producers: usize,
    produce: impl Fn(usize, Instant) -> F,
) -> f64
where
    F: Future<Output = usize> + Send + 'static,
{
    let start = Instant::now();
    let tasks = (0..producers).map(|n| tokio::spawn(produce(n, start + time)));
    let done = join_all(tasks).await;
    let total: usize = done.into_iter().map(Result::unwrap).sum();
    total as f64 / start.elapsed().as_secs_f64()
}

/// Appends batches until the time is over. After a conflict it waits for its turn and appends the same batch to what is
/// there then, as the server does.
async fn write(store: Arc<dyn UniverseLog>, id: UniverseId, batch: usize, until: Instant) -> usize {
    let (mut head, mut done, mut turns) = (Revision::GENESIS, 0, Turns::default());
    let mut hints = store.hints(&id);
    while Instant::now() < until {
        let entry = || NewEntry {
            command_id: CommandId::random(),
            at: Timestamp::now(),
            body: Bytes::from_static(BODY),
            keyed: false,
        };
        let append =
            Append { expected: head, entries: (0..batch).map(|_| entry()).collect(), name: None };
        turns.begin().await;
        match store.append(&id, append).await {
            Ok(appended) => {
                turns.won();
                head = appended.revision;
                done += batch;
            }
            Err(AppendError::Conflict { .. }) => {
                turns.lost(&mut hints).await;
                head = store.record(&id).await.unwrap().head.revision;
            }
            // As the server does with what many write.
            Err(AppendError::Unavailable) => {}
            Err(error) => panic!("{error}"),
        }
    }
    done
}

fn id(n: usize) -> UniverseId {
    UniverseId::new(format!("universe {n}")).unwrap()
}
