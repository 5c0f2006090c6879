//! Passes notifications of all nodes to the tails of this node.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::PostgresOptions;
use super::connect::{Connector, Link, NotificationHandler};
use super::reader::Reader;
use crate::Revision;
use crate::adapter::live::Live;

/// The channel of all nodes.
pub(super) const CHANNEL: &str = "universe_log";

/// The interval at which the heads of followed universes are read, even without notifications.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn start(
    connector: &Arc<Connector>,
    options: &PostgresOptions,
    readers: Arc<Reader>,
    live: Arc<Live>,
    tasks: &mut JoinSet<()>,
) {
    let (receiving, due) = (Arc::clone(&live), Arc::new(Notify::new()));
    let joined = Arc::clone(&due);
    let handler = NotificationHandler {
        channel: CHANNEL,
        received: Box::new(move |payload| take(&receiving, payload)),
        joined: Box::new(move || joined.notify_one()),
    };
    let link = Link::start(connector, options, Some(handler), tasks);
    tasks.spawn(async move {
        let _listening = link;
        loop {
            let _ = tokio::time::timeout(LOOK, due.notified()).await;
            look(&readers, &live).await;
        }
    });
}

/// `uni:rev` for what was appended, `-uni` for what was deleted, with blanks between them.
fn take(live: &Live, payload: &str) {
    let mut channels = live.channels();
    for hint in payload.split(' ') {
        match (hint.strip_prefix('-'), hint.split_once(':')) {
            (Some(uni), _) => {
                if let Ok(uni) = uni.parse() {
                    channels.deleted(uni);
                }
            }
            (None, Some((uni, rev))) => {
                if let (Ok(uni), Ok(rev)) = (uni.parse(), rev.parse()) {
                    channels.reached(uni, Revision(rev));
                }
            }
            // Another program's, or that of a newer one: the next look finds what it means.
            (None, None) => {}
        }
    }
}

/// Finds changes that were not notified.
async fn look(readers: &Reader, live: &Live) {
    let followed = live.channels().followed();
    if followed.is_empty() {
        return;
    }
    let Ok(heads) = readers.heads(&followed).await else {
        return;
    };
    let mut channels = live.channels();
    for uni in followed {
        match heads.get(&uni) {
            Some(rev) => channels.reached(uni, *rev),
            None => channels.deleted(uni),
        }
    }
}
