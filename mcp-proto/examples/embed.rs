//! An issue tracker: REST and MCP on one port, over one state, behind one authentication check. The service requires a
//! token for both, and passes the caller's identity to MCP. Run it by `cargo run -p mcp-proto --example embed`, open an
//! issue over REST by `curl 127.0.0.1:3000/issues -H 'authorization: Bearer ann-token' -d '{"title": "The door
//! squeaks"}'`, and call its tools as the guide's page on embedding (`docs/embedding.md`) does by hand.

use std::convert::Infallible;

use futures_util::FutureExt as _;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use hyper::body::{Bytes, Incoming};
use mcp_proto::{
    Change, Context, Json, Principal, ResourceTemplate, ResourceUri, Server, StreamableHttpService,
    Tool, ToolError,
};

/// The state that REST and MCP share.
type Issues = std::sync::Arc<tokio::sync::Mutex<Vec<Issue>>>;

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
struct Issue {
    number: usize,
    title: String,
    opened_by: String,
    closed: bool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewIssue {
    /// What is wrong, in a line.
    title: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    /// The issue's number.
    number: usize,
}

async fn open(issues: &Issues, new: NewIssue, by: &str) -> Issue {
    let mut issues = issues.lock().await;
    let issue = Issue {
        number: issues.len() + 1,
        title: new.title,
        opened_by: by.to_owned(),
        closed: false,
    };
    issues.push(issue.clone());
    issue
}

/// The change for clients that subscribed to the resource below.
fn changed(issue: &Issue) -> Change {
    Change::resource_updated(format!("issues://by/{}", issue.opened_by))
}

// MCP: handlers get the state, the arguments, and the context of the request, which has the caller.
type Answered = Result<Json<Issue>, ToolError>;

async fn open_issue(issues: Issues, new: NewIssue, context: Context) -> Answered {
    let by = context.principal().ok_or_else(|| ToolError::internal("a caller without a name"))?;
    let issue = open(&issues, new, by).await;
    context.notify(changed(&issue));
    Ok(Json(issue))
}

async fn close_issue(issues: Issues, is: Number, context: Context) -> Answered {
    let mut issues = issues.lock().await;
    let found = issues.iter_mut().find(|issue| issue.number == is.number);
    let issue = found.ok_or_else(|| ToolError::new("NO_SUCH_ISSUE", "see issues://by/{name}"))?;
    issue.closed = true;
    context.notify(changed(issue));
    Ok(Json(issue.clone()))
}

async fn read(all: Issues, at: ResourceUri) -> Json<Vec<Issue>> {
    let mut theirs = all.lock().await.clone();
    theirs.retain(|issue| at.get("name") == Some(&issue.opened_by));
    Json(theirs)
}

// The service around it: authentication, REST, and a branch for MCP.
type App = (Issues, Server, StreamableHttpService);
type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

async fn route(app: App, mut request: Request<Incoming>) -> Result<Answer, Infallible> {
    let (issues, server, mcp) = app;
    let caller = request.headers().get(header::AUTHORIZATION).and_then(known);
    Ok(match (request.method(), request.uri().path(), caller) {
        // A browser's preflight request, which has no token.
        (&Method::OPTIONS, "/mcp", _) => mcp.handle(request).await.map(BodyExt::boxed_unsync),
        (_, _, None) => answer(StatusCode::UNAUTHORIZED, "a token, please"),
        (_, "/mcp", Some(caller)) => {
            request.extensions_mut().insert(caller);
            mcp.handle(request).await.map(BodyExt::boxed_unsync)
        }
        (&Method::GET, "/issues", _) => answer(StatusCode::OK, &*issues.lock().await),
        (&Method::POST, "/issues", Some(caller)) => {
            let body = Limited::new(request.into_body(), 65_536).collect().await;
            let Ok(Ok(new)) = body.map(|body| serde_json::from_slice(&body.to_bytes())) else {
                return Ok(answer(StatusCode::BAD_REQUEST, "an issue has a title"));
            };
            let issue = open(&issues, new, &caller.0).await;
            server.notify(changed(&issue));
            answer(StatusCode::CREATED, issue)
        }
        _ => answer(StatusCode::NOT_FOUND, "there are /issues and /mcp"),
    })
}

/// A real service asks the issuer of the token.
fn known(header: &HeaderValue) -> Option<Principal> {
    match header.as_bytes() {
        b"Bearer ann-token" => Some(Principal("ann".to_owned())),
        b"Bearer bob-token" => Some(Principal("bob".to_owned())),
        _ => None,
    }
}

fn answer(status: StatusCode, body: impl serde::Serialize) -> Answer {
    let body = Full::from(serde_json::json!(body).to_string());
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    answer
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let issues = Issues::default();
    let server = Server::builder("issues", "0.1.0", issues.clone())
        .tool(Tool::new("open_issue", "Opens an issue."), open_issue)
        .tool(Tool::new("close_issue", "Closes an issue."), close_issue)
        .resource_template(ResourceTemplate::new("issues://by/{name}", "issues"), read)
        .subscriptions()
        .build()?;
    let mcp = StreamableHttpService::new(server.clone());
    let app = (issues, server, mcp.clone());
    let stop = tokio::signal::ctrl_c().map(move |_| mcp.close());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    let service = hyper::service::service_fn(move |request| route(app.clone(), request));
    mcp_proto::http::serve(listener, service, Default::default(), stop).await?;
    Ok(())
}
