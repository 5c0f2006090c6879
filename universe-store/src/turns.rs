//! How the writers of one universe in a shared store take turns.
//!
//! Compare-and-set favours the writer that was just first, so one pauses after some 30 ms of appends, and one that was
//! refused waits for the pause. Only speed and fairness depend on the turns.

use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use tokio::time::Instant;

use crate::Revision;

/// How long a turn is: this time and so many appends.
const TURN: (Duration, u32) = (Duration::from_millis(20), 20);

/// The same for a writer that has not seen others for a [while](MEMORY). Its pauses let them be seen.
const TURN_ALONE: (Duration, u32) = (Duration::from_millis(200), 100);

/// The pause after a turn. The others begin theirs in it.
const PAUSE: (Duration, u32) = (Duration::from_millis(6), 6);

/// How long a log is quiet before a writer whose append was refused tries again. A random time up to [`SPREAD`] is
/// added, so that of several writers one is first. It is shorter for a writer that was refused more often.
const QUIET: (Duration, u32) = (Duration::from_millis(1), 1);
const SPREAD: (Duration, u32) = (Duration::from_millis(2), 2);

/// How long a writer gives way after it last saw that another one writes.
const MEMORY: Duration = Duration::from_secs(1);

/// The longest time that an append counts for.
const SLOWEST: Duration = Duration::from_millis(100);

/// One writer's view of the turns at a log that others may write, too.
///
/// [Compare-and-set](crate::UniverseLog::append) decides which append is next, and favours the writer that was just
/// first: it knows the new head before all others. The others would find another head each time, for nothing and
/// perhaps for long. So a writer pauses after some 30 ms of appends if it has seen others, and after some 250 ms if it
/// has not. A writer whose append was refused twice waits until the log is quiet. All times are longer if appends are
/// slow. The order of appends does not depend on any of this: a pause that is missed costs a conflict.
#[derive(Debug, Default)]
pub struct Turns {
    /// When an append was last refused because another writer was first.
    others: Option<Instant>,
    /// When the present turn began, and its last append ended.
    turn: Option<(Instant, Instant)>,
    /// When the present append began.
    asked: Option<Instant>,
    /// How long the last append took.
    pace: Duration,
    /// How many appends were refused since the last one that succeeded.
    refused: u32,
}

impl Turns {
    /// Gives way to others if the turn is over. Call it before an append.
    pub async fn begin(&mut self) {
        if let Some((began, last)) = self.turn {
            let pause = self.time(PAUSE).saturating_sub(last.elapsed());
            let is_alone = self.others.is_none_or(|seen| seen.elapsed() >= MEMORY);
            let turn = if is_alone { TURN_ALONE } else { TURN };
            if pause.is_zero() {
                self.turn = None;
            } else if began.elapsed() >= self.time(turn) {
                self.turn = None;
                tokio::time::sleep(pause).await;
            }
        }
        self.asked = Some(Instant::now());
    }

    /// After an append that succeeded.
    pub fn won(&mut self) {
        let now = self.answered();
        let began = self.turn.map_or(now, |(began, _)| began);
        self.turn = Some((began, now));
        self.refused = 0;
    }

    /// After an append that found another head. From the second one in a row on, it waits for the end of the other
    /// writer's turn, at most for the time of two turns. The [hints](crate::UniverseLog::hints) show that the other
    /// writer continues. Returns whether there may be more of them.
    pub async fn lost(&mut self, mut hints: impl Stream<Item = Revision> + Unpin) -> bool {
        let now = self.answered();
        (self.others, self.turn) = (Some(now), None);
        self.refused = self.refused.saturating_add(1);
        // Most writers have pauses of their own, in which the next try succeeds.
        if self.refused == 1 {
            return true;
        }
        let spread = self.time(SPREAD).mul_f64(fastrand::f64());
        let quiet = self.time(QUIET) + spread / (self.refused - 1);
        let longest = now + 2 * self.time(TURN);
        loop {
            match tokio::time::timeout(quiet, hints.next()).await {
                Ok(Some(_)) if Instant::now() < longest => {}
                Ok(Some(_)) | Err(_) => return true,
                Ok(None) => {
                    tokio::time::sleep(quiet).await;
                    return false;
                }
            }
        }
    }

    /// An append was answered, now.
    fn answered(&mut self) -> Instant {
        let now = Instant::now();
        if let Some(asked) = self.asked.take() {
            self.pace = now.duration_since(asked).min(SLOWEST);
        }
        now
    }

    fn time(&self, (fixed, appends): (Duration, u32)) -> Duration {
        fixed + appends * self.pace
    }
}
