//! Any sequence of events, and any question, beside a model in memory that does the same the plain way.

use std::collections::{BTreeMap, BTreeSet};

use chat_server::index::{
    ChatKey, Index, Kind, MAX_LIMIT, MessageQuery, Options, StoredMessage, says,
};
use chat_server::model::{Attachment, AttachmentKind, AttachmentPlace, Body, Message};
use chat_server::source::{Change, Event};
use proptest::prelude::*;
use tempfile::TempDir;

use super::samples::{at, chat, keep, message, said};

const SOURCES: [&str; 2] = ["telegram", "signal"];
const CHATS: [&str; 3] = ["1", "-2", "three"];
const NAMES: [&str; 4] = ["Antti", "Alice Müller", "bob", "ALINA"];
const TEXTS: [&str; 7] = [
    "",
    "Meeting at noon",
    "käsi ja KÄDET",
    "kasi",
    "straße \"quoted\" AND 100%_",
    "会議は正午",
    "x",
];

/// What one source says.
#[derive(Debug, Clone)]
enum SourceEvent {
    Message(Box<Message>),
    Edited(String, String, i64),
    Deleted(String),
}

#[derive(Debug, Clone)]
struct Step {
    source: usize,
    chat: usize,
    said: SourceEvent,
}

/// The plain way.
#[derive(Debug, Default)]
struct Plain {
    /// By source and sequence number.
    messages: BTreeMap<(usize, u64), (usize, Message)>,
    /// Source and number in the order of commits.
    order: Vec<(usize, u64)>,
}

impl Plain {
    fn find(&self, source: usize, chat: usize, id: &str) -> Option<(usize, u64)> {
        let found = self
            .messages
            .iter()
            .find(|((of, _), (its, message))| *of == source && *its == chat && message.id == id);
        found.map(|(key, _)| *key)
    }

    fn apply(&mut self, step: &Step) {
        let Step { source, chat, said } = step;
        let id = match said {
            SourceEvent::Message(message) => &message.id,
            SourceEvent::Edited(id, ..) | SourceEvent::Deleted(id) => id,
        };
        let key = self.find(*source, *chat, id);
        let known = key.and_then(|key| self.messages.get_mut(&key));
        match (said, known) {
            (SourceEvent::Message(message), None) => {
                let last = self.messages.keys().filter(|(of, _)| of == source).count();
                let key = (*source, last as u64 + 1);
                self.messages.insert(key, (*chat, (**message).clone()));
                self.order.push(key);
            }
            (SourceEvent::Message(message), Some((_, known))) => {
                if !known.deleted && known.edited <= message.edited {
                    *known = (**message).clone();
                }
            }
            (SourceEvent::Edited(_, text, second), Some((_, known))) => {
                if !known.deleted && known.edited <= Some(at(*second)) {
                    known.body = Body::Text(text.clone());
                    known.edited = Some(at(*second));
                }
            }
            (SourceEvent::Deleted(_), Some((_, known))) => {
                known.deleted = true;
                known.body = Body::Text(String::new());
                known.attachments.clear();
            }
            (SourceEvent::Edited(..) | SourceEvent::Deleted(_), None) => {}
        }
    }

    /// Everything that fits, newest first.
    fn ask(&self, query: &MessageQuery) -> Vec<(String, u64)> {
        let mut fitting: Vec<_> = self
            .order
            .iter()
            .enumerate()
            .filter(|(_, key)| {
                let (chat, message) = &self.messages[key];
                fits(query, SOURCES[key.0], CHATS[*chat], message)
            })
            .map(|(place, key)| (self.messages[key].1.timestamp, place, *key))
            .collect();
        fitting.sort_unstable();
        fitting.reverse();
        let keys = fitting.into_iter().map(|(_, _, key)| key);
        keys.map(|(source, sequence)| (SOURCES[source].to_owned(), sequence)).collect()
    }
}

