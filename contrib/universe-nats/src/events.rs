//! The events of streams: a message each, in a stream of their own, which no node follows.
use async_nats::HeaderMap;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use universe_store::clients::logs::Event;
use universe_store::clients::nodes::Unavailable;

use super::card;
use super::error::Refusal;
use super::records::{Label, Life, Records};

/// The number of streams that are written, or events that are read or removed, at a time.
pub(super) const ABREAST: usize = 8;

/// How long the bodies of a stream are needed.
pub(super) fn life(place: &str) -> Life<'_> {
    Life::Session(place.split('.').next().unwrap_or_default())
}

/// Stores an event, unless it is stored already.
pub(super) async fn put_event(
    records: &Records,
    place: &str,
    number: u64,
    text: &[u8],
) -> Result<(), Unavailable> {
    let (body, inline) = records.keep(text, life(place)).await?;
    let label = Label { body, ..Label::default() };
    let subject = records.engine.names.event(place, Some(number));
    let headers: HeaderMap = card::write(&label);
    match records.link().put(&subject, headers, inline, Some(0)).await {
        Ok(_) => Ok(()),
        Err(Refusal::WrongSequence(_)) => {
            records.forget(&label).await;
            // An earlier try may have stored it.
            match read_event(records, place, number).await? {
                Some(_) => Ok(()),
                None => Err(Unavailable),
            }
        }
        Err(Refusal::Failed(_)) => Err(Unavailable),
    }
}

/// The event of this number, if it is stored.
pub(super) async fn read_event(
    records: &Records,
    place: &str,
    number: u64,
) -> Result<Option<Event>, Unavailable> {
    let names = &records.engine.names;
    let subject = names.event(place, Some(number));
    let Some(message) = records.link().last(&names.events(), &subject).await? else {
        return Ok(None);
    };
    let label: Label = card::read(&message.headers).ok_or(Unavailable)?;
    let text = records.load(&label.body, message.payload).await?;
    Ok(Some(Event { number, text }))
}

/// Removes events that are no longer needed.
pub(super) async fn drop_events(
    records: &Records,
    place: &str,
    numbers: std::ops::Range<u64>,
) -> Result<(), Unavailable> {
    let names = &records.engine.names;
    let stream = &names.events();
    let gone = stream::iter(numbers).map(|number| async move {
        let subject = names.event(place, Some(number));
        if let Some(message) = records.link().last(stream, &subject).await? {
            let label: Option<Label> = card::read(&message.headers);
            records.forget(&label.unwrap_or_default()).await;
            records.link().purge(stream, &subject, None).await?;
        }
        Ok(())
    });
    let gone = gone.buffer_unordered(ABREAST);
    gone.try_for_each(async |()| Ok(())).await
}
