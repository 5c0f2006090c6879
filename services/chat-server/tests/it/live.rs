//! Sources that go on: a signal-cli daemon and a Bot API that come and go, and exports that grow.

mod bot;
mod config;
mod export;
mod reactions;
mod signal;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chat_server::index::{
    Followed, Follower, Index, MAX_LIMIT, MessageQuery, Options, StoredMessage,
};
use chat_server::source::{ChatSource, Connection};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longer than any machine needs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An index with one running source.
pub(crate) struct Live {
    pub(crate) index: Index,
    pub(crate) source: Arc<dyn ChatSource>,
    pub(crate) stop: CancellationToken,
    running: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Live {
    pub(crate) fn start(source: Arc<dyn ChatSource>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path(), Options::default()).unwrap();
        Self::start_in(source, index, dir)
    }

    pub(crate) fn start_in(
        source: Arc<dyn ChatSource>,
        index: Index,
        dir: tempfile::TempDir,
    ) -> Self {
        let stop = CancellationToken::new();
        let run = Arc::clone(&source).run(index.sink(source.id()), stop.clone());
        let running = tokio::spawn(async move {
            // What keeps it from going on is asked of its connection.
            let _ended = run.await;
        });
        Self { index, source, stop, running, _dir: dir }
    }

    /// Ends the source, as at the end of the program, and gives what is kept.
    pub(crate) async fn end(self) -> (Index, tempfile::TempDir) {
        self.stop.cancel();
        tokio::time::timeout(LONG, self.running).await.unwrap().unwrap();
        (self.index, self._dir)
    }

    /// All that is kept, newest first.
    pub(crate) async fn stored(&self) -> Vec<StoredMessage> {
        let query = MessageQuery { limit: MAX_LIMIT, ..MessageQuery::default() };
        self.index.messages(&query).await.unwrap().messages
    }

    pub(crate) async fn connected(&self) {
        self.until(|connection| *connection == Connection::Connected).await;
    }

    pub(crate) async fn until(&self, is: impl Fn(&Connection) -> bool) {
        let waiting = async {
            while !is(&self.source.head().connection()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LONG, waiting)
            .await
            .unwrap_or_else(|_| panic!("{:?}", self.source.head().connection()));
    }
}

/// Receives so many messages, and counts how often each id came; then that there is no further one to be received at
/// once.
pub(crate) async fn collect(follower: &mut Follower, count: usize) -> BTreeMap<String, u32> {
    let mut received = BTreeMap::new();
    for _ in 0..count {
        let followed = tokio::time::timeout(LONG, follower.next()).await;
        match followed.unwrap_or_else(|_| panic!("only {} of {count}", received.len())) {
            Some(Followed::Message(stored)) => *received.entry(stored.message.id).or_default() += 1,
            other => panic!("{other:?}"),
        }
    }
    received
}
