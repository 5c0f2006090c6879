//! The streams: making them, and whether those that are there are what they should be.
use std::collections::HashMap;
use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, RetentionPolicy, StorageType};
use tokio::time::Instant;
use universe_store::KEY_TIME;

use super::error::NatsError;
use super::link::{Link, causes};
use super::names::Names;

/// The format of subjects, headers and bodies that this program writes.
const FORMAT: u32 = 1;

/// The metadata key for the format of a stream.
const FORMAT_KEY: &str = "universe-format";

/// How long a message that is sent twice is recognized as a duplicate.
const DUPLICATES: Duration = Duration::from_secs(30);

/// The additional time that a key is kept beyond the time that it counts, because it is written before its entry.
const KEY_GRACE: Duration = Duration::from_secs(60 * 60);

/// The smallest message limit that a server may have, in bytes.
pub(super) const LEAST_PAYLOAD: usize = 64 << 10;

/// The longest time for creating the streams, including elections.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a stream keeps its messages.
#[derive(Default)]
struct Keeps {
    /// The maximum age of its messages; `ZERO` for unlimited.
    max_age: Duration,
    /// Whether only the last message of each subject is kept.
    is_once: bool,
    /// Whether a message may have its own time to live.
    has_ttl: bool,
}

impl Keeps {
    fn of(names: &Names, stream: &str) -> Self {
        let is_keys = stream == names.keys();
        let is_records = stream == names.records();
        Self {
            max_age: if is_keys { KEY_TIME + KEY_GRACE } else { Duration::ZERO },
            is_once: is_keys || is_records || stream == names.events(),
            has_ttl: is_records || stream == names.bodies(),
        }
    }
}

/// Creates missing streams, and returns the number of replicas of the stream that has the fewest.
pub(super) async fn prepare(
    link: &Link,
    names: &Names,
    wanted: Option<usize>,
) -> Result<usize, NatsError> {
    let info = link.client().server_info();
    if !link.client().is_server_compatible(2, 12, 0) {
        return Err(NatsError::TooOld(info.version));
    }
    if info.max_payload < LEAST_PAYLOAD {
        let (found, least) = (info.max_payload, LEAST_PAYLOAD);
        return Err(NatsError::Payload { found, least });
    }
    let wanted = wanted.unwrap_or(match info.cluster {
        Some(_) => 3,
        None => 1,
    });
    let mut fewest = usize::MAX;
    for (name, subjects) in names.subjects() {
        let keeps = Keeps::of(names, &name);
        fewest = fewest.min(one(link, name, subjects, keeps, wanted).await?);
    }
    Ok(fewest)
}

/// Creates a stream if it is missing, and returns the number of its replicas.
async fn one(
    link: &Link,
    name: String,
    subjects: Vec<String>,
    keeps: Keeps,
    wanted: usize,
) -> Result<usize, NatsError> {
    let wish = Config {
        name: name.clone(),
        subjects,
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: wanted,
        max_age: keeps.max_age,
        max_messages_per_subject: if keeps.is_once { 1 } else { -1 },
        allow_message_ttl: keeps.has_ttl,
        duplicate_window: DUPLICATES,
        allow_direct: true,
        description: Some(
            "Universes. Made by universe-server, which alone may write into it.".to_owned(),
        ),
        metadata: HashMap::from([(FORMAT_KEY.to_owned(), FORMAT.to_string())]),
        ..Config::default()
    };
    let made = make(link, &wish).await?;
    check(&name, &wish, &made)?;
    if wish.allow_message_ttl && !made.config.allow_message_ttl {
        // It was created by a version without times to live.
        let mut config = made.config.clone();
        config.allow_message_ttl = true;
        if let Err(problem) = link.context().update_stream(config).await {
            let (stream, problem) = (name, causes(&problem));
            return Err(NatsError::Streams { stream, problem });
        }
    }
    let found = made.config.num_replicas;
    if found < wanted {
        Err(NatsError::Replicas { stream: name, found, wanted })
    } else {
        Ok(found)
    }
}

/// Returns the existing stream, or creates it.
async fn make(link: &Link, wish: &Config) -> Result<Info, NatsError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let problem = match link.context().create_stream(wish.clone()).await {
            Ok(stream) => return Ok(stream.cached_info().clone()),
            Err(problem) => problem,
        };
        // An existing stream may differ from the wanted configuration. The relevant settings are checked afterward.
        if let Ok(stream) = link.context().get_stream(&wish.name).await {
            return Ok(stream.cached_info().clone());
        }
        let problem = causes(&problem);
        // Elections take time when the servers have just started. Permanent errors are then reported late too, except
        // for these.
        let is_wrong = problem.contains("overlap") || problem.contains("non-clustered");
        if is_wrong || Instant::now() >= until {
            let stream = wish.name.clone();
            return Err(NatsError::Streams { stream, problem });
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Checks that a stream has the expected configuration, and no limits that lose messages.
fn check(name: &str, wish: &Config, found: &Info) -> Result<(), NatsError> {
    let found = &found.config;
    let other =
        |problem: &str| NatsError::Other { stream: name.to_owned(), problem: problem.to_owned() };
    let Some(format) = found.metadata.get(FORMAT_KEY) else {
        return Err(other(
            "it was not made by this program; use another prefix, the path of the URL",
        ));
    };
    if *format != FORMAT.to_string() {
        return Err(NatsError::Newer {
            stream: name.to_owned(),
            found: format.clone(),
            known: FORMAT,
        });
    }
    let limits = [
        (found.subjects == wish.subjects, "it has other subjects than it was made with"),
        (found.retention == wish.retention, "its retention must be by limits"),
        (
            found.discard == wish.discard,
            "it must refuse what is too much (discard: new), not drop what is old",
        ),
        (found.storage == wish.storage, "it must be on disks (storage: file)"),
        (found.max_age == wish.max_age, "the age of its messages has another limit (max_age)"),
        (found.max_messages <= 0, "the number of its messages must have no limit (max_msgs)"),
        (
            found.max_messages_per_subject.max(0) == wish.max_messages_per_subject.max(0),
            "the number of its messages of a subject has another limit (max_msgs_per_subject)",
        ),
        (
            found.max_message_size <= 0
                || usize::try_from(found.max_message_size).is_ok_and(|size| size >= LEAST_PAYLOAD),
            "it takes messages that are too small (max_msg_size)",
        ),
        (
            !found.deny_delete && !found.deny_purge && !found.sealed,
            "it lets nothing be deleted (deny_delete, deny_purge, sealed)",
        ),
        (found.allow_direct, "it must be read from every copy (allow_direct)"),
        (!found.no_ack, "it must acknowledge what it stores (no_ack)"),
        (
            found.mirror.is_none() && found.sources.as_ref().is_none_or(Vec::is_empty),
            "it must have no messages of other streams (mirror, sources)",
        ),
        (
            found.subject_transform.is_none(),
            "it must leave subjects as they are (subject_transform)",
        ),
    ];
    match limits.iter().find(|(fits, _)| !fits) {
        Some((_, problem)) => Err(other(problem)),
        None => Ok(()),
    }
}
