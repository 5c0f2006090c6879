//! The tasks that a `subscriptions/listen` names: its current state, and every change after that.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::entry::{Entry, Stage, State};
use super::store::Tasks;
use super::view::TaskView;
use crate::jsonrpc::{ErrorObject, Notification};

/// Waits for changes of tasks. If changes come faster than they are reported, only the last one is reported.
#[derive(Default)]
pub(crate) struct Watched(FuturesUnordered<BoxFuture<'static, Changed>>);

type Changed = (Watch, Option<Arc<Entry>>);

/// The pause of a listener after the store was unavailable.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// A task, the state last seen, and the future that keeps it up to date if it runs in another server.
struct Watch {
    entry: Arc<Entry>,
    seen: watch::Receiver<State>,
    elsewhere: Option<Elsewhere>,
}

/// The additional data for a task of another server.
struct Elsewhere {
    tasks: Arc<Tasks>,
    following: BoxFuture<'static, ()>,
    /// Held while a result is read: one listener reads one at a time.
    turn: Arc<Mutex<()>>,
}

impl Watched {
    /// A listener first receives the current state of each task, so that no change is missed between creating a task
    /// and listening.
    pub(crate) fn new(tasks: Option<&Arc<Tasks>>, entries: Vec<Arc<Entry>>) -> Self {
        let turn = Arc::default();
        let watched = entries.into_iter().map(|entry| {
            let mut seen = entry.subscribe();
            seen.mark_changed();
            let elsewhere = tasks.and_then(|tasks| {
                Some(Elsewhere {
                    tasks: Arc::clone(tasks),
                    following: tasks.follow(&entry)?,
                    turn: Arc::clone(&turn),
                })
            });
            changed(Watch { entry, seen, elsewhere })
        });
        Self(watched.collect())
    }

    /// The next `notifications/tasks`; never resolves once all have ended. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Notification {
        loop {
            let Some((mut watch, copy)) = self.0.next().await else {
                return std::future::pending().await;
            };
            let (notification, over) = match &copy {
                Some(copy) => {
                    watch.seen.mark_unchanged();
                    report(copy, &copy.state())
                }
                None => report(&watch.entry, &watch.seen.borrow_and_update()),
            };
            if !over {
                self.0.push(changed(watch));
            }
            if let Some(notification) = notification {
                return notification;
            }
        }
    }
}

/// Waits for a change. If a task has completed in another server, the change has a copy with its result.
fn changed(mut watch: Watch) -> BoxFuture<'static, Changed> {
    Box::pin(async move {
        let Some(Elsewhere { tasks, following, turn }) = &mut watch.elsewhere else {
            // The sender is in the entry.
            let _ = watch.seen.changed().await;
            return (watch, None);
        };
        tokio::select! {
            biased;
            _entry_is_held = watch.seen.changed() => {}
            // The task has ended, which counts as a change.
            () = following => {}
        }
        let turn = turn.lock().await;
        let copy = loop {
            match tasks.with_result(&watch.entry).await {
                Ok(copy) => break copy,
                Err(error) if error.code == ErrorObject::INVALID_PARAMS => watch.entry.expire(),
                // The store is unavailable, and is asked again later.
                Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
            }
        };
        drop(turn);
        (watch, Some(copy))
    })
}

/// The notification about a task, if any, and whether it is the last.
fn report(entry: &Entry, state: &State) -> (Option<Notification>, bool) {
    if matches!(state.stage, Stage::Expired) {
        return (None, true);
    }
    let view = TaskView { entry, state, detailed: true };
    let params = match serde_json::to_value(&view) {
        Ok(Value::Object(params)) => Some(params),
        _ => None,
    };
    let notification =
        params.map(|params| Notification { method: "notifications/tasks".to_owned(), params });
    (notification, state.stage.is_over())
}
