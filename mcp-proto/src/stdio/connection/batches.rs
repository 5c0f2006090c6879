//! Batches on a connection of 2025-03-26: their answers are written together, as one line, once all are there.

use std::collections::HashMap;

use bytes::Bytes;

use super::Connection;
use crate::json::Meter;
use crate::jsonrpc::{ErrorObject, Message, Request, Response};
use crate::lifecycle::ModernMeta;

/// The batches whose calls are running. There are no more than calls.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: HashMap<u64, Batch>,
    next_key: u64,
}

#[derive(Debug, Default)]
struct Batch {
    /// How many calls have neither answered nor been cancelled.
    running: usize,
    answers: Vec<Response>,
}

impl Batches {
    /// Begins a batch; its key.
    pub(super) fn open(&mut self) -> u64 {
        self.next_key += 1;
        // Counts as a call until the batch is read to its end.
        let batch = Batch {
            running: 1,
            answers: Vec::new(),
        };
        self.open.insert(self.next_key, batch);
        self.next_key
    }

    /// A call of the batch runs.
    pub(super) fn begin(&mut self, key: u64) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.running += 1;
        }
    }

    /// An answer that is no call's.
    pub(super) fn refuse(&mut self, key: u64, answer: Response) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.answers.push(answer);
        }
    }

    /// A call of the batch is over, or the batch was read to its end. The last one gives the answers.
    pub(super) fn end(&mut self, key: u64, answer: Option<Response>) -> Option<Vec<Response>> {
        let batch = self.open.get_mut(&key)?;
        batch.answers.extend(answer);
        batch.running -= 1;
        if batch.running > 0 {
            return None;
        }
        let batch = self.open.remove(&key)?;
        (!batch.answers.is_empty()).then_some(batch.answers)
    }
}

impl Connection {
    pub(super) fn takes_batches(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.protocol_version.has_batches())
    }

    /// Takes each message of a batch for itself; their answers go out together.
    pub(super) fn take_batch(&mut self, line: &Bytes) {
        let meter = Meter::new(self.config.max_line_memory);
        let max = self.config.max_batch_messages;
        let messages = match Message::batch_from_slice(line, max, &meter) {
            Ok(messages) => messages,
            Err(broken) => return self.out.push(&Response::from(broken)),
        };
        let batch = self.batches.open();
        for message in messages {
            match message {
                Ok(Message::Request(request)) => {
                    let id = request.id.clone();
                    if let Err(error) = self.start_in_batch(request, batch) {
                        self.batches.refuse(batch, Response::error(Some(id), error));
                    }
                }
                Ok(Message::Notification(notification)) => self.take_notification(&notification),
                Ok(Message::Response(response)) => self.take_response(response),
                Err(broken) => self.batches.refuse(batch, broken.into()),
            }
        }
        self.end_in_batch(batch);
    }

    fn start_in_batch(&mut self, request: Request, batch: u64) -> Result<(), ErrorObject> {
        if request.method == "initialize" {
            return Err(ErrorObject::not_in_batch("initialize"));
        }
        if ModernMeta::is_claimed(&request.params) {
            return Err(ErrorObject::not_in_batch("a request of 2026-07-28"));
        }
        self.start(request, Some(batch))
    }

    /// A call of the batch is over without an answer, or the batch was read to its end.
    pub(super) fn end_in_batch(&mut self, batch: u64) {
        if let Some(answers) = self.batches.end(batch, None) {
            self.out.push(&answers);
        }
    }
}
