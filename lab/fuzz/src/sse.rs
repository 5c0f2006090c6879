//! Event streams: the events are those that the standard says, whatever the chunks. The first byte says how the rest,
//! the stream, is cut.

use mcp_proto::http::{Event, EventReader, EventTooLarge};

use super::pieces::{cut, first};

/// More than any input has.
const ROOM: usize = 1 << 20;

/// A bound that inputs meet.
const TIGHT: usize = 48;

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let (how, stream) = first(data);
    let whole = read([stream], ROOM).expect("there is room");
    let told = whole.iter();
    let told = told.map(|event| (event.event.clone(), event.data.clone(), event.id.clone()));
    assert_eq!(told.collect::<Vec<_>>(), by_the_book(stream));
    assert_eq!(read(cut(how, stream), ROOM), Ok(whole.clone()));
    assert_eq!(read(cut(1, stream), ROOM), Ok(whole.clone()));

    let tight = read(cut(how, stream), TIGHT);
    assert_eq!(tight, read([stream], TIGHT));
    match tight {
        Ok(events) => assert_eq!(events, whole),
        Err(EventTooLarge(bound)) => {
            assert_eq!(bound, TIGHT);
            let longest = stream.split(|&byte| byte == b'\n' || byte == b'\r');
            let total = longest.map(<[u8]>::len).sum::<usize>();
            assert!(total > TIGHT, "refused {total} bytes");
        }
    }
    for event in &whole {
        let size = event.data.len() + event.event.len();
        assert!(size <= 3 * stream.len(), "an event larger than its stream");
    }
}

fn read<'d>(
    pieces: impl IntoIterator<Item = &'d [u8]>,
    room: usize,
) -> Result<Vec<Event>, EventTooLarge> {
    let mut reader = EventReader::new(room);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(reader.push(piece)?);
    }
    Ok(events)
}

/// The type, the data and the id of an event.
type Told = (String, String, Option<String>);

/// WHATWG HTML, "Interpreting an event stream", on a whole stream; the time to reconnect is left out.
fn by_the_book(stream: &[u8]) -> Vec<Told> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut name, mut id) = (String::new(), None);
    let mut data: Vec<&str> = Vec::new();
    let mut lines = text.split('\n').collect::<Vec<_>>();
    // Without an end, the last is none.
    lines.pop();
    for line in lines {
        if line.is_empty() {
            let (name, id) = (std::mem::take(&mut name), id.take());
            if !data.is_empty() {
                events.push((name, std::mem::take(&mut data).join("\n"), id));
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => data.push(value),
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            _ => {}
        }
    }
    events
}
