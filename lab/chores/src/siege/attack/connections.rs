//! Connections on which no request is ever completed.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::attacker::Field;
use super::super::crowd;
use super::super::target;
use super::super::wire;
use xtask::Result;

/// More connections than any server accepts, and about as many as the descriptors of one process usually allow.
const MANY: usize = 18_000;

/// Connections that send nothing.
pub(super) fn idle(field: &Field) -> Result<()> {
    crowd::hold(field, MANY, &Arc::default(), b"");
    Ok(())
}

/// Heads that grow by one byte per second.
pub(super) fn slow_heads(field: &Field) -> Result<()> {
    let start = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\nx-", field.target.address);
    crowd::hold(field, MANY, &Arc::from(start.into_bytes()), b"x");
    Ok(())
}

/// Heads of the maximum size that are never completed.
pub(super) fn fat_heads(field: &Field) -> Result<()> {
    let mut head = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\n", field.target.address);
    for number in 0..95 {
        head += &format!("x-{number}: {}\r\n", "f".repeat(4_000));
    }
    crowd::hold(field, 3_000, &Arc::from(head.into_bytes()), b"");
    Ok(())
}

/// Calls whose connections close before the answers arrive.
pub(super) fn churn(field: &Field) -> Result<()> {
    let call = target::modern("1", "tools/list", "", "");
    let request = field.target.http1(&call);
    field.on_threads(4, |_| {
        let stream = wire::connect(field.target.from, field.target.address, target::CALL_DEADLINE);
        if let Ok(mut stream) = stream {
            field.tally.opened.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(&request).is_ok() {
                let sent = request.len() as u64;
                field.tally.sent.fetch_add(sent, Ordering::Relaxed);
            }
        }
    });
    Ok(())
}
