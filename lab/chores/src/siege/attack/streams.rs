//! Event streams: for changes that do not come, and for changes that are not read.

use std::sync::Arc;
use std::thread;

use super::super::attacker::Field;
use super::super::crowd::{self, Plan, Reads};
use super::super::swarm;
use super::super::target::{self, Kind, Message};
use xtask::Result;

/// A resource to subscribe to, and the request that changes it.
pub(super) struct Watched {
    pub(super) uri: String,
    change: Message,
}

impl Watched {
    /// The attacker's own universe, or the fixture's resource for this purpose.
    pub(super) fn new(field: &Field) -> Result<Self> {
        let universe = field.target.universe(1)?;
        let (uri, change) = match field.target.kind {
            Kind::Universe => (
                format!("universe://{universe}/summary"),
                target::modern_call(
                    "send_universe_command",
                    &format!(r#"{{"universeId":"{universe}","command":{{"type":"tick","dt":1}}}}"#),
                ),
            ),
            Kind::Everything => (
                "test://watched-resource".to_owned(),
                target::modern_call("test_trigger_resource_change", "{}"),
            ),
        };
        Ok(Self { uri, change })
    }
}

/// Changes the watched resource without pause while `attack` runs.
pub(super) fn change_while(field: &Field, watched: &Watched, attack: impl FnOnce()) {
    thread::scope(|scope| {
        scope.spawn(|| {
            field.on_threads(1, |client| {
                field.ask(client, &watched.change);
            });
        });
        attack();
    });
}

/// What all servers under siege announce. A listen to which nothing can follow ends at once.
const FILTER: &str = r#"{"resourcesListChanged":true}"#;

/// `subscriptions/listen` requests for changes that do not come.
pub(super) fn listens(field: &Field) -> Result<()> {
    swarm::run(
        field,
        &swarm::Plan {
            connections: 60,
            streams: 200,
            closed: false,
            request: &|number| target::listen(&number.to_string(), FILTER),
            reset: false,
        },
    );
    Ok(())
}

/// Streams of changes, and calls that report progress. No byte of either is read.
pub(super) fn unread(field: &Field) -> Result<()> {
    let watched = Watched::new(field)?;
    let filter = format!(r#"{{"resourceSubscriptions":["{}"]}}"#, watched.uri);
    let listen: Arc<[u8]> = Arc::from(field.target.http1(&target::listen("1", &filter)));
    let mut talking = target::modern_call("test_tool_with_progress", "{}");
    talking.body = talking.body.replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#).into();
    let talking: Arc<[u8]> = Arc::from(field.target.http1(&talking).repeat(20));
    let talks = field.target.kind == Kind::Everything;
    change_while(field, &watched, || {
        crowd::run(
            field,
            &mut Plan {
                connections: 2_000,
                payload: &mut |number| {
                    let talks = talks && number % 4 == 0;
                    Ok(Arc::clone(if talks { &talking } else { &listen }))
                },
                drip: b"",
                repeat: false,
                reads: Reads::Nothing,
            },
        );
    });
    Ok(())
}
