//! Messages from a seed: words with the frequencies of a language, chats and people of very different size.

use chat_server::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, Chat, ChatKind, Message, Participant,
};
use chat_server::source::{Event, MAX_BATCH};
use jiff::Timestamp;

/// The sources, each with half of the messages.
pub(crate) const SOURCES: [&str; 2] = ["telegram", "signal"];
/// The chats of a source; the first is the largest.
pub(crate) const CHATS: u64 = 200;
const PEOPLE: u64 = 500;
const WORDS: u64 = 20_000;
/// The messages of a source are spread over this many seconds before [`END`]: five years.
const SPAN: i64 = 157_680_000;
/// The time of the last message.
pub(crate) const END: i64 = 1_735_689_600;

/// One source's messages, oldest first.
pub(crate) struct Made {
    random: u64,
    next: u64,
    count: u64,
}

impl Made {
    pub(crate) const fn new(part: u64, count: u64) -> Self {
        Self { random: 0x9e37_79b9_7f4a_7c15 ^ part, next: 0, count }
    }

    /// The next batch, full but for the last; the chats come with the first.
    pub(crate) fn batch(&mut self) -> Option<Vec<Event>> {
        if self.next == self.count {
            return None;
        }
        let mut events = Vec::with_capacity(MAX_BATCH);
        if self.next == 0 {
            events.extend((0..CHATS).map(chat));
        }
        while events.len() < MAX_BATCH && self.next < self.count {
            events.push(self.message());
            self.next += 1;
        }
        Some(events)
    }

    fn message(&mut self) -> Event {
        let chat = self.skewed(CHATS);
        let person = self.skewed(PEOPLE);
        let words = 1 + self.skewed(60);
        let text = (0..words).map(|_| word(self.skewed(WORDS)));
        let text = text.collect::<Vec<_>>().join(" ");
        let age = SPAN - (self.next as i64 * SPAN / self.count as i64);
        let pictures = usize::from(self.below(20) == 0);
        Event::Message {
            chat: chat.to_string(),
            message: Box::new(Message {
                id: self.next.to_string(),
                timestamp: Timestamp::from_second(END - age).unwrap_or_default(),
                sender: Some(Participant {
                    id: format!("user{person}"),
                    name: format!("{} {}", capital(person), capital(person + 7_000)),
                    username: Some(format!("u{person}")),
                    phone: Some(format!("+358 40 {person:07}")),
                    is_me: person == 0,
                }),
                body: Body::Text(text),
                reply_to: (self.below(5) == 0).then(|| (self.next / 2).to_string()),
                attachments: std::iter::repeat_with(picture).take(pictures).collect(),
                ..Message::default()
            }),
        }
    }

    /// One of `most` numbers, small ones being much more frequent: about as 1/n.
    fn skewed(&mut self, most: u64) -> u64 {
        let share = self.random() as f64 / u64::MAX as f64;
        let number = ((most + 1) as f64).powf(share) - 1.0;
        (number as u64).min(most - 1)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random() % most
    }

    /// SplitMix64, by Steele, Lea and Flood, 2014.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

pub(crate) fn text_bytes(events: &[Event]) -> u64 {
    let texts = events.iter().map(|event| match event {
        Event::Message { message, .. } => match &message.body {
            Body::Text(text) => text.len() as u64,
            _ => 0,
        },
        _ => 0,
    });
    texts.sum()
}

fn chat(number: u64) -> Event {
    Event::Chat(Chat {
        id: number.to_string(),
        name: format!("{} {number}", capital(number + 300)),
        kind: ChatKind::Group,
        participants: None,
    })
}

fn picture() -> Attachment {
    let place = AttachmentPlace::Export("photos/photo.jpg".to_owned());
    Attachment::new(AttachmentKind::Image, Some("photo.jpg".to_owned()), place)
}

/// The `n`th word: syllables, frequent words being short; one in eight with a diacritic.
pub(crate) fn word(n: u64) -> String {
    const SYLLABLES: [&str; 24] = [
        "ka", "ta", "mi", "so", "re", "lu", "ne", "po", "vi", "sa", "to", "ja", "ku", "me", "hi",
        "la", "ran", "ten", "kor", "sil", "män", "öl", "är", "und",
    ];
    let base = SYLLABLES.len() as u64;
    let (mut rest, mut word) = (n + 1, String::new());
    while rest > 0 {
        let syllable = usize::try_from((rest * 7) % base).unwrap_or(0);
        word.push_str(SYLLABLES.get(syllable).unwrap_or(&"x"));
        rest /= base;
    }
    word
}

fn capital(n: u64) -> String {
    let word = word(n);
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