fn fits(query: &MessageQuery, source: &str, chat: &str, message: &Message) -> bool {
    let Body::Text(text) = &message.body else {
        return false;
    };
    let sender = message.sender.as_ref();
    let part = |part: &Option<String>, of: &str| {
        part.as_deref().is_none_or(|part| plain(of).contains(&plain(part)))
    };
    let mut kinds = Vec::new();
    if !message.deleted {
        if !text.is_empty() || message.attachments.is_empty() {
            kinds.push(Kind::Text);
        }
        kinds.extend(message.attachments.iter().map(|_| Kind::Image));
    }
    query.source.as_deref().is_none_or(|only| only == source)
        && query
            .chats
            .as_ref()
            .is_none_or(|chats| chats.iter().any(|key| key.source == source && key.id == chat))
        && query.since.is_none_or(|since| message.timestamp >= since)
        && query.before.is_none_or(|before| message.timestamp < before)
        && (query.sender.is_none()
            || sender.is_some_and(|sender| part(&query.sender, &sender.name)))
        && query.search.as_deref().is_none_or(|asked| says(text, asked).unwrap())
        && (query.kinds.is_empty() || query.kinds.iter().any(|kind| kinds.contains(kind)))
}

/// Without case and diacritics, for the letters that are used here.
fn plain(text: &str) -> String {
    let small = text.to_lowercase().replace('ß', "ss");
    small
        .chars()
        .map(|c| match c {
            'ä' => 'a',
            'ü' => 'u',
            c => c,
        })
        .collect()
}

fn a_message() -> impl Strategy<Value = Message> {
    let edited = prop::option::of(0..40_i64);
    (0..12_u8, 0..20_i64, 0..=NAMES.len(), 0..TEXTS.len(), any::<bool>(), edited).prop_map(
        |(id, second, name, text, picture, edited)| {
            let name = NAMES.get(name);
            let mut message = message(&id.to_string(), second, name.unwrap_or(&""), TEXTS[text]);
            if name.is_none() {
                message.sender = None;
            }
            message.edited = edited.map(at);
            if picture {
                message.attachments.push(Attachment {
                    transcript: None,
                    kind: AttachmentKind::Image,
                    name: None,
                    media_type: None,
                    size: None,
                    seconds: None,
                    place: AttachmentPlace::Missing(None),
                });
            }
            message
        },
    )
}

fn a_step() -> impl Strategy<Value = Step> {
    let id = || (0..12_u8).prop_map(|id| id.to_string());
    let said = prop_oneof![
        8 => a_message().prop_map(|message| SourceEvent::Message(Box::new(message))),
        1 => (id(), 0..TEXTS.len(), 0..40_i64)
            .prop_map(|(id, text, second)| SourceEvent::Edited(id, TEXTS[text].to_owned(), second)),
        1 => id().prop_map(SourceEvent::Deleted),
    ];
    (0..SOURCES.len(), 0..CHATS.len(), said).prop_map(|(source, chat, said)| Step {
        source,
        chat,
        said,
    })
}

fn a_query() -> impl Strategy<Value = MessageQuery> {
    let keys = (0..SOURCES.len(), 0..CHATS.len()).prop_map(|(source, chat)| ChatKey {
        source: SOURCES[source].to_owned(),
        id: CHATS[chat].to_owned(),
    });
    let senders = prop::sample::select(vec!["al", "ANTTI", "muller", "nobody", "b"]);
    let searches = prop::sample::select(vec![
        "meet",
        "KASI",
        "ässä",
        "strasse",
        "正午",
        "x",
        "AND",
        "ting at no",
    ]);
    let kinds = prop::collection::vec(
        prop::sample::select(vec![Kind::Text, Kind::Image, Kind::Poll]),
        0..2,
    );
    (
        prop::option::of(prop::sample::select(SOURCES.to_vec())),
        prop::option::weighted(0.3, prop::collection::vec(keys, 0..4)),
        prop::option::weighted(0.3, 0..20_i64),
        prop::option::weighted(0.3, 0..20_i64),
        prop::option::weighted(0.3, senders),
        prop::option::weighted(0.4, searches),
        kinds,
        1..30_usize,
        prop_oneof![3 => Just(0), 1 => 0..10_usize],
    )
        .prop_map(|(source, chats, since, before, sender, search, kinds, limit, offset)| {
            let before = before.filter(|before| since.is_none_or(|since| since < *before));
            MessageQuery {
                source: source.map(str::to_owned),
                chats,
                since: since.map(at),
                before: before.map(at),
                sender: sender.map(str::to_owned),
                search: search.map(str::to_owned),
                kinds,
                topic: None,
                limit,
                offset,
                oldest: false,
                cursor: None,
            }
        })
}

