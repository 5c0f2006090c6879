//! The floor of `cargo xtask bench`: hyper and `serde_json` produce the bytes of the `echo` example and nothing else.
//!
//! It reads a `tools/call`, parses it into the few members that the answer needs, and serialises the answer that `echo`
//! gives. No header is checked, no schema enforced, no session kept. The cost of a protocol library is its distance
//! from this program.

use std::convert::Infallible;
use std::error::Error;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The members of a request that are read.
#[derive(Deserialize)]
struct Call {
    id: u64,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    arguments: Echo,
    /// Only a modern request has it.
    _meta: Option<IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
struct Echo {
    text: String,
}

/// The answer, member by member as `echo` writes it.
#[derive(Serialize)]
struct Answer {
    jsonrpc: &'static str,
    id: u64,
    result: CallResult,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Content; 1],
    structured_content: Echo,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

#[derive(Serialize)]
struct Content {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: ServerInfo,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

async fn answer(
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
    let text = request.into_body().collect().await?.to_bytes();
    let call: Call = serde_json::from_slice(&text)?;
    let modern = call.params._meta.is_some();
    let said = call.params.arguments;
    let answer = Answer {
        jsonrpc: "2.0",
        id: call.id,
        result: CallResult {
            result_type: modern.then_some("complete"),
            content: [Content { kind: "text", text: serde_json::to_string(&said)? }],
            structured_content: said,
            meta: modern
                .then_some(Meta { server_info: ServerInfo { name: "echo", version: "0.1.0" } }),
        },
    };
    let mut response = Response::new(Full::new(serde_json::to_vec(&answer)?.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<Infallible, Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
            if let Err(error) = connection.await {
                eprintln!("a connection ended with an error: {error}");
            }
        });
    }
}
