//! One HTTP request of the client: its headers, redirects within the origin, and refusals of the caller.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response as HttpResponse, StatusCode, Uri};

use super::HttpLink;
use crate::Result;
use crate::config::Computed;
use crate::credentials::{MAX_TRIES, Refusal};
use crate::network::Incoming;
use crate::pool::{Hop, MAX_REDIRECTS, too_many};
use crate::speaking::Speaking;

impl HttpLink {
    pub(super) async fn send(
        &self,
        method: Method,
        body: Bytes,
        extra: &[(HeaderName, HeaderValue)],
        speaking: &Speaking,
    ) -> Result<HttpResponse<Incoming>> {
        let mut uri = self.uri.clone();
        let (mut tries, mut redirects) = (0, 0);
        loop {
            let mut request = http::Request::new(body.clone());
            *request.headers_mut() = self.head(&method, &uri, extra, speaking).await?;
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            let sent = request.headers().clone();
            let response = match self.pool.send(request).await? {
                Hop::Response(response) => response,
                Hop::Redirect(target) if redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    uri = target;
                    continue;
                }
                Hop::Redirect(target) => return Err(too_many(&target)),
            };
            let Some(credentials) = &self.config.credentials else {
                return Ok(response);
            };
            let status = response.status();
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                credentials.answered(&uri, response.headers());
                return Ok(response);
            }
            tries += 1;
            let refusal = Refusal {
                status,
                headers: response.headers().clone(),
                method: method.clone(),
                url: uri.clone(),
                tries,
                sent,
            };
            {
                let _login = self.hub.clock.wait();
                credentials.refused(&refusal).await?;
            }
            // Answers to another caller are not for this one.
            self.hub.cache.clear();
            if tries >= MAX_TRIES {
                return Ok(response);
            }
        }
    }

    /// The headers of a request: the caller's, then those of the protocol, then those of the credentials.
    async fn head(
        &self,
        method: &Method,
        uri: &Uri,
        extra: &[(HeaderName, HeaderValue)],
        speaking: &Speaking,
    ) -> Result<HeaderMap> {
        let mut headers = self.config.headers.clone();
        if let Some(Computed(computed)) = &self.config.computed {
            replace(&mut headers, computed(method, uri));
        }
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let accepted = if *method == Method::GET {
            "text/event-stream"
        } else {
            "application/json, text/event-stream"
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        if let Some(version) = speaking.version {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = &speaking.session {
            headers.insert("mcp-session-id", session.clone());
        }
        for (name, value) in extra {
            headers.insert(name, value.clone());
        }
        if let Some(credentials) = &self.config.credentials {
            replace(&mut headers, credentials.headers(method, uri).await?);
        }
        Ok(headers)
    }
}

/// Sets headers over those of the same names.
fn replace(headers: &mut HeaderMap, others: HeaderMap) {
    for name in others.keys() {
        headers.remove(name);
    }
    let mut named = None;
    for (name, value) in others {
        named = name.or(named);
        if let Some(name) = &named {
            headers.append(name.clone(), value);
        }
    }
}
