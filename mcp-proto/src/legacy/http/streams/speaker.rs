//! The future that writes a standalone stream. The connection that reads the stream runs it, so that an event wakes one
//! task and not two. While there is no connection, a separate task runs it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

use crate::legacy::http::signal::Signal;

/// Given when the future of a speaker was woken. A body is polled once more after each event, and also while its client
/// does not read: the future is not run in vain.
struct Woken(Signal);

/// Writes to a stream until it is done.
pub(super) struct Speaker {
    /// `None` when it is done.
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    woken: Arc<Woken>,
    /// The waker that its future gets: that of `woken`.
    waker: Waker,
    /// The runtime that runs it without a connection, since a body may be dropped outside of one.
    runtime: Handle,
}

impl Speaker {
    pub(super) fn new(work: BoxFuture<'static, ()>) -> Self {
        // It is to be run for the first time.
        let woken = Arc::new(Woken(Signal::given()));
        Self {
            work: Mutex::new(Some(work)),
            waker: Arc::clone(&woken).into(),
            woken,
            runtime: Handle::current(),
        }
    }

    /// Runs it if `is_turn` returns true and it was woken; ready when it is done. `is_turn` is checked while no other
    /// task can run it, so the task whose turn it is is the one that is woken.
    pub(super) fn poll(&self, context: &Context<'_>, is_turn: impl FnOnce() -> bool) -> Poll<()> {
        // A future that panicked is dropped and not run again.
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_turn() {
            return Poll::Pending;
        }
        let Some(mut running) = work.take() else {
            return Poll::Ready(());
        };
        let is_woken = self.woken.0.poll_taken(context).is_ready();
        let mut context = Context::from_waker(&self.waker);
        if !is_woken || running.as_mut().poll(&mut context).is_pending() {
            *work = Some(running);
            return Poll::Pending;
        }
        drop(work);
        Poll::Ready(())
    }

    /// The runtime that runs it without a connection.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Ends it: it writes nothing more.
    pub(super) fn end(&self) {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(work);
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.give();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.give();
    }
}

