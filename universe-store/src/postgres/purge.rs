//! Deletes entries that can no longer be read: those of deleted universes, and trimmed ones. It deletes a few at a
//! time, so that writers are not delayed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::Client;

use super::connect::Link;

/// How many entries go with one statement.
const STEP: i64 = 5_000;

/// How long between two looks, for what another node left undone.
const PAUSE: Duration = Duration::from_secs(60);

const SOME: &str = "
    WITH target AS (SELECT uni, upto FROM doomed ORDER BY uni LIMIT 1 FOR UPDATE SKIP LOCKED),
    old AS (SELECT log.uni, log.rev FROM log JOIN target USING (uni) WHERE log.rev <= target.upto LIMIT $1),
    gone AS (DELETE FROM log USING old WHERE log.uni = old.uni AND log.rev = old.rev RETURNING 1),
    counted AS (SELECT count(*) AS n FROM gone),
    done AS (DELETE FROM doomed USING target, counted
             WHERE doomed.uni = target.uni AND doomed.upto = target.upto AND counted.n < $1)
    SELECT count(*) FROM target";

pub(super) async fn run(link: Arc<Link>, wanted: Arc<Notify>) {
    loop {
        if let Some(client) = link.client().await {
            // What fails now is tried again after the pause.
            let _ = link.within(0, purge(&client)).await;
        }
        let _ = tokio::time::timeout(PAUSE, wanted.notified()).await;
    }
}

async fn purge(client: &Client) -> Result<(), tokio_postgres::Error> {
    loop {
        let row = client.query_one(SOME, &[&STEP]).await?;
        let targets: i64 = row.try_get(0)?;
        if targets == 0 {
            return Ok(());
        }
    }
}
