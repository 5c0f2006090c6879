//! Puts a target of this process behind a socket.

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use mcp_conformance::{BoxError, Target};
use tokio::net::TcpListener;

/// Serves `target` on a free port of the loopback interface until the runtime ends, and returns its base URL.
pub(crate) fn serve(target: Target) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let listener = TcpListener::from_std(listener).unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let target = target.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let target = target.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body: Bytes = body.collect().await?.to_bytes();
                    Ok::<_, BoxError>(target.send(Request::from_parts(head, body)).await?)
                }
            });
            let server = auto::Builder::new(TokioExecutor::new());
            tokio::spawn(server.serve_connection(TokioIo::new(socket), service).into_owned());
        }
    });
    url
}
