//! Passes notifications of all nodes to the tails of this node.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

use super::connect::Connector;
use super::reader::Reader;
use crate::Revision;
use crate::adapter::live::Live;

/// The channel of all nodes.
pub(super) const CHANNEL: &str = "universe_log";

/// The interval at which the heads of followed universes are read, even without notifications.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn start(
    connector: Arc<Connector>,
    patience: Duration,
    readers: Arc<Reader>,
    live: Arc<Live>,
) -> JoinHandle<()> {
    let receive = {
        let live = Arc::clone(&live);
        move |message| {
            if let AsyncMessage::Notification(notification) = message
                && notification.channel() == CHANNEL
            {
                take(&live, notification.payload());
            }
        }
    };
    tokio::spawn(async move {
        let serve = |client: tokio_postgres::Client| {
            let (readers, live) = (Arc::clone(&readers), Arc::clone(&live));
            async move {
                let sql = format!("LISTEN {CHANNEL}");
                let listening = tokio::time::timeout(patience, client.batch_execute(&sql));
                if !matches!(listening.await, Ok(Ok(()))) {
                    return;
                }
                loop {
                    look(&readers, &live).await;
                    tokio::time::sleep(LOOK).await;
                    if client.is_closed() {
                        return;
                    }
                }
            }
        };
        connector.keep(receive, serve).await;
    })
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
