//! The documents beside the endpoint, which any client may read: the metadata of the server as a protected resource,
//! its card, and the catalog that leads to the card.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, IF_NONE_MATCH, ORIGIN,
};
use http::{Method, Response, StatusCode, request};

use super::answer::{empty, json};
use super::body::ResponseBody;
use super::card::Document;
use super::config::HttpConfig;
use super::cors;

/// How long clients may keep a card (SEP-2127, *Caching*).
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The answer to a request for a document; `None` for any other request.
pub(super) fn answer(head: &request::Parts, config: &HttpConfig) -> Option<Response<ResponseBody>> {
    let card = config.card.as_ref().and_then(|card| card.document(head.uri.path()));
    if let Some(document) = card {
        return Some(public(card_answer(document, head)));
    }
    let resource = config.authorization.as_ref()?.metadata(head)?;
    let mut response = json(StatusCode::OK, ResponseBody::full(resource.to_json().into()));
    if head.headers.contains_key(ORIGIN) {
        cors::expose(&mut response, &head.headers, &config.origins);
    }
    Some(response)
}

fn card_answer(document: &Document, head: &request::Parts) -> Response<ResponseBody> {
    let mut response = match head.method {
        Method::GET | Method::HEAD if is_known(&document.tag, &head.headers) => {
            empty(StatusCode::NOT_MODIFIED)
        }
        Method::GET | Method::HEAD => {
            let mut response = Response::new(ResponseBody::full(document.text.clone()));
            response.headers_mut().insert(CONTENT_TYPE, document.media_type.clone());
            response
        }
        Method::OPTIONS => return empty(StatusCode::NO_CONTENT),
        _ => {
            let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
            let methods = HeaderValue::from_static("GET, HEAD, OPTIONS");
            refused.headers_mut().insert(ALLOW, methods);
            return refused;
        }
    };
    response.headers_mut().insert(ETAG, document.tag.clone());
    response.headers_mut().insert(CACHE_CONTROL, CACHED);
    response
}

/// Whether the client has a document with this tag already: `If-None-Match` compares weakly (RFC 9110 §13.1.2).
fn is_known(tag: &HeaderValue, asked: &HeaderMap) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let Ok(tag) = tag.to_str().map(opaque) else {
        return false;
    };
    let lists = asked.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let mut given = lists.flat_map(|list| list.split(',')).map(str::trim);
    given.any(|given| given == "*" || opaque(given) == tag)
}

/// Lets every page read the response (SEP-2127, *CORS Requirements*).
fn public(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    let allowed = HeaderValue::from_static("Content-Type, If-None-Match");
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag"));
    response
}
