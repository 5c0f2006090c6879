//! The tables, and their migration to the current format.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::connect::{Connector, drive};
use super::error::{PostgresError, causes};
use super::frame;
use crate::Finding;

/// The format of the tables that this program writes.
const FORMAT: i32 = 7;

/// Held while tables are made, so that of nodes that start together one does it.
const LOCK: i64 = 0x756e_6976_6572_7365;

/// How long that may take with another node, in seconds.
const LOCK_TIME: u64 = 120;

/// How long the comparison of all universes may take when a store is opened, in seconds.
const REPORT_TIME: u64 = 5;

/// From each format to the next one.
const STEPS: [&str; 7] = ["
    CREATE TABLE universe (
        uni int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE \"C\" NOT NULL UNIQUE,
        -- Bytes, because a name may contain a zero.
        name bytea NOT NULL,
        created_at int8 NOT NULL,
        rev int8 NOT NULL,
        command uuid,
        updated_at int8 NOT NULL,
        oldest int8 NOT NULL
    ) WITH (fillfactor = 50);
    CREATE INDEX universe_age ON universe (created_at, id);
    CREATE TABLE base (
        uni int8 PRIMARY KEY REFERENCES universe ON DELETE CASCADE,
        rev int8 NOT NULL,
        at int8 NOT NULL,
        body bytea NOT NULL
    );
    ALTER TABLE base ALTER body SET STORAGE EXTERNAL;
    CREATE TABLE snap (
        uni int8 PRIMARY KEY REFERENCES universe ON DELETE CASCADE,
        rev int8 NOT NULL,
        body bytea NOT NULL
    );
    ALTER TABLE snap ALTER body SET STORAGE EXTERNAL;
    -- Without a reference: who appends holds the universe's row.
    CREATE TABLE log (
        uni int8 NOT NULL,
        rev int8 NOT NULL,
        at int8 NOT NULL,
        command uuid NOT NULL,
        keyed bool NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (uni, rev)
    );
    CREATE INDEX log_keyed ON log (uni, command) WHERE keyed;
    -- Entries that nothing reads any more, up to a revision.
    CREATE TABLE doomed (uni int8 PRIMARY KEY, upto int8 NOT NULL);
", "
    -- Sessions of clients. The key is the hash of a name: who reads the table cannot take part in one.
    CREATE TABLE session (
        key bytea PRIMARY KEY,
        owner text COLLATE \"C\",
        body bytea NOT NULL,
        version int8 NOT NULL DEFAULT 0,
        used timestamptz NOT NULL
    );
    CREATE INDEX session_age ON session (used);
    CREATE INDEX session_owner ON session (owner, used);
", "
    -- Nodes, each until when it counts as alive.
    CREATE TABLE universe_node (
        id uuid PRIMARY KEY,
        alive_until timestamptz NOT NULL
    );
", "
    -- Messages of clients for calls that another node runs.
    CREATE TABLE session_letter (
        n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key bytea NOT NULL REFERENCES session ON DELETE CASCADE,
        owner text COLLATE \"C\" NOT NULL,
        body bytea NOT NULL,
        at timestamptz NOT NULL
    );
    CREATE INDEX session_letter_key ON session_letter (key, n);
    CREATE INDEX session_letter_owner ON session_letter (owner);
    CREATE INDEX session_letter_age ON session_letter (at);
    -- Event streams of calls, each with the node that writes it, and until when it notifies of what it writes.
    CREATE TABLE session_stream (
        id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key bytea NOT NULL REFERENCES session ON DELETE CASCADE,
        name text COLLATE \"C\" NOT NULL,
        node uuid NOT NULL,
        about bytea NOT NULL,
        ended bool NOT NULL,
        touched timestamptz NOT NULL,
        watched timestamptz NOT NULL DEFAULT '-infinity',
        UNIQUE (key, name)
    );
    CREATE INDEX session_stream_age ON session_stream (touched);
    CREATE TABLE session_event (
        stream int8 NOT NULL REFERENCES session_stream ON DELETE CASCADE,
        n int8 NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (stream, n)
    );
", "
    -- Tasks of clients. The key is the hash of a name, which is kept where there is an owner besides.
    CREATE TABLE task (
        key bytea PRIMARY KEY,
        number int8 GENERATED ALWAYS AS IDENTITY,
        name text COLLATE \"C\",
        owner bytea,
        client bytea,
        node uuid NOT NULL,
        version int8 NOT NULL DEFAULT 0,
        expires timestamptz NOT NULL,
        -- Of what is in it and its result.
        bytes int8 NOT NULL,
        body bytea NOT NULL,
        result bytea
    );
    CREATE INDEX task_end ON task (expires);
    CREATE INDEX task_owner ON task (owner, number);
    CREATE INDEX task_client ON task (client);
", "
    -- Records of clients: sessions, letters to them, tasks. The key is the hash of a name, which is kept where there is
    -- an owner besides: who reads the table cannot take part in a session or task.
    CREATE TABLE client_record (
        key bytea PRIMARY KEY,
        number int8 GENERATED ALWAYS AS IDENTITY,
        kind text COLLATE \"C\" NOT NULL,
        -- The session that it belongs to.
        above bytea REFERENCES client_record ON DELETE CASCADE,
        share text COLLATE \"C\",
        owner text COLLATE \"C\",
        name text COLLATE \"C\",
        node uuid NOT NULL,
        version int8 NOT NULL DEFAULT 0,
        ends timestamptz NOT NULL,
        -- Of what is in it and its result.
        bytes int8 NOT NULL,
        body bytea NOT NULL,
        result bytea
    );
    LOCK TABLE session, session_letter, session_stream, task IN ACCESS EXCLUSIVE MODE;
    INSERT INTO client_record (key, number, kind, share, owner, name, node, version, ends, bytes, body, result)
        OVERRIDING SYSTEM VALUE
        SELECT key, number, 'task', encode(client, 'hex'), encode(owner, 'hex'), name, node, version, expires, bytes,
            body, result FROM task;
    SELECT setval(pg_get_serial_sequence('client_record', 'number'), coalesce(max(number), 0) + 1) FROM client_record;
    INSERT INTO client_record (key, kind, share, node, version, ends, bytes, body)
        SELECT key, 'session', owner, '00000000-0000-0000-0000-000000000000', version, used + interval '30 minutes',
            octet_length(body), body FROM session;
    INSERT INTO client_record (key, kind, above, share, node, ends, bytes, body)
        SELECT uuid_send(gen_random_uuid()), 'letter', key, owner, '00000000-0000-0000-0000-000000000000',
            at + interval '1 minute', octet_length(body), body FROM session_letter ORDER BY n;
    ALTER TABLE session_stream DROP CONSTRAINT session_stream_key_fkey;
    ALTER TABLE session_stream ADD FOREIGN KEY (key) REFERENCES client_record ON DELETE CASCADE;
    ALTER TABLE session_stream RENAME touched TO ends;
    UPDATE session_stream SET ends = ends + interval '5 minutes';
    DROP TABLE session_letter, session, task;
    CREATE INDEX client_record_end ON client_record (ends);
    CREATE INDEX client_record_share ON client_record (share, kind, ends) INCLUDE (bytes) WHERE share IS NOT NULL;
    CREATE INDEX client_record_owner ON client_record (owner, number) WHERE owner IS NOT NULL;
    CREATE INDEX client_record_above ON client_record (above, number) WHERE above IS NOT NULL;
", "
    -- Over the id of the universe, the revision, the time, the command and the body. None in older rows.
    ALTER TABLE log ADD sum int8;
    ALTER TABLE base ADD sum int8;
    ALTER TABLE snap ADD sum int8;
"];

/// Makes the tables, unless they are there.
pub(super) async fn prepare(connector: &Connector) -> Result<(), PostgresError> {
    let connected = connector.connect().await;
    let (client, driver) = connected.map_err(PostgresError::Unreachable)?;
    tokio::select! {
        made = make(&client) => made,
        () = drive(driver, |_| ()) => {
            Err(PostgresError::Unreachable("the connection was lost".to_owned()))
        }
    }
}

async fn make(client: &Client) -> Result<(), PostgresError> {
    let failed = |problem: tokio_postgres::Error| PostgresError::Tables(causes(&problem));
    let wait = format!("SET lock_timeout = '{LOCK_TIME}s'");
    client.batch_execute(&wait).await.map_err(failed)?;
    // Taken before anything is looked at; given back with the connection, whatever happens.
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(failed)?;
    let durable = "SELECT current_setting('synchronous_commit') <> 'off'";
    let durable = client.query_one(durable, &[]).await.map_err(failed)?;
    if !durable.get::<_, bool>(0) {
        tracing::warn!(
            "synchronous_commit is off in this database: what was acknowledged may be lost with its server"
        );
    }
    let is_there = "SELECT to_regclass('universe_format') IS NOT NULL";
    let is_there: bool = client.query_one(is_there, &[]).await.map_err(failed)?.get(0);
    let found: i32 = if is_there {
        let format = "SELECT format FROM universe_format";
        client.query_one(format, &[]).await.map_err(failed)?.get(0)
    } else {
        0
    };
    if found > FORMAT {
        let known = FORMAT;
        return Err(PostgresError::Newer { found, known });
    }
    let missing = usize::try_from(found).unwrap_or(0);
    let mut sql =
        String::from("BEGIN; CREATE TABLE IF NOT EXISTS universe_format (format int4 NOT NULL);");
    for step in STEPS.iter().skip(missing) {
        sql.push_str(step);
    }
    sql.push_str(&format!(
        "DELETE FROM universe_format; INSERT INTO universe_format VALUES ({FORMAT}); COMMIT;"
    ));
    if found != FORMAT {
        client.batch_execute(&sql).await.map_err(failed)?;
    }
    // What follows only reads, so other nodes need not wait for it.
    client.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).await.map_err(failed)?;
    report(client).await.map_err(failed)
}

/// Compares what the tables say of all universes, and logs what does not fit. Every read compares its own universe too,
/// so a start does not wait long for this.
async fn report(client: &Client) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(&format!("SET statement_timeout = '{REPORT_TIME}s'")).await?;
    let findings = match frame::findings(client).await {
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
            tracing::info!(
                "there are too many universes to compare all of them now: `universe-server check` does"
            );
            return Ok(());
        }
        findings => findings?,
    };
    Finding::log(&findings);
    Ok(())
}
