//! URLs of resources and of servers that log clients in.

use http::Uri;

/// Where a well-known document of a URL may lie, the most exact place first (RFC 8414 §3.1, RFC 9728 §3.1).
pub(super) fn well_known(url: &str, name: &str) -> Vec<String> {
    let (origin, uri) = (origin(url).unwrap_or_default(), url.parse::<Uri>().unwrap_or_default());
    let full = uri.path_and_query().map_or("", |it| it.as_str());
    let suffixes = [full, uri.path(), uri.path().trim_end_matches('/'), ""];
    let suffixes = suffixes.map(|suffix| if suffix == "/" { "" } else { suffix });
    let mut all = suffixes.map(|suffix| format!("{origin}/.well-known/{name}{suffix}")).to_vec();
    all.dedup();
    all
}

/// Whether a resource is the server at a URL, or has it as a part.
pub(crate) fn is_of(resource: &str, url: &str) -> bool {
    let path = |url: &str| {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        format!("/{path}").trim_end_matches('/').to_owned() + "/"
    };
    origin(resource) == origin(url) && path(url).starts_with(&path(resource))
}

/// The scheme, host and port of a URL.
pub(crate) fn origin(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?;
    let host = uri.host()?.to_ascii_lowercase();
    let default = if scheme == "https" { 443 } else { 80 };
    let port = uri.port_u16().filter(|port| *port != default);
    Some(format!("{scheme}://{host}{}", port.map_or(String::new(), |port| format!(":{port}"))))
}

/// Whether nothing on the way can read what is sent to a URL.
pub(crate) fn is_secure(url: &str) -> bool {
    let uri: Option<Uri> = url.parse().ok();
    uri.is_some_and(|uri| {
        let is_local = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        uri.scheme_str() == Some("https") || is_local
    })
}
