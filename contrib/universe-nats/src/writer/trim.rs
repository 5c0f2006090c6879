//! Letting a log begin later.
use bytes::Bytes;
use universe_store::adapter::failure::Failure;
use universe_store::{Base, CommandId, ReadError, TrimError, UniverseId};

use super::{TRIES, drop_kept, wait};
use crate::bodies::{self, Kind};
use crate::card::{self, Body, Card, SnapshotCard};
use crate::engine::Engine;
use crate::error::{Away, Refusal};
use crate::index::Known;

impl Engine {
    pub(crate) async fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: &Base,
    ) -> Result<(), TrimError> {
        let _share = self.share(base.body.len()).await?;
        let mut kept: Option<(Body, Bytes)> = None;
        let mut of = None;
        for attempt in 0..TRIES {
            wait(attempt).await;
            let known = self.find(id).await.map_err(failed)?;
            let (uni, revision) = (known.card.uni, base.revision.0);
            if revision <= known.card.oldest {
                drop_kept(self, uni, kept.as_ref()).await;
                return Ok(());
            }
            let entry = if revision < known.card.revision {
                self.entry(id, base.revision).await.map_err(failed)?
            } else {
                None
            };
            if entry.is_none_or(|(entry, _)| entry.command_id != last)
                || of.is_some_and(|of| of != uni)
            {
                drop_kept(self, of.unwrap_or(uni), kept.as_ref()).await;
                return Err(TrimError::NotThere);
            }
            of = Some(uni);
            let (place, inline) = match &kept {
                Some(kept) => kept.clone(),
                None => {
                    let kind = (uni, Kind::Base(revision));
                    let new = bodies::keep(&self.link, &self.names, kind, base.body.clone());
                    kept.insert(new.await?).clone()
                }
            };
            let mut card = known.card.following(known.sequence);
            card.oldest = revision;
            card.oldest_at = base.at.as_millis();
            card.base = 0;
            card.body = place;
            match self.put(id, &card, inline, known.sequence, None).await {
                Ok(trimmed) => {
                    if self.drop_past(id, &known, &trimmed.known).await.is_err() {
                        tracing::warn!(%id, "what was trimmed is taken away by the next trimming");
                    }
                    return Ok(());
                }
                Err(Refusal::WrongSequence(_)) => {}
                Err(Refusal::Failed(failure)) => {
                    if failure != Failure::Unknown {
                        drop_kept(self, uni, kept.as_ref()).await;
                    }
                    return Err(failure.into());
                }
            }
        }
        drop_kept(self, of.unwrap_or_default(), kept.as_ref()).await;
        Err(TrimError::Unavailable)
    }

    /// Removes the messages before the beginning of a log.
    async fn drop_past(
        &self,
        id: &UniverseId,
        before: &Known,
        trimmed: &Known,
    ) -> Result<(), Away> {
        let (uni, oldest) = (trimmed.card.uni, trimmed.card.oldest);
        let (log, subject) = (self.names.log(), self.names.log_of(id));
        let mut first = self.place(id, oldest, before).await?;
        // The remembered position may be a little early.
        while let Some(message) = self.link.next(&log, &subject, first).await? {
            let card: Option<Card> = card::read(&message.headers);
            let is_past = card.is_none_or(|card| card.uni != uni || card.revision <= oldest);
            if !is_past || message.sequence >= trimmed.sequence {
                break;
            }
            first = message.sequence.saturating_add(1);
        }
        self.link.purge(&log, &subject, Some(first)).await?;
        // The message with the previous base may be among the messages that are kept.
        if before.card.base >= first {
            let stream = self.link.stream(&log).await?;
            let gone = stream.delete_message(before.card.base).await;
            gone.map_err(|_| Away)?;
        }
        let (bodies, snapshot) = (self.names.bodies(), self.names.snapshot(uni));
        let kept = self.link.last(&bodies, &snapshot).await?;
        if let Some(kept) = kept
            && let Some(card) = card::read::<SnapshotCard>(&kept.headers)
            && card.revision <= oldest
        {
            let before = kept.sequence.saturating_add(1);
            self.link.purge(&bodies, &snapshot, Some(before)).await?;
            bodies::drop_body(&self.link, &self.names, uni, &card.body).await;
        }
        let base = trimmed.card.body.pieces.as_ref().map(|pieces| pieces.name.as_str());
        for name in bodies::named(&self.link, &self.names, uni).await?.keys() {
            if Kind::is_past(name, oldest, base) {
                bodies::drop_named(&self.link, &self.names, uni, name).await;
            }
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn failed(problem: ReadError) -> TrimError {
    match problem {
        ReadError::NotFound => TrimError::NotFound,
        ReadError::Damaged | ReadError::Unavailable => TrimError::Unavailable,
    }
}