impl fmt::Debug for Speaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Speaker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A task: what it polls with, and how often it was woken since this was asked.
    struct Task(Arc<Woken>, Waker);

    impl Task {
        fn new() -> Self {
            let woken = Arc::<Woken>::default();
            Self(Arc::clone(&woken), woken.into())
        }

        fn poll(&self, speaker: &Speaker, is_turn: bool) -> Poll<()> {
            speaker.poll(&Context::from_waker(&self.1), || is_turn)
        }

        fn was_woken(&self) -> usize {
            self.0.0.swap(0, Ordering::Relaxed)
        }
    }

    /// A speaker that never ends, how often it was run, and the waker that it got last. It wakes itself while it is run
    /// as often as it is asked to.
    #[derive(Default)]
    struct Seen {
        runs: AtomicUsize,
        wakes_itself: AtomicUsize,
        waker: Mutex<Option<Waker>>,
    }

    impl Seen {
        fn wake(&self) {
            self.waker.lock().unwrap().as_ref().unwrap().wake_by_ref();
        }

        fn runs(&self) -> usize {
            self.runs.load(Ordering::Relaxed)
        }
    }

    fn speaker() -> (Speaker, Arc<Seen>) {
        let seen = Arc::<Seen>::default();
        let work = Arc::clone(&seen);
        let work = poll_fn(move |context| {
            work.runs.fetch_add(1, Ordering::Relaxed);
            *work.waker.lock().unwrap() = Some(context.waker().clone());
            if work.wakes_itself.load(Ordering::Relaxed) > 0 {
                work.wakes_itself.fetch_sub(1, Ordering::Relaxed);
                context.waker().wake_by_ref();
            }
            Poll::Pending
        });
        (Speaker::new(Box::pin(work)), seen)
    }

    #[tokio::test]
    async fn it_is_run_when_it_was_woken_and_not_otherwise() {
        let ((speaker, seen), task) = (speaker(), Task::new());
        assert!(task.poll(&speaker, true).is_pending());
        assert!(task.poll(&speaker, true).is_pending());
        assert_eq!((seen.runs(), task.was_woken()), (1, 0));
        // However often it was woken.
        seen.wake();
        seen.wake();
        assert!(task.was_woken() > 0);
        assert!(task.poll(&speaker, true).is_pending());
        assert!(task.poll(&speaker, true).is_pending());
        assert_eq!((seen.runs(), task.was_woken()), (2, 0));
    }

    /// What wakes it while it is run is not lost.
    #[tokio::test]
    async fn what_comes_while_it_is_run_runs_it_again() {
        let ((speaker, seen), task) = (speaker(), Task::new());
        seen.wakes_itself.store(2, Ordering::Relaxed);
        for runs in 1..=2 {
            assert!(task.poll(&speaker, true).is_pending());
            assert_eq!((seen.runs(), task.was_woken()), (runs, 1));
        }
        assert!(task.poll(&speaker, true).is_pending());
        assert_eq!((seen.runs(), task.was_woken()), (3, 0));
    }

    #[tokio::test]
    async fn the_task_whose_turn_it_is_is_woken() {
        let (speaker, seen) = speaker();
        let (one, two) = (Task::new(), Task::new());
        assert!(one.poll(&speaker, true).is_pending());
        // One that has no turn changes nothing.
        assert!(two.poll(&speaker, false).is_pending());
        seen.wake();
        assert_eq!((one.was_woken(), two.was_woken()), (1, 0));
        // It was woken for the one, and the other one takes over.
        assert!(two.poll(&speaker, true).is_pending());
        assert!(one.poll(&speaker, false).is_pending());
        assert_eq!(seen.runs(), 2);
        seen.wake();
        assert_eq!((one.was_woken(), two.was_woken()), (0, 1));
        assert!(two.poll(&speaker, true).is_pending());
        assert_eq!(seen.runs(), 3);
    }

    /// One that takes over although nothing has happened is woken, too.
    #[tokio::test]
    async fn a_task_that_takes_over_need_not_run_it_to_be_woken() {
        let (speaker, seen) = speaker();
        let (one, two) = (Task::new(), Task::new());
        assert!(one.poll(&speaker, true).is_pending());
        assert!(two.poll(&speaker, true).is_pending());
        assert_eq!(seen.runs(), 1);
        seen.wake();
        assert_eq!((one.was_woken(), two.was_woken()), (0, 1));
    }

    #[tokio::test]
    async fn it_is_done_for_every_task_once_it_is_done() {
        let speaker = Speaker::new(Box::pin(async {}));
        for _ in 0..2 {
            let task = Task::new();
            assert!(task.poll(&speaker, false).is_pending());
            assert!(task.poll(&speaker, true).is_ready());
            assert!(task.poll(&speaker, true).is_ready());
        }
    }

    /// Another thread counts up and wakes. Every number is seen, or the test does not end.
    #[tokio::test]
    async fn nothing_that_another_thread_wakes_it_for_is_lost() {
        const LAST: usize = 20_000;
        let (number, seen) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let signal = Arc::<Signal>::default();
        let work = {
            let (number, seen, signal) =
                (Arc::clone(&number), Arc::clone(&seen), Arc::clone(&signal));
            poll_fn(move |context| {
                while signal.poll_taken(context).is_ready() {
                    seen.store(number.load(Ordering::Acquire), Ordering::Release);
                }
                match seen.load(Ordering::Acquire) {
                    LAST => Poll::Ready(()),
                    _ => Poll::Pending,
                }
            })
        };
        let speaker = Speaker::new(Box::pin(work));
        let other = std::thread::spawn(move || {
            for at in 1..=LAST {
                number.store(at, Ordering::Release);
                signal.give();
                while seen.load(Ordering::Acquire) < at {
                    std::hint::spin_loop();
                }
            }
        });
        let done = poll_fn(|context| speaker.poll(context, || true));
        let done = tokio::time::timeout(std::time::Duration::from_secs(60), done);
        done.await.expect("a signal was lost");
        other.join().unwrap();
    }
}