fn event(step: &Step) -> Event {
    let chat = CHATS[step.chat].to_owned();
    match step.said.clone() {
        SourceEvent::Message(message) => Event::Message { chat, message },
        SourceEvent::Edited(id, text, second) => {
            Event::changed(&chat, &id, Change::Edited { text, at: at(second) })
        }
        SourceEvent::Deleted(id) => Event::changed(&chat, &id, Change::Deleted),
    }
}

async fn fill(index: &Index, steps: &[Step]) -> Plain {
    let mut plain = Plain::default();
    for source in SOURCES {
        let chats = CHATS.map(|id| chat(id, id)).to_vec();
        keep(&index.sink(source), chats).await;
    }
    for run in steps.chunk_by(|one, other| one.source == other.source) {
        let sink = index.sink(SOURCES[run[0].source]);
        keep(&sink, run.iter().map(event).collect()).await;
        run.iter().for_each(|step| plain.apply(step));
    }
    plain
}

fn keys(messages: &[StoredMessage]) -> Vec<(String, u64)> {
    let keys = messages.iter().map(|found| (found.source.clone(), found.sequence));
    keys.collect()
}

/// From page to page to the end; a message comes in after each.
async fn walk(index: &Index, query: &MessageQuery) -> Vec<(String, u64)> {
    let (mut query, mut found) = (query.clone(), Vec::new());
    let newer = index.sink("newer");
    for n in 0.. {
        let page = index.messages(&query).await.unwrap();
        assert!(page.messages.len() <= query.limit);
        assert!(page.next.is_none() || page.messages.len() == query.limit);
        found.extend(keys(&page.messages));
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
        let text = "meeting käsi strasse \" % _ 正午 AND";
        keep(&newer, vec![said("1", message(&n.to_string(), 100, "Alina bob Antti Müller", text))])
            .await;
    }
    found
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_index_answers_as_the_model(
        steps in prop::collection::vec(a_step(), 0..120),
        queries in prop::collection::vec(a_query(), 1..12),
    ) {
        let dir = TempDir::new().unwrap();
        block_on(async {
            let index = Index::open(dir.path(), Options::default()).unwrap();
            let plain = fill(&index, &steps).await;
            let all = MessageQuery { limit: MAX_LIMIT, ..MessageQuery::default() };
            let stored = index.messages(&all).await.unwrap().messages;
            assert_eq!(stored.len(), plain.messages.len());
            for found in &stored {
                let source = SOURCES.iter().position(|id| *id == found.source).unwrap();
                let (chat, message) = &plain.messages[&(source, found.sequence)];
                assert_eq!(found.chat, CHATS[*chat]);
                assert_eq!(&found.message, message);
            }
            // Numbers without gaps, whatever was refused or came again.
            for source in SOURCES {
                let of = stored.iter().filter(|found| found.source == source);
                let numbers: BTreeSet<u64> = of.map(|found| found.sequence).collect();
                assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
            }
            for query in &queries {
                let expected = plain.ask(query);
                let from = query.offset.min(expected.len());
                let first = index.messages(query).await.unwrap();
                let to = (from + query.limit).min(expected.len());
                assert_eq!(keys(&first.messages), expected[from..to], "{query:?}");
                assert_eq!(first.next.is_some(), to < expected.len());
            }
            // Last, since it brings in more.
            for query in &queries {
                let query = &MessageQuery { offset: 0, ..query.clone() };
                let expected = plain.ask(query);
                let mut found = walk(&index, query).await;
                found.retain(|(source, _)| source != "newer");
                assert_eq!(found, expected, "{query:?}");
            }
        });
    }
}
