//! The state that the victim holds during the attack: a session, its stream, a running call in it, and a modern
//! `subscriptions/listen` stream.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::super::target::{self, CALL_DEADLINE, Kind};
use super::super::wire;
use super::Own;
use xtask::Result;

/// The maximum time that a stream is held: longer than any attack.
const STAY: Duration = Duration::from_secs(3_600);

/// How long a change may take to arrive, and how long an answer may take after the call's own time.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Held {
    session: String,
    stream: BackgroundStream,
    listen: BackgroundStream,
    /// The outcome of the running call, once it has ended.
    call: Option<Receiver<Option<String>>>,
    own: Own,
}

/// A stream that is read in the background.
#[derive(Debug, Clone)]
struct BackgroundStream {
    updates: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
}

impl Held {
    /// Opens everything except the running call.
    pub(super) fn take(own: &Own) -> Result<Self> {
        let target = own.target;
        let mut client = target.client();
        let session = target.initialize(&mut client, "2025-11-25")?;
        let uri = own.watched();
        let subscribe = format!(r#"{{"uri":"{uri}"}}"#);
        let subscribe = target::legacy(&session, "resources/subscribe", &subscribe);
        target.ask(&mut client, &subscribe)?;
        let filter = format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#);
        let stream = BackgroundStream::open(own, &target::get_stream(&session))?;
        let listen = BackgroundStream::open(own, &target::listen(r#""held""#, &filter))?;
        Ok(Self { session, stream, listen, call: None, own: own.clone() })
    }

    /// Starts the call that runs for `time`, if the server has such a tool.
    pub(super) fn start<'s>(&mut self, scope: &'s Scope<'s, '_>, time: Duration) {
        if self.own.target.kind == Kind::Universe {
            return;
        }
        let arguments = format!(r#"{{"seconds":{}}}"#, time.as_secs_f64());
        let message = target::legacy_call(&self.session, "slow_compute", &arguments);
        let target = self.own.target;
        let (sender, ended) = mpsc::sync_channel(1);
        self.call = Some(ended);
        scope.spawn(move || {
            let answer = target.ask_within(&mut target.client(), &message, time + GRACE);
            let wrong = match answer {
                Ok(answer) if answer.body.contains("Computed") => None,
                Ok(_) => Some("another answer".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            // The receiver exists until the check, which comes last.
            let _ = sender.send(wrong);
        });
    }

    /// The failure of each held item; `null` if it still works.
    pub(super) fn check(&self, own: &Own) -> Map<String, Value> {
        let mut problems = Map::new();
        let mut report = |name: &str, wrong: Option<String>| {
            problems.insert(name.to_owned(), wrong.map_or(Value::Null, Value::String));
        };
        let target = own.target;
        let ping = target::legacy(&self.session, "ping", "{}");
        let pinged = target.ask(&mut target.client(), &ping);
        report("session", pinged.err().map(|error| error.to_string()));
        if let Some(call) = &self.call {
            report("call", call.recv_timeout(GRACE).unwrap_or(Some("no end".to_owned())));
        }
        let before = [self.stream.count(), self.listen.count()];
        let changed = target.ask(&mut target.client(), &own.change());
        let changed = changed.err().map(|error| format!("nothing changed: {error}"));
        let end = Instant::now() + CALL_DEADLINE;
        for (name, stream, before) in
            [("stream", &self.stream, before[0]), ("listen", &self.listen, before[1])]
        {
            report(name, changed.clone().or_else(|| stream.wrong(before, end)));
        }
        problems
    }
}

impl BackgroundStream {
    fn open(own: &Own, message: &target::Message) -> Result<Self> {
        let target = own.target;
        let request = target.http1(message);
        let mut stream =
            wire::open_stream(target.from, target.address, &request, CALL_DEADLINE, STAY)?;
        let opened = Self { updates: Arc::default(), ended: Arc::default() };
        let reader = opened.clone();
        thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let text = String::from_utf8_lossy(known_range::items(&buffer, ..read));
                let updates = text.matches("notifications/resources/updated").count();
                reader.updates.fetch_add(updates, Ordering::Relaxed);
            }
            reader.ended.store(true, Ordering::Relaxed);
        });
        Ok(opened)
    }

    fn count(&self) -> usize {
        self.updates.load(Ordering::Relaxed)
    }

    /// Waits until more changes than `before` have arrived. Returns the failure if they do not.
    fn wrong(&self, before: usize, end: Instant) -> Option<String> {
        loop {
            if self.count() > before {
                return None;
            }
            if self.ended.load(Ordering::Relaxed) {
                return Some("ended".to_owned());
            }
            if Instant::now() > end {
                return Some("did not tell of a change".to_owned());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Own {
    /// The URI of the resource that the victim subscribes to.
    fn watched(&self) -> String {
        match self.target.kind {
            Kind::Universe => format!("universe://{}/summary", self.universe),
            Kind::Everything => "test://watched-resource".to_owned(),
        }
    }

    /// The request that changes the resource.
    fn change(&self) -> target::Message {
        match self.target.kind {
            Kind::Universe => {
                let universe = &self.universe;
                target::modern_call(
                    "send_universe_command",
                    &format!(r#"{{"universeId":"{universe}","command":{{"type":"tick","dt":1}}}}"#),
                )
            }
            Kind::Everything => target::modern_call("test_trigger_resource_change", "{}"),
        }
    }
}
