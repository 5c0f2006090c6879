//! Lanes: the tasks of one client wait for a processor in their own queue.
//!
//! A runtime polls what was woken in order. Where ten thousand streams of one client become ready together, all clients
//! that come after them wait for all of them. Here only as many tasks of a client stand in the runtime's queue as it
//! has workers; the others wait in the client's own queue, so a processor is shared by clients and not by tasks.
//!
//! Clients behind a trusted proxy share their proxy's connections and cannot be distinguished here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use slab::Slab;

use crate::locked::Locked as _;

/// The queue of one client. Cheap to clone; clones are one lane.
#[derive(Debug, Clone)]
pub(super) struct Lane(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// How many tasks may be polled, or stand in the runtime's queue, at once.
    at_once: usize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    tasks: Slab<Task>,
    /// How many tasks are granted or polled.
    running: usize,
    /// The waiting tasks in order, each once. A listed task may have been dropped.
    waiting: VecDeque<usize>,
}

#[derive(Debug)]
struct Task {
    phase: Phase,
    /// Wakes it in the runtime; `None` before its first poll.
    waker: Option<Waker>,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It was not woken.
    Idle,
    /// It was woken and waits in the client's queue.
    Waiting,
    /// It was woken and may be polled: it stands in the runtime's queue.
    Granted,
    /// It is being polled.
    Polled,
    /// It was woken while it is being polled.
    Woken,
}

/// A task's place in a lane, until it is dropped.
#[derive(Debug)]
pub(super) struct LaneSeat {
    task: Arc<TaskRef>,
    waker: Waker,
}

/// The waker of a task: the task and its lane.
#[derive(Debug)]
struct TaskRef {
    lane: Lane,
    key: usize,
}

impl Lane {
    /// A lane of which at most `at_once` tasks are polled at once.
    pub(super) fn new(at_once: usize) -> Self {
        Self(Arc::new(Shared { at_once, queue: Mutex::default() }))
    }

    /// How many tasks of it are polled at once.
    pub(super) fn at_once(&self) -> usize {
        self.0.at_once
    }

    /// A place for a task.
    pub(super) fn seat(&self) -> LaneSeat {
        let key = self.0.queue.locked().tasks.insert(Task { phase: Phase::Idle, waker: None });
        let task = Arc::new(TaskRef { lane: self.clone(), key });
        LaneSeat { waker: Waker::from(Arc::clone(&task)), task }
    }

    /// Grants what may be polled. Wakes outside of the lock: that may run anything.
    fn grant<'a>(&'a self, mut queue: MutexGuard<'a, Queue>) {
        while let Some(waker) = queue.next(self.0.at_once) {
            let is_last = queue.waiting.is_empty();
            drop(queue);
            waker.wake();
            if is_last {
                return;
            }
            queue = self.0.queue.locked();
        }
    }
}

impl Queue {
    /// Takes the next task that waits, if one may run; what wakes it.
    fn next(&mut self, at_once: usize) -> Option<Waker> {
        while self.running < at_once {
            let key = self.waiting.pop_front()?;
            let waits = |task: &&mut Task| task.phase == Phase::Waiting;
            if let Some(task) = self.tasks.get_mut(key).filter(waits) {
                task.phase = Phase::Granted;
                self.running += 1;
                // It was polled before it began to wait.
                return task.waker.clone();
            }
        }
        None
    }
}

impl LaneSeat {
    /// Polls `work` when it is this task's turn, with a waker that lets it wait for its next turn.
    pub(super) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        work: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if !self.begin(context.waker()) {
            return Poll::Pending;
        }
        let polled = work(&mut Context::from_waker(&self.waker));
        self.end();
        polled
    }

    /// Whether the task may be polled now; otherwise it waits.
    fn begin(&self, waker: &Waker) -> bool {
        let TaskRef { lane, key } = &*self.task;
        let mut queue = lane.0.queue.locked();
        let Queue { tasks, running, waiting } = &mut *queue;
        let Some(task) = tasks.get_mut(*key) else {
            return true;
        };
        match &mut task.waker {
            Some(known) => known.clone_from(waker),
            known => *known = Some(waker.clone()),
        }
        match task.phase {
            Phase::Granted => {}
            Phase::Idle if *running < lane.0.at_once => *running += 1,
            Phase::Idle => {
                task.phase = Phase::Waiting;
                waiting.push_back(*key);
                return false;
            }
            Phase::Waiting => return false,
            // A task is never polled twice at once; if it were, it would be counted already.
            Phase::Polled | Phase::Woken => return true,
        }
        task.phase = Phase::Polled;
        true
    }

    fn end(&self) {
        let TaskRef { lane, key } = &*self.task;
        let mut queue = lane.0.queue.locked();
        let Queue { tasks, running, waiting } = &mut *queue;
        if let Some(task) = tasks.get_mut(*key) {
            if task.phase == Phase::Woken {
                if waiting.is_empty()
                    && let Some(waker) = &task.waker
                {
                    // No other task waits, so this task keeps its turn.
                    task.phase = Phase::Granted;
                    let waker = waker.clone();
                    drop(queue);
                    return waker.wake();
                }
                task.phase = Phase::Waiting;
                waiting.push_back(*key);
            } else {
                task.phase = Phase::Idle;
            }
        }
        *running -= 1;
        if !waiting.is_empty() {
            lane.grant(queue);
        }
    }
}

