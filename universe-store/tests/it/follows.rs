//! The adapters of this crate follow the model of histories.

use universe_store::MemoryStore;

use crate::machine::judge;
use crate::{OnDisk, Subject};

fn boxed(subject: impl Subject + 'static) -> Box<dyn Subject> {
    Box::new(subject)
}

#[test]
fn memory_follows_the_model() {
    judge(256, async || boxed(MemoryStore::default()));
}

#[test]
fn sqlite_follows_the_model() {
    judge(48, async || boxed(OnDisk::new()));
}

#[cfg(feature = "postgres")]
#[test]
fn two_nodes_on_postgres_follow_the_model() {
    use crate::nodes::Nodes;

    let Some(cluster) = crate::cluster::shared() else {
        return;
    };
    judge(16, async || boxed(Nodes::on(&cluster.database()).await));
}
