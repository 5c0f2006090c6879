//! The attacking client: its target, its time, and what it achieved.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::target::{Message, Target};
use super::wire::Client;

/// The target of an attack, and its duration.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) target: Target,
    pub(super) tally: Tally,
    stopped: AtomicBool,
    end: Instant,
}

/// Counts of what the attack achieved.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) opened: AtomicU64,
    /// Connections that the server ended.
    pub(super) closed: AtomicU64,
    /// Bytes that the server's machine accepted.
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    /// HTTP/2 streams that the server reset.
    pub(super) reset: AtomicU64,
    /// The number of answers by status. 0 stands for answers that did not arrive in time.
    answers: Mutex<BTreeMap<u16, u64>>,
}

impl Field {
    /// An attack on this target that ends after this time, or when stdin ends, for any reason.
    pub(super) fn new(target: Target, time: Duration) -> Arc<Self> {
        let field = Arc::new(Self {
            target,
            tally: Tally::default(),
            stopped: AtomicBool::new(false),
            end: Instant::now() + time,
        });
        let watched = Arc::clone(&field);
        thread::spawn(move || {
            let _ = io::stdin().lock().read(&mut [0]);
            watched.stopped.store(true, Ordering::Relaxed);
        });
        field
    }

    pub(super) fn over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.end
    }

    /// Sends a message, accepts any answer, and counts it.
    pub(super) fn ask(
        &self,
        client: &mut Client,
        message: &Message,
    ) -> Option<super::wire::Answer> {
        let request = self.target.http1(message);
        let answer = client.call(&request, super::target::CALL_DEADLINE).ok();
        self.tally.sent.fetch_add(request.len() as u64, Ordering::Relaxed);
        self.tally.answer(answer.as_ref().map_or(0, |answer| answer.status));
        if answer.is_none() {
            // Avoids a busy loop when the server accepts no more requests.
            thread::sleep(Duration::from_millis(10));
        }
        answer
    }

    /// Repeats `turn` on `threads` threads until the attack is over.
    pub(super) fn on_threads(&self, threads: usize, turn: impl Fn(&mut Client) + Sync) {
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut client = self.target.client();
                    while !self.over() {
                        turn(&mut client);
                    }
                });
            }
        });
    }
}

impl Tally {
    pub(super) fn answer(&self, status: u16) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        *answers.entry(status).or_default() += 1;
    }

    pub(super) fn to_json(&self) -> Value {
        let number = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answers: serde_json::Map<String, Value> =
            answers.iter().map(|(status, count)| (status.to_string(), (*count).into())).collect();
        json!({
            "opened": number(&self.opened),
            "closed_by_server": number(&self.closed),
            "sent_mib": number(&self.sent) >> 20,
            "received_mib": number(&self.received) >> 20,
            "reset_by_server": number(&self.reset),
            "answers": answers,
        })
    }
}
