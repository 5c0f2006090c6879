//! WhatsApp's own words, in the languages whose exports are known: a table for each in `data/whatsapp.toml`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::text::folded;
use crate::model::AttachmentKind as Kind;

/// The tables by the codes of their languages.
const TABLES: &str = include_str!("../../../data/whatsapp.toml");

/// A table in its written form.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Table {
    /// Names of files; `*` stands for the chat.
    file_names: Vec<String>,
    attached: Vec<String>,
    media: Vec<String>,
    image: Vec<String>,
    video: Vec<String>,
    audio: Vec<String>,
    sticker: Vec<String>,
    gif: Vec<String>,
    contact: Vec<String>,
    document: Vec<String>,
    deleted: Vec<String>,
    /// The beginning of the notice for a message that a group admin has deleted.
    deleted_by: Vec<String>,
    /// What is in a notice of the app with a colon in it, and in no name of a person.
    notice: Vec<String>,
    edited: Vec<String>,
    missed_call: Vec<String>,
    call: Vec<String>,
    /// Messages whose contents never came or may be seen only once.
    unseen: Vec<String>,
    live_location: Vec<String>,
    location: Vec<String>,
    /// Parts of the day, in small letters, without blanks and full stops.
    morning: Vec<String>,
    noon: Vec<String>,
    afternoon: Vec<String>,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    /// Before noon.
    Before,
    /// After noon.
    After,
    /// Around noon: 11 is before it, 12 and 1 are not.
    Noon,
}

/// The words of all languages, folded.
#[derive(Default)]
pub(super) struct Words {
    /// The text before the name of a chat in the name of its file, the text after it, and the code of the language.
    pub(super) file_names: Vec<(String, String, String)>,
    /// The words next to the name of an exported file.
    pub(super) attached: HashSet<String>,
    /// The words in place of a missing file.
    pub(super) omitted: HashMap<String, Kind>,
    /// The words in place of a deleted message.
    pub(super) deleted: HashSet<String>,
    pub(super) deleted_by: Vec<String>,
    pub(super) notices: Vec<String>,
    /// The words after an edited message, without their angle brackets.
    pub(super) edited: HashSet<String>,
    /// The languages whose words these are.
    pub(super) edited_in: HashSet<String>,
    /// The beginning of the words for a call, and the kind of call; missed calls first.
    pub(super) calls: Vec<(String, &'static str)>,
    pub(super) unseen: HashSet<String>,
    /// The words before the link to a location.
    pub(super) places: HashSet<String>,
    /// Words for parts of the day.
    pub(super) halves: Vec<(String, Half)>,
}

/// The words, read once.
pub(super) fn words() -> &'static Words {
    static WORDS: LazyLock<Words> = LazyLock::new(Words::read);
    &WORDS
}

impl Words {
    fn read() -> Self {
        let mut words = Self::default();
        // A test finds the words of each language.
        let tables: BTreeMap<String, Table> = toml::from_str(TABLES).unwrap_or_default();
        for (language, table) in &tables {
            let names = table.file_names.iter().filter_map(|name| name.split_once('*'));
            let names = names
                .map(|(before, after)| (before.to_owned(), after.to_owned(), language.clone()));
            words.file_names.extend(names);
            words.attached.extend(fold(&table.attached));
            let kinds = [
                (&table.media, Kind::File),
                (&table.document, Kind::File),
                (&table.contact, Kind::File),
                (&table.image, Kind::Image),
                (&table.gif, Kind::Image),
                (&table.video, Kind::Video),
                (&table.audio, Kind::Audio),
                (&table.sticker, Kind::Sticker),
            ];
            for (texts, kind) in kinds {
                words.omitted.extend(fold(texts).map(|text| (text, kind)));
            }
            words.deleted.extend(fold(&table.deleted));
            words.deleted_by.extend(fold(&table.deleted_by));
            words.notices.extend(table.notice.iter().map(|words| words.to_lowercase()));
            words.edited.extend(fold(&table.edited));
            words.edited_in.extend((!table.edited.is_empty()).then(|| language.clone()));
            words.calls.extend(fold(&table.missed_call).map(|text| (text, "missed_call")));
            words.unseen.extend(fold(&table.unseen));
            words.unseen.extend(fold(&table.live_location));
            words.places.extend(fold(&table.location));
            let halves = [
                (&table.morning, Half::Before),
                (&table.noon, Half::Noon),
                (&table.afternoon, Half::After),
            ];
            for (texts, half) in halves {
                let texts = texts.iter().map(|text| (text.clone(), half));
                words.halves.extend(texts);
            }
        }
        for table in tables.values() {
            words.calls.extend(fold(&table.call).map(|text| (text, "call")));
        }
        // The longest first: "WhatsApp Chat with " before any part of it.
        words.file_names.sort_by_key(|(before, _, _)| std::cmp::Reverse(before.len()));
        words
    }
}

fn fold(texts: &[String]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| folded(text))
}
