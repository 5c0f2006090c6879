//! The event stream reader: what it makes of bytes, however they are cut and whatever ends the lines.

use std::collections::VecDeque;

use mcp_conformance::{DecodeError, Decoder, Frame, MAX_EVENT_BYTES, SseEvent};
use proptest::prelude::*;

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Frame>, DecodeError> {
    let (mut decoder, mut frames) = (Decoder::default(), VecDeque::new());
    for piece in pieces {
        decoder.push(piece, &mut frames)?;
    }
    Ok(frames.into())
}

fn event(event: Option<&str>, id: Option<&str>, data: &str) -> Frame {
    Frame::Event(SseEvent {
        event: event.map(str::to_owned),
        id: id.map(str::to_owned),
        data: data.to_owned(),
        retry: None,
    })
}

#[track_caller]
fn reads(text: &str, frames: &[Frame]) {
    assert_eq!(decode([text.as_bytes()]).unwrap(), frames, "{text:?}");
}

#[test]
fn fields_make_events() {
    reads("event: command\nid: 7\ndata: {}\n\n", &[event(Some("command"), Some("7"), "{}")]);
    reads("data: a\ndata:\ndata:  b\n\n", &[event(None, None, "a\n\n b")]);
    reads("data\n\n", &[event(None, None, "")]);
    reads("data: a\n\ndata: b\n\n", &[event(None, None, "a"), event(None, None, "b")]);
    reads(
        "retry: 300\nretry: soon\nother: x\ndata: a\n\n",
        &[Frame::Event(SseEvent { data: "a".to_owned(), retry: Some(300), ..SseEvent::default() })],
    );
}

#[test]
fn comments_are_reported() {
    reads(
        ":connected\n\n: keep-alive\n",
        &[Frame::Comment("connected".into()), Frame::Comment("keep-alive".into())],
    );
}

#[test]
fn an_event_primes_if_it_has_data_even_empty_and_not_without() {
    reads("id: 1\ndata:\n\n", &[event(None, Some("1"), "")]);
    reads("id: 1\n\ndata: a\n\n", &[event(None, None, "a")]);
}

#[test]
fn lines_end_in_any_way() {
    for end in ["\n", "\r\n", "\r"] {
        let text = format!("event: x{end}data: a{end}data: b{end}{end}");
        reads(&text, &[event(Some("x"), None, "a\nb")]);
    }
    let cut: [&[u8]; 3] = [b"data: a\r", b"\n\r", b"\ndata: b\n"];
    assert_eq!(decode(cut).unwrap(), [event(None, None, "a")]);
}

#[test]
fn what_is_not_finished_is_not_reported() {
    reads("data: a\n", &[]);
    reads("data: a", &[]);
}

#[test]
fn a_byte_order_mark_is_passed_over_once() {
    reads("\u{feff}data: a\n\n", &[event(None, None, "a")]);
    reads("data: a\n\u{feff}data: b\n\n", &[event(None, None, "a")]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(decode([&b"data: \xff\n"[..]]), Err(DecodeError::NotUtf8));
}

#[test]
fn size_is_bounded() {
    let piece = vec![b'x'; MAX_EVENT_BYTES / 4];
    let line = std::iter::repeat_n(piece.as_slice(), 5);
    assert_eq!(decode(line), Err(DecodeError::TooLong));
    let lines = std::iter::repeat_n([b"data:", piece.as_slice(), b"\n"], 5).flatten();
    assert_eq!(decode(lines), Err(DecodeError::TooLong));
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let text = "[^\r\n\0]{0,12}";
    let field = "[^\r\n\0 ][^\r\n\0]{0,8}";
    let lines = prop::collection::vec(text, 1..4).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        text.prop_map(Frame::Comment),
        (prop::option::of(field), prop::option::of(field), lines, prop::option::of(any::<u64>()))
            .prop_map(|(event, id, data, retry)| Frame::Event(SseEvent { event, id, data, retry })),
    ]
}

fn encode(frame: &Frame, end: &str) -> String {
    match frame {
        Frame::Comment(text) => format!(": {text}{end}"),
        Frame::Event(SseEvent { event, id, data, retry }) => {
            let mut text = String::new();
            for (name, value) in [
                ("event", event.clone()),
                ("id", id.clone()),
                ("retry", retry.map(|ms| ms.to_string())),
            ] {
                text.extend(value.map(|value| format!("{name}: {value}{end}")));
            }
            data.split('\n').for_each(|line| text.push_str(&format!("data: {line}{end}")));
            text + end
        }
    }
}

/// The bytes in pieces cut at these places.
fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        frames in prop::collection::vec(any_frame(), 0..6),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let text: String = frames.iter().map(|frame| encode(frame, end)).collect();
        prop_assert_eq!(decode(cut(text.as_bytes(), &places)).unwrap(), frames);
    }

    #[test]
    fn cuts_do_not_matter_and_nothing_panics(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\r\n: dat\xef\xbb\xbf".to_vec())], 0..200),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        prop_assert_eq!(decode(cut(&bytes, &places)), decode([bytes.as_slice()]));
    }
}
