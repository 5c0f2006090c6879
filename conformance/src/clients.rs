//! `client`: what any MCP client must do, seen by servers that play a part.
//!
//! The client is run once for each [`Scene`], against a separate server on this machine. It need not know the scene: it
//! connects, lists the tools, calls them and ends. Each [`ClientRule`] is then judged by the requests that the servers
//! received.

mod report;
mod rule;
mod rules;
mod scene;
mod script;
mod seen;
mod stage;

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::process::Command;

use crate::check::Selection;
use crate::child::Group;

pub use report::{ClientJudged, ClientReport};
pub use rule::ClientRule;
pub use rules::all as client_rules;
pub use scene::Scene;
use seen::{Ended, Runs, SceneRun};
use stage::Stage;

/// How long the client may take in each scene by default.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a client is given to call tools with.
const ARGUMENTS: &str = r#"{"text":"hello","region":"north sea"}"#;

/// Rules to hold against one client.
#[derive(Clone)]
#[must_use]
pub struct ClientCheck {
    subject: Subject,
    selection: Selection,
    timeout: Duration,
}

#[derive(Clone)]
enum Subject {
    Command(OsString, Vec<OsString>),
    Here(Arc<dyn Fn(String) -> BoxFuture<'static, ()> + Send + Sync>),
}

impl ClientCheck {
    /// Against a program. `{url}` in an argument becomes the URL of the server, which is the last argument otherwise.
    /// The environment has `MCP_SERVER_URL`, `MCP_TOOL_ARGUMENTS` (JSON that every tool takes) and `MCP_SCENE`.
    pub fn command(program: impl Into<OsString>, arguments: Vec<OsString>) -> Self {
        Self::of(Subject::Command(program.into(), arguments))
    }

    /// Against code of this program, which gets the URL. It is dropped when its time is over.
    pub fn running<F, R>(client: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::of(Subject::Here(Arc::new(move |url| client(url).boxed())))
    }

    fn of(subject: Subject) -> Self {
        Self { subject, selection: Selection::default(), timeout: TIMEOUT }
    }

    /// Only rules whose id has one of these prefixes; by default all.
    pub fn only(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.only.extend(prefixes);
        self
    }

    /// No rule whose id has one of these prefixes.
    pub fn skip(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.skip.extend(prefixes);
        self
    }

    /// How long the client may take in each scene; 20 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the client in every scene that a wanted rule needs, and judges.
    ///
    /// # Errors
    /// The program cannot be started, or no server can listen.
    pub async fn run(&self, mut progress: impl FnMut(Scene)) -> io::Result<ClientReport> {
        let wanted: Vec<&ClientRule> =
            client_rules().filter(|rule| self.selection.has(rule.id)).collect();
        let mut runs = Runs::default();
        for scene in Scene::ALL {
            if !wanted.iter().any(|rule| rule.scenes.contains(&scene)) {
                continue;
            }
            progress(scene);
            let stage = Stage::open(scene).await?;
            let ended = self.play(&stage.url(), scene).await?;
            let requests = stage.close();
            runs.add(scene, SceneRun { requests, ended });
        }
        let judged =
            wanted.into_iter().map(|rule| ClientJudged { rule, verdict: rule.verdict(&runs) });
        Ok(ClientReport { client: self.subject.name(), judged: judged.collect() })
    }

    /// Runs the client until it ends or its time limit is reached.
    async fn play(&self, url: &str, scene: Scene) -> io::Result<Ended> {
        let (program, arguments) = match &self.subject {
            Subject::Command(program, arguments) => (program, arguments),
            Subject::Here(client) => {
                let run = tokio::time::timeout(self.timeout, client(url.to_owned()));
                return Ok(match run.await {
                    Ok(()) => Ended::Itself("its future was done".to_owned()),
                    Err(_) => Ended::Late(self.timeout),
                });
            }
        };
        let mut command = Command::new(program);
        command
            .args(with_url(arguments, url))
            .env("MCP_SERVER_URL", url)
            .env("MCP_TOOL_ARGUMENTS", ARGUMENTS)
            .env("MCP_SCENE", scene.name())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut group = Group::spawn(command)?;
        match tokio::time::timeout(self.timeout, group.child.wait()).await {
            Ok(status) => Ok(Ended::Itself(status?.to_string())),
            Err(_) => Ok(Ended::Late(self.timeout)),
        }
    }
}

fn with_url(arguments: &[OsString], url: &str) -> Vec<OsString> {
    const PLACE: &str = "{url}";
    let has_place = |argument: &OsString| argument.to_string_lossy().contains(PLACE);
    let mut given: Vec<OsString> = arguments
        .iter()
        .map(|argument| match argument.to_str() {
            Some(text) => text.replace(PLACE, url).into(),
            None => argument.clone(),
        })
        .collect();
    if !arguments.iter().any(has_place) {
        given.push(url.into());
    }
    given
}

impl fmt::Debug for ClientCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.subject.name())
    }
}

impl Subject {
    fn name(&self) -> String {
        match self {
            Self::Here(_) => "a client of this program".to_owned(),
            Self::Command(program, arguments) => {
                let words = std::iter::once(program).chain(arguments);
                let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
                words.join(" ")
            }
        }
    }
}
