//! Older formats, brought to the present one when a directory is opened.

use rusqlite::Connection;

use super::frame;
use super::schema::{FORMAT, IDENTITY, rewrite, sizes};

/// From format 1, whose logs were whole, to 2.
const FROM_1: &str = "
ALTER TABLE head ADD COLUMN oldest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE genesis ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE genesis ADD COLUMN at INTEGER;
ALTER TABLE genesis ADD COLUMN sum INTEGER;
ALTER TABLE log ADD COLUMN sum INTEGER;
ALTER TABLE snap ADD COLUMN sum INTEGER;
ALTER TABLE doomed RENAME TO doomed_1;
CREATE TABLE doomed (seq INTEGER PRIMARY KEY, uni INTEGER NOT NULL) STRICT;
INSERT INTO doomed (seq, uni) SELECT seq, uni FROM doomed_1;
DROP TABLE doomed_1;
";

/// From format 2, which compared no row with another. The sums follow.
const FROM_2: &str = "ALTER TABLE head ADD COLUMN sum INTEGER;";

/// Up to this many bytes a file of format 1 is rewritten when it is opened, so that it can shrink; a larger one by
/// `compact`.
const REWRITTEN: u64 = 64 << 20;

/// Brings an older format to the present one, all or nothing. Takes no longer for a long log: its entries keep their
/// sums.
pub(super) fn upgrade(connection: &Connection, from: i32) -> rusqlite::Result<()> {
    if from >= FORMAT {
        return Ok(());
    }
    tracing::info!(from, to = FORMAT, "the data directory is brought to a newer format");
    let from_1 = if from == 1 { FROM_1 } else { "" };
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; BEGIN IMMEDIATE; {from_1} {FROM_2} {IDENTITY}"
    ))?;
    frame::seal(connection)?;
    connection.execute_batch(&format!("PRAGMA user_version = {FORMAT}; COMMIT;"))?;
    if from == 1 {
        if sizes(connection)?.file <= REWRITTEN {
            rewrite(connection)?;
        } else {
            tracing::warn!(
                "the file keeps the room of what is deleted until `universe-server compact` was run while no server is"
            );
        }
    }
    // Older programs look for the format in the file itself, and not in its write-ahead log.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