impl Wake for TaskRef {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut queue = self.lane.0.queue.locked();
        let Queue { tasks, waiting, .. } = &mut *queue;
        let Some(task) = tasks.get_mut(self.key) else {
            return;
        };
        match task.phase {
            Phase::Idle => {
                task.phase = Phase::Waiting;
                waiting.push_back(self.key);
                self.lane.grant(queue);
            }
            Phase::Polled => task.phase = Phase::Woken,
            Phase::Waiting | Phase::Granted | Phase::Woken => {}
        }
    }
}

impl Drop for LaneSeat {
    fn drop(&mut self) {
        let TaskRef { lane, key } = &*self.task;
        let mut queue = lane.0.queue.locked();
        let task = queue.tasks.try_remove(*key);
        if task.is_some_and(|task| !matches!(task.phase, Phase::Idle | Phase::Waiting)) {
            queue.running -= 1;
        }
        lane.grant(queue);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future as _, poll_fn};
    use std::pin::pin;

    use tokio::task::JoinSet;

    use super::*;

    /// Who was polled, in order.
    type Polls = Arc<Mutex<Vec<&'static str>>>;

    /// Is woken at once, and waits for its turn. (The runtime's own comes after it looked at its sockets.)
    async fn yield_now() {
        let mut was_polled = false;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut was_polled, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// A task of a lane that notes each of its polls and is woken again so often.
    async fn task(mut seat: LaneSeat, name: &'static str, polls: Polls, again: usize) {
        let mut work = pin!(async move {
            for _ in 0..again {
                polls.lock().unwrap().push(name);
                yield_now().await;
            }
        });
        poll_fn(|context| seat.poll(context, |context| work.as_mut().poll(context))).await;
    }

    async fn all(mut tasks: JoinSet<()>) {
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
    }

    #[tokio::test]
    async fn one_client_waits_for_one_poll_of_another() {
        let (greedy, quiet) = (Lane::new(1), Lane::new(1));
        let polls = Polls::default();
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            tasks.spawn(task(greedy.seat(), "greedy", Arc::clone(&polls), 50));
        }
        tasks.spawn(task(quiet.seat(), "quiet", Arc::clone(&polls), 20));
        all(tasks).await;
        let polls = polls.lock().unwrap();
        let at: Vec<usize> =
            (0..polls.len()).filter(|&at| polls.get(at) == Some(&"quiet")).collect();
        assert_eq!((polls.len(), at.len()), (5_020, 20));
        let gaps = at.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() <= Some(3), "{at:?}");
    }

    #[tokio::test]
    async fn what_is_dropped_leaves_its_turn_to_others() {
        let lane = Lane::new(2);
        let polls = Polls::default();
        let mut dropped = JoinSet::new();
        for _ in 0..50 {
            dropped.spawn(task(lane.seat(), "dropped", Arc::clone(&polls), usize::MAX));
        }
        for _ in 0..10 {
            yield_now().await;
        }
        let mut tasks = JoinSet::new();
        for _ in 0..50 {
            tasks.spawn(task(lane.seat(), "other", Arc::clone(&polls), 5));
        }
        dropped.shutdown().await;
        all(tasks).await;
        let polls = polls.lock().unwrap();
        let others = polls.iter().filter(|name| **name == "other");
        assert_eq!(others.count(), 250);
        let queue = lane.0.queue.locked();
        assert_eq!((queue.running, queue.tasks.len()), (0, 0));
    }
}
