//! Reads sizes, times and addresses as people write them.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use bytesize::ByteSize;

/// The smallest useful limit of bodies and universes.
const LEAST_SIZE: ByteSize = ByteSize::kib(1);
/// The longest time that a server may continue after the signal to end.
const MOST_DRAIN_WAIT: Duration = Duration::from_secs(600);

/// A size in bytes, with or without a unit.
pub(super) fn size(text: &str, most: ByteSize) -> Result<ByteSize, String> {
    let size = text.parse().ok();
    let size = size.filter(|size| (LEAST_SIZE..=most).contains(size));
    size.ok_or_else(|| {
        format!("a size is a number with a unit, such as 16MiB: from {LEAST_SIZE} to {most}")
    })
}

/// A time in seconds or minutes.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(['s', 'm']);
    let unit = match text.get(digits.len()..) {
        Some("s") => Some(1),
        Some("m") => Some(60),
        // Without a unit, only zero is unambiguous.
        Some("") if digits == "0" => Some(1),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    let seconds = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    let time = seconds.map(Duration::from_secs);
    time.filter(|time| *time <= MOST_DRAIN_WAIT)
        .ok_or_else(|| "a time is a number with a unit, such as 10s or 1m: up to 10m".to_owned())
}

/// An address given as `IP:PORT` or `NAME:PORT`. If a name has several addresses, the first IPv4 address is used, or
/// else the first address.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs();
    let wrong = |problem: &dyn std::fmt::Display| {
        format!(
            "{problem}; an address is an IP or a host name with a port, such as 127.0.0.1:3001 or localhost:3001"
        )
    };
    let found: Vec<_> = found.map_err(|error| wrong(&error))?.collect();
    let first = found.iter().find(|address| address.is_ipv4());
    let first = first.or(found.first()).copied();
    first.ok_or_else(|| wrong(&"the name has no address"))
}
