//! The one table of routes: each path with what can be done there. Requests are routed, judged and described by it.

use http::StatusCode;
use http::header::HeaderValue;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::answer::Failure;
use super::openapi::paths;
use super::picture::Format;
use super::places;
use crate::picture::PARAMETERS;
use crate::store::UniverseId;

/// The endpoint that a path leads to, and the universe in the path.
#[derive(Debug)]
pub(crate) struct Route {
    pub(super) endpoint: &'static Endpoint,
    pub(super) id: Option<UniverseId>,
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) kind: Kind,
    /// The path as a template; `{id}` is a universe.
    pub(super) path: &'static str,
    /// Whether it needs no token, because it describes the server and its API but not the contents.
    pub(super) is_open: bool,
    /// What can be done there, in the order of the `Allow` header.
    pub(super) operations: &'static [Operation],
}

/// What a method does at an endpoint.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    /// The query parameters that a request may have. `None` if any others are ignored, as for probes.
    pub(super) parameters: Option<&'static [&'static str]>,
    /// Its part of the OpenAPI document.
    pub(super) describe: fn() -> Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Health,
    Live,
    Ready,
    Version,
    Metrics,
    Description,
    Universes,
    Universe,
    Picture(Format),
    Commands,
    Events,
    History,
    Tree,
    Places,
    Undo,
}

/// All endpoints. A path with an ending comes before the one without: an id with such an ending is written with `%2E`.
pub(super) static ENDPOINTS: [Endpoint; 16] = [
    open(Kind::Health, "/health", &[probe(paths::health)]),
    open(Kind::Live, "/livez", &[probe(paths::alive)]),
    open(Kind::Ready, "/readyz", &[probe(paths::ready)]),
    open(Kind::Version, "/version", &[probe(paths::version)]),
    at(Kind::Metrics, "/metrics", &[probe(paths::metrics)]),
    open(Kind::Description, "/openapi.json", &[probe(paths::described)]),
    at(
        Kind::Universes,
        "/universes",
        &[get(&["limit", "cursor", "view"], paths::list), on("POST", &[], paths::create)],
    ),
    at(Kind::Picture(Format::Svg), "/universes/{id}.svg", &[get(&PARAMETERS, paths::svg)]),
    at(Kind::Picture(Format::Png), "/universes/{id}.png", &[get(&PARAMETERS, paths::png)]),
    at(
        Kind::Universe,
        "/universes/{id}",
        &[
            get(&["revision"], paths::read),
            on("PUT", &[], paths::replace),
            on("DELETE", &[], paths::delete),
        ],
    ),
    at(Kind::Commands, "/universes/{id}/commands", &[on("POST", &["result"], paths::command)]),
    at(Kind::Events, "/universes/{id}/events", &[get(&[], paths::feed)]),
    at(Kind::History, "/universes/{id}/history", &[get(&["after", "limit"], paths::past)]),
    at(Kind::Tree, "/universes/{id}/tree", &[get(&["limit", "cursor"], paths::outline)]),
    at(Kind::Places, "/universes/{id}/places", &[get(&places::PARAMETERS, paths::placed)]),
    at(Kind::Undo, "/universes/{id}/undo", &[on("POST", &[], paths::undo)]),
];

const fn at(kind: Kind, path: &'static str, operations: &'static [Operation]) -> Endpoint {
    Endpoint { kind, path, is_open: false, operations }
}

const fn open(kind: Kind, path: &'static str, operations: &'static [Operation]) -> Endpoint {
    Endpoint { kind, path, is_open: true, operations }
}

const fn probe(describe: fn() -> Value) -> Operation {
    Operation { method: "GET", parameters: None, describe }
}

const fn get(parameters: &'static [&'static str], describe: fn() -> Value) -> Operation {
    on("GET", parameters, describe)
}

const fn on(
    method: &'static str,
    parameters: &'static [&'static str],
    describe: fn() -> Value,
) -> Operation {
    Operation { method, parameters: Some(parameters), describe }
}

impl Route {
    /// Finds the route of a path; a slash at its end makes no difference.
    pub(crate) fn find(path: &str) -> Result<Self, Failure> {
        let given = path.trim_matches('/');
        let found = ENDPOINTS.iter().find_map(|it| Some((it, it.id_in(given)?)));
        let (endpoint, id) = found.ok_or_else(|| unknown(path))?;
        Ok(Self { endpoint, id: id.map(universe_id).transpose()? })
    }

    /// The template of the path, without what identifies a universe.
    pub(crate) fn name(found: &Result<Self, Failure>) -> &'static str {
        found.as_ref().map_or("unknown", |route| route.endpoint.path)
    }
}

impl Endpoint {
    /// Whether this is the endpoint of the path, and the segment for the universe if it has one.
    fn id_in<'p>(&self, path: &'p str) -> Option<Option<&'p str>> {
        let template = self.path.trim_start_matches('/');
        let Some((before, after)) = template.split_once("{id}") else {
            return (path == template).then_some(None);
        };
        let id = path.strip_prefix(before)?.strip_suffix(after)?;
        (!id.contains('/')).then_some(Some(id))
    }

    /// Whether some of its methods write.
    pub(super) fn writes(&self) -> bool {
        self.operations.iter().any(|it| it.method != "GET")
    }

    /// The `Allow` header: `GET` if there is, and of the methods that write those for which `may` is true.
    pub(super) fn methods(&self, may: impl Fn(&str) -> bool) -> HeaderValue {
        let methods = self.operations.iter().map(|it| it.method);
        let methods = methods.filter(|method| *method == "GET" || may(method));
        let methods = methods.map(|method| if method == "GET" { "GET, HEAD" } else { method });
        let methods = methods.chain(["OPTIONS"]).collect::<Vec<_>>().join(", ");
        // Names of methods are always a valid header value.
        HeaderValue::from_str(&methods).unwrap_or(HeaderValue::from_static("OPTIONS"))
    }
}

/// 404 for a path that leads nowhere, with those that lead somewhere.
fn unknown(path: &str) -> Failure {
    let shown: String = path.chars().take(200).collect();
    let paths = ENDPOINTS.each_ref().map(|endpoint| endpoint.path).join(", ");
    let message = format!("nothing is at {shown}; there are / (the page), {paths} and /mcp");
    Failure::new(StatusCode::NOT_FOUND, message)
}

/// The universe id in a path segment. A text that cannot be an id gets the same answer as an unknown id.
fn universe_id(segment: &str) -> Result<UniverseId, Failure> {
    let id = percent_decode_str(segment).decode_utf8().map_err(|_| Failure::not_found(segment))?;
    UniverseId::new(&id).map_err(|_| Failure::not_found(&id))
}
