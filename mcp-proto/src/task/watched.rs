//! The tasks that a `subscriptions/listen` names: what each is now, and every change after that.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::future::OptionFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::sync::watch;

use super::entry::{Entry, Stage, State};
use super::store::Tasks;
use super::view::TaskView;
use crate::jsonrpc::Notification;

/// Waits for changes of tasks. Changes that come faster than they are told are told as the last one.
#[derive(Default)]
pub(crate) struct Watched(FuturesUnordered<BoxFuture<'static, Watch>>);

/// A task, what was seen of it, and what keeps it up to date if it runs in another server.
struct Watch {
    entry: Arc<Entry>,
    seen: watch::Receiver<State>,
    following: Option<BoxFuture<'static, ()>>,
}

impl Watched {
    /// A listener begins by hearing what each is, so that nothing is missed between creating and listening.
    pub(crate) fn new(tasks: Option<&Tasks>, entries: Vec<Arc<Entry>>) -> Self {
        let watched = entries.into_iter().map(|entry| {
            let mut seen = entry.subscribe();
            seen.mark_changed();
            let following = tasks.and_then(|tasks| tasks.follow(&entry));
            changed(Watch {
                entry,
                seen,
                following,
            })
        });
        Self(watched.collect())
    }

    /// The next `notifications/tasks`; never, once each has ended. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Notification {
        loop {
            let Some(mut watch) = self.0.next().await else {
                return std::future::pending().await;
            };
            let (told, over) = tell(&watch.entry, &watch.seen.borrow_and_update());
            if !over {
                self.0.push(changed(watch));
            }
            if let Some(told) = told {
                return told;
            }
        }
    }
}

fn changed(mut watch: Watch) -> BoxFuture<'static, Watch> {
    Box::pin(async move {
        let following = OptionFuture::from(watch.following.as_mut());
        tokio::select! {
            biased;
            // The sender is in the entry.
            _entry_is_held = watch.seen.changed() => {}
            // Over, which is seen as a change.
            Some(()) = following => {}
        }
        watch
    })
}

/// What is told of a task, and whether that is the last.
fn tell(entry: &Entry, state: &State) -> (Option<Notification>, bool) {
    if matches!(state.stage, Stage::Expired) {
        return (None, true);
    }
    let view = TaskView {
        entry,
        state,
        detailed: true,
    };
    let params = match serde_json::to_value(&view) {
        Ok(Value::Object(params)) => Some(params),
        _ => None,
    };
    let told = params.map(|params| Notification {
        method: "notifications/tasks".to_owned(),
        params,
    });
    (told, state.stage.is_over())
}
