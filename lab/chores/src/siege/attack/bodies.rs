//! Bodies that are large, slow, or both.

use std::sync::Arc;

use super::super::attacker::Field;
use super::super::crowd;
use super::super::target;
use xtask::Result;

/// Bodies that grow by one byte per second.
pub(super) fn slow(field: &Field) -> Result<()> {
    crowd::hold(field, 8_000, &start(field, 1_000_000, b"{"), b" ");
    Ok(())
}

/// Bodies of the maximum size without their last byte.
pub(super) fn unfinished(field: &Field) -> Result<()> {
    let length = field.target.kind.max_body();
    let mut body = vec![b' '; length - 1];
    if let Some(first) = body.first_mut() {
        *first = b'{';
    }
    crowd::hold(field, 400, &start(field, length, &body), b"");
    Ok(())
}

/// `subscriptions/listen` requests whose ids are strings of nearly the maximum body size.
pub(super) fn huge_ids(field: &Field) -> Result<()> {
    let length = field.target.kind.max_body() - (1 << 20);
    let id = format!(r#""{}""#, "i".repeat(length));
    let message = target::listen(&id, r#"{"toolsListChanged":true}"#);
    crowd::hold(field, 60, &Arc::from(field.target.http1(&message)), b"");
    Ok(())
}

/// The head of a call that announces `length` bytes, and the start of its body.
fn start(field: &Field, length: usize, body: &[u8]) -> Arc<[u8]> {
    let call = target::modern_call("tool", "{}");
    let head = field.target.head(&call);
    let mut request = format!("{head}content-length: {length}\r\n\r\n").into_bytes();
    request.extend(body);
    Arc::from(request)
}
