//! Exchanges that something else recorded, one JSON object per line: `{"request": …, "response": …}`.

use serde_json::Value;

use super::session::era_of;
use super::{Key, Recorder, modern};
use crate::error::{Problem, TranscriptError};
use crate::transcript::Era;

impl Recorder {
    /// Takes HTTP exchanges from text, in the order of its lines. A `request` has `method`, `headers` (an array of
    /// pairs) and `body`; a `response` has `status`, `headers`, and a `body` or `events`, each with its `data`. A body
    /// may be JSON or a string that holds it. Exchanges without a message are left out.
    ///
    /// # Errors
    ///
    /// A line that is not such an object.
    pub fn import(&self, source: &str, text: &str) -> Result<(), TranscriptError> {
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let at = |problem| TranscriptError::line(source, index + 1, problem);
            let exchange: Value = serde_json::from_str(line)
                .map_err(|error| at(Problem::new(format!("not JSON: {error}"))))?;
            let member = |name: &'static str| {
                let missing = || at(Problem::new("is missing").within(name));
                exchange
                    .get(name)
                    .filter(|value| value.is_object())
                    .ok_or_else(missing)
            };
            self.take(member("request")?, member("response")?, index as u64);
        }
        Ok(())
    }

    fn take(&self, request: &Value, response: &Value, number: u64) {
        for side in [request, response] {
            each_header(side, |name, value| self.secret(name, value));
        }
        let sent = body(request);
        let session =
            header(response, "mcp-session-id").or_else(|| header(request, "mcp-session-id"));
        let status = response
            .get("status")
            .and_then(Value::as_u64)
            .and_then(|status| u16::try_from(status).ok());
        let era = sent.as_ref().map_or(Era::Legacy, |sent| {
            era_of(sent, header(request, "mcp-protocol-version"))
        });
        let key = match (era, session, &sent) {
            (Era::Modern, _, Some(sent)) => modern(sent),
            (_, Some(session), _) => Key::Session(session.to_owned()),
            _ => Key::Sessionless,
        };
        let shakes_hands = sent.as_ref().is_some_and(|sent| {
            sent.get("method")
                .is_some_and(|method| method == "initialize")
        });
        if shakes_hands && era == Era::Legacy && key == Key::Sessionless {
            self.rename(&key, Key::Handshake(number));
        }
        if era == Era::Legacy && !shakes_hands && !self.knows(&key) {
            return self.stray();
        }
        let carrier = sent
            .as_ref()
            .filter(|sent| sent.get("method").is_some())
            .and_then(|sent| sent.get("id"))
            .cloned();
        self.with(&key, era, true, |session| {
            if let Some(sent) = &sent {
                session.client(sent);
            }
            let method = request
                .get("method")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if method == "GET" && status == Some(200) {
                session.listened();
            }
            let said = messages(response);
            if said.is_empty() && status != Some(202) && (method != "GET" || status != Some(200)) {
                session.plain(
                    method,
                    status.unwrap_or_default(),
                    sent.clone().filter(|_| carrier.is_some()),
                );
            }
            for message in said {
                session.server(message, carrier.as_ref(), status);
            }
        });
    }
}

/// The messages of an answer, whether it was a stream or not.
fn messages(response: &Value) -> Vec<Value> {
    let events = response
        .get("events")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let said = events.filter_map(|event| serde_json::from_str(event.get("data")?.as_str()?).ok());
    said.chain(body(response))
        .filter(|message: &Value| message.get("jsonrpc").is_some())
        .collect()
}

fn body(side: &Value) -> Option<Value> {
    match side.get("body")? {
        Value::Null => None,
        Value::String(text) => serde_json::from_str(text).ok(),
        value => Some(value.clone()),
    }
}

fn header<'v>(side: &'v Value, name: &str) -> Option<&'v str> {
    let pairs = side.get("headers")?.as_array()?;
    pairs.iter().find_map(|pair| {
        let is = pair.get(0)?.as_str()?.eq_ignore_ascii_case(name);
        pair.get(1)?.as_str().filter(|_| is)
    })
}

fn each_header(side: &Value, mut visit: impl FnMut(&str, &str)) {
    let pairs = side.get("headers").and_then(Value::as_array);
    for pair in pairs.into_iter().flatten() {
        if let (Some(name), Some(value)) = (
            pair.get(0).and_then(Value::as_str),
            pair.get(1).and_then(Value::as_str),
        ) {
            visit(name, value);
        }
    }
}
