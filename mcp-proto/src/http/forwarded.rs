//! The client behind a proxy: from `Forwarded` (RFC 7239) or `X-Forwarded-For`, which only named proxies may set.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose headers about their clients are trusted. None by default: every client can send these headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Proxies at these addresses or in these networks.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Parses proxies from command-line arguments: addresses such as `10.0.0.7`, and networks such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// The first text that is neither.
    pub fn from_names(names: &[String]) -> Result<Self, InvalidProxy> {
        let read = |name: &String| {
            let network = name.parse().or_else(|_| name.parse().map(IpAddr::into));
            network.map_err(|_| InvalidProxy(name.clone()))
        };
        names.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is a proxy at this address.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The address of the client behind `peer`: the last one on the path that is not one of these proxies. `None` if
    /// `peer` is not one of them, or if no header names a client.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        if self.0.is_empty() || !self.has(peer) {
            return None;
        }
        let mut last = None;
        for hop in hops(headers) {
            // A name instead of an address ends the part that can be trusted.
            let Some(address) = hop else { break };
            last = Some(address);
            if !self.has(address) {
                break;
            }
        }
        last
    }
}

/// A text that is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address or a network: give one such as 10.0.0.7 or 10.0.0.0/8")]
pub struct InvalidProxy(String);

/// The addresses on the path of a request, nearest first; `None` for an entry that is not an address.
fn hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let values = |name: &HeaderName| -> Vec<String> {
        let values = headers.get_all(name).iter().rev();
        let texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        texts.collect()
    };
    let forwarded = values(&FORWARDED);
    let nearest_first = |value: &str, read: fn(&str) -> Option<IpAddr>| {
        value.split(',').rev().map(read).collect::<Vec<_>>()
    };
    if !forwarded.is_empty() {
        let hops = forwarded.iter().flat_map(|value| nearest_first(value, of_element));
        return hops.collect();
    }
    let listed = values(&X_FORWARDED_FOR);
    let hops = listed.iter().flat_map(|value| nearest_first(value, address));
    hops.collect()
}

/// The `for` of one element, such as `for="[2001:db8::1]:4711";proto=https`.
fn of_element(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut named = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    address(named.next()?.1.trim().trim_matches('"'))
}

/// An address, perhaps with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    text.parse().ok().or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &[&str], peer: &str, headers: &[(&'static str, &str)]) -> Option<String> {
        let names: Vec<String> = proxies.iter().map(ToString::to_string).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let client = Proxies::from_names(&names).unwrap().client(peer.parse().unwrap(), &map);
        client.map(|client| client.to_string())
    }

    #[test]
    fn only_named_proxies_are_believed() {
        let header = [("x-forwarded-for", "192.0.2.9")];
        assert_eq!(client(&[], "10.0.0.1", &header), None);
        assert_eq!(client(&["10.0.0.2"], "10.0.0.1", &header), None);
        let found = client(&["10.0.0.0/24"], "10.0.0.1", &header);
        assert_eq!(found.as_deref(), Some("192.0.2.9"));
        let found = client(&["10.0.0.0/24"], "::ffff:10.0.0.1", &header);
        assert_eq!(found.as_deref(), Some("192.0.2.9"));
        assert_eq!(client(&["10.0.0.1"], "10.0.0.1", &[]), None);
    }

    #[test]
    fn what_a_client_claims_before_the_last_proxy_is_not_believed() {
        let header = [("x-forwarded-for", "203.0.113.1, 192.0.2.9, 10.0.0.2")];
        let found = client(&["10.0.0.0/8"], "10.0.0.1", &header);
        assert_eq!(found.as_deref(), Some("192.0.2.9"));
        let lines = [("x-forwarded-for", "203.0.113.1"), ("x-forwarded-for", "192.0.2.9")];
        let found = client(&["10.0.0.0/8"], "10.0.0.1", &lines);
        assert_eq!(found.as_deref(), Some("192.0.2.9"));
        // All addresses are trusted proxies, so the farthest is the client.
        let header = [("x-forwarded-for", "10.0.0.3, 10.0.0.2")];
        let found = client(&["10.0.0.0/8"], "10.0.0.1", &header);
        assert_eq!(found.as_deref(), Some("10.0.0.3"));
    }

    #[test]
    fn forwarded_is_read_with_ports_brackets_and_hidden_names() {
        let cases = [
            (r#"for="[2001:db8::1]:4711";proto=https"#, Some("2001:db8::1")),
            ("proto=http; For=192.0.2.9:80", Some("192.0.2.9")),
            ("for=192.0.2.9, for=_hidden", None),
            ("for=unknown", None),
            ("by=10.0.0.1", None),
        ];
        for (header, expected) in cases {
            let headers = [("forwarded", header), ("x-forwarded-for", "203.0.113.1")];
            assert_eq!(
                client(&["10.0.0.1"], "10.0.0.1", &headers).as_deref(),
                expected,
                "{header}"
            );
        }
    }

    #[test]
    fn a_name_is_not_a_proxy() {
        let error = Proxies::from_names(&["proxy.example".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("proxy.example"), "{error}");
    }
}
