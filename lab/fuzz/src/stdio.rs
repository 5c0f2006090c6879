//! Connections over byte streams: whatever comes in, the connection ends with its input, every line that goes out is a
//! message, and every id that can be read is answered once. The first byte says how the rest, the input, is cut.

use std::collections::HashMap;
use std::time::Duration;

use mcp_proto::jsonrpc::{ErrorObject, Message, MessageError, Notification, Request, RequestId};
use mcp_proto::stdio::{StdioConfig, serve};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::pieces::{Sink, Stream, cut, first, run_within};
use super::server::{error, result, shared};
use super::tree::tree;

const MAX_LINE: usize = 2048;

/// Longer than anything on a connection may take: what is left over at its end has 900 ms.
const LIMIT: Duration = Duration::from_secs(5);

/// What the input leads to expect.
#[derive(Debug, Default)]
struct Expected {
    /// How often each id is asked.
    asked: HashMap<RequestId, usize>,
    /// Of these ids, some may go unanswered: they were cancelled, listen until the end, or ask their client.
    excused: Vec<RequestId>,
    too_long: usize,
    /// Lines that begin as a message and are not JSON, which are answered once a second at most.
    broken: usize,
    /// Batches that are broken by one reader and not by the other.
    doubtful: usize,
    /// Batches, which one revision takes and the others refuse.
    batches: usize,
}

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let (how, input) = first(data);
    let mut config = StdioConfig::default();
    config.max_line_bytes = MAX_LINE;
    let mut sink = Sink::new(how);
    let input_stream = Stream::new(cut(how, input));
    let served = run_within(LIMIT, serve(shared(), input_stream, &mut sink, config));
    served.expect("no stream broke");

    let output = std::str::from_utf8(&sink.written).expect("what goes out is UTF-8");
    assert!(output.is_empty() || output.ends_with('\n'));
    let mut answered: HashMap<RequestId, usize> = HashMap::new();
    let (mut nameless, mut refused) = (0, 0);
    for line in output.lines() {
        let messages = messages(line.as_bytes()).expect("every line is JSON");
        for message in messages {
            if let Message::Response(response) = message.expect("every line is a message") {
                error(&response);
                result(&response);
                match (response.id, response.outcome) {
                    (Some(id), _) => *answered.entry(id).or_default() += 1,
                    (None, Err(error)) if error.code == ErrorObject::PARSE => refused += 1,
                    (None, _) => nameless += 1,
                }
            }
        }
    }
    let expected = expected(input);
    assert!(refused <= expected.broken + expected.doubtful, "{output}");
    assert!(refused > 0 || expected.broken == 0, "{output}");
    assert!(nameless == expected.too_long || nameless > expected.too_long && expected.batches > 0);
    for (id, asked) in &expected.asked {
        let answers = answered.remove(id).unwrap_or_default();
        let excused = expected.excused.contains(id);
        assert!(answers <= *asked, "{id} was asked {asked} times: {output}");
        assert!(excused || answers == *asked, "{id} was not answered");
    }
    assert!(answered.is_empty(), "nobody asked: {answered:?}");
}

fn expected(input: &[u8]) -> Expected {
    let mut expected = Expected::default();
    for line in input.split(|&byte| byte == b'\n') {
        if line.len() > MAX_LINE {
            expected.too_long += 1;
            continue;
        }
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let is_batch = line.trim_ascii_start().starts_with(b"[");
        expected.batches += usize::from(is_batch);
        let begins = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        let broken = Message::from_slice(line).err();
        let by_one = broken.is_some_and(|broken| broken.error.code == ErrorObject::PARSE);
        // Where batches are taken, they are cut into messages before one is looked at.
        let text = std::str::from_utf8(line);
        let by_cut = !text.is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
        match (by_one, by_cut && is_batch) {
            _ if !begins => {}
            (true, _) if by_cut || !is_batch => expected.broken += 1,
            (false, false) => {}
            _ => expected.doubtful += 1,
        }
        for message in messages(line).into_iter().flatten() {
            let (id, is_excused) = match message {
                Ok(Message::Request(request)) => (Some(request.id.clone()), waits(&request)),
                Ok(Message::Notification(notification)) => {
                    expected.excused.extend(cancelled(&notification));
                    continue;
                }
                Ok(Message::Response(_)) => continue,
                Err(broken) => {
                    // No answer can carry it.
                    let problem = &broken.error.message;
                    let is_of_id = problem.contains("at most 256 bytes")
                        || problem.contains("a string or an integer of 64 bits");
                    expected.too_long += usize::from(is_of_id && !is_batch);
                    (broken.id, false)
                }
            };
            let Some(id) = id else { continue };
            if is_excused || is_batch {
                expected.excused.push(id.clone());
            }
            *expected.asked.entry(id).or_default() += 1;
        }
    }
    expected
}

/// The messages of a line: one, or those of a batch. None if it is not JSON.
fn messages(line: &[u8]) -> Option<Vec<Result<Message, MessageError>>> {
    match Message::from_slice(line) {
        Err(broken) if broken.id.is_none() => match tree(line)? {
            Value::Array(members) => Some(members.into_iter().map(Message::from_value).collect()),
            _ => Some(vec![Err(broken)]),
        },
        message => Some(vec![message]),
    }
}

/// Whether a request may have no answer when the input ends.
fn waits(request: &Request) -> bool {
    let tool = request.params.get("name").and_then(Value::as_str);
    match request.method.as_str() {
        "subscriptions/listen" => true,
        "tools/call" => tool == Some("pay"),
        _ => false,
    }
}

/// What a cancellation may mean: a text that is a number may also mean the number.
fn cancelled(notification: &Notification) -> Vec<RequestId> {
    match notification.params.get("requestId") {
        Some(Value::String(id)) => {
            let number = id.parse().ok().map(RequestId::Number);
            number.into_iter().chain([id.as_str().into()]).collect()
        }
        id => id.and_then(Value::as_i64).map(RequestId::Number).into_iter().collect(),
    }
}
