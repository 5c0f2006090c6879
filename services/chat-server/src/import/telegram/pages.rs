//! Telegram Desktop's export as web pages: `messages.html`, `messages2.html` and so on, a thousand messages each.
//!
//! What pages do not contain, and so is lost: the ids of chats and people, who are identified by their names; the times
//! of service messages, which get the time of the message before; custom emojis, and kinds of files that are not shown.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use scraper::{ElementRef, Html, Node};

use super::media;
use crate::event::Event;
use crate::import::clock::Clock;
use crate::import::unit::Unit;
use crate::import::{ImportError, Reading, io_at};
use crate::model::{
    Attachment, AttachmentKind, Body, Chat, ChatKind, Message, Participant, Reaction,
};

/// The largest page, in bytes. Telegram writes about one MiB.
const MAX_PAGE: u64 = 64 * 1024 * 1024;

/// Reads all pages of an export.
pub(in crate::import) fn read(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let mut state: Option<State> = None;
    let mut done = 0;
    for page in unit.pages() {
        let text = unit.tree.read(&page, |file, size| {
            if size > MAX_PAGE {
                return Err(ImportError::TooLarge {
                    path: page.clone().into(),
                    size,
                    most: MAX_PAGE,
                });
            }
            done += size;
            let mut bytes = Vec::new();
            file.take(MAX_PAGE).read_to_end(&mut bytes).map_err(io_at(Path::new(&page)))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })?;
        let document = Html::parse_document(&text);
        let messages: Vec<ElementRef<'_>> = by_class(document.root_element(), "message").collect();
        if state.is_none() {
            let first = State::new(unit, &document, &messages, reading);
            if reading.take(Event::Chat(first.chat.clone())).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            state = Some(first);
        }
        let Some(state) = &mut state else { continue };
        for element in messages {
            let Some(message) = state.message(element) else {
                continue;
            };
            match message {
                Ok(message) => {
                    let event =
                        Event::Message { chat: state.chat.id.clone(), message: Box::new(message) };
                    if reading.take(event).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Err(problem) => reading.skip(format_args!("{page}: {problem}: left out")),
            }
        }
        reading.report(done);
    }
    Ok(ControlFlow::Continue(()))
}

/// The state while pages are read.
struct State {
    chat: Chat,
    prefix: String,
    me: Option<String>,
    clock: Clock,
    /// The sender of the message before: a message below it may be by the same person.
    sender: Option<Participant>,
    last: Option<Timestamp>,
}

impl State {
    fn new(
        unit: &Unit,
        document: &Html,
        messages: &[ElementRef<'_>],
        reading: &Reading<'_, '_, '_>,
    ) -> Self {
        let header = first(document.root_element(), "page_header").and_then(|it| first(it, "text"));
        let name = header
            .map(text)
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "Telegram".to_owned());
        let names: BTreeSet<String> =
            messages.iter().filter_map(|message| sender(*message)).collect();
        let kind = match names.len() {
            0 => ChatKind::Unknown,
            1 | 2 => ChatKind::Direct,
            _ => ChatKind::Group,
        };
        let other = names.iter().find(|other| **other != name && names.contains(&name));
        let me = other.filter(|_| kind == ChatKind::Direct).cloned();
        Self {
            me: reading.options.me.clone().or(me),
            chat: Chat { id: name.clone(), name, kind, participants: None },
            prefix: format!("{}{}", unit.prefix, unit.folder()),
            clock: Clock::new(&reading.options.zone),
            sender: None,
            last: None,
        }
    }

    /// `None` if it is not a message but the line between two days.
    fn message(&mut self, element: ElementRef<'_>) -> Option<Result<Message, &'static str>> {
        let id = element.attr("id")?.strip_prefix("message")?.to_owned();
        let body = child(element, "body")?;
        if has(element, "service") {
            if id.starts_with('-') {
                return None;
            }
            let said = Body::Service { action: "notice".to_owned(), text: text(body) };
            return Some(match self.last {
                Some(at) => Ok(message(id, at, None, said)),
                None => Err("a service message before the first that has a time"),
            });
        }
        let date = child(body, "date").and_then(|date| date.attr("title"));
        let Some(at) = date.and_then(|date| self.time(date)) else {
            return Some(Err("a message has no date"));
        };
        self.last = Some(at);
        if let Some(name) = sender(element) {
            self.sender = Some(Participant {
                id: name.clone(),
                is_me: self.me.as_deref() == Some(&name),
                name,
                ..Participant::default()
            });
        }
        let forwarded = child(body, "forwarded");
        let inner = forwarded.unwrap_or(body);
        let words = child(inner, "text").map(text).unwrap_or_default();
        let (special, mut attachments) =
            child(inner, "media_wrap").map(media_of).unwrap_or_default();
        for attachment in &mut attachments {
            media::put_below(attachment, &self.prefix);
        }
        let mut read = message(id, at, self.sender.clone(), special.unwrap_or(Body::Text(words)));
        read.attachments = attachments;
        read.forwarded_from = forwarded.and_then(|it| child(it, "from_name")).map(own_text);
        let reply = child(body, "reply_to")
            .and_then(|reply| descendants(reply).find_map(|it| it.attr("href")));
        read.reply_to = reply.and_then(|link| Some(link.split_once("go_to_message")?.1.to_owned()));
        read.reactions = child(body, "reactions").map(reactions).unwrap_or_default();
        Some(Ok(read))
    }

    /// `13.01.2025 09:30:05 UTC+02:00`; older pages have no zone.
    fn time(&mut self, text: &str) -> Option<Timestamp> {
        if let Some((local, offset)) = text.split_once(" UTC") {
            let zoned =
                jiff::fmt::strtime::parse("%d.%m.%Y %H:%M:%S %:z", format!("{local} {offset}"));
            return zoned.ok()?.to_timestamp().ok();
        }
        let local = DateTime::strptime("%d.%m.%Y %H:%M:%S", text.trim()).ok()?;
        self.clock.timestamp(local)
    }
}

fn message(id: String, at: Timestamp, sender: Option<Participant>, body: Body) -> Message {
    Message { id, timestamp: at, sender, body, ..Message::default() }
}

/// The content of a message that is not text, and its files.
fn media_of(wrap: ElementRef<'_>) -> (Option<Body>, Vec<Attachment>) {
    let part = |name: &str| first(wrap, name).map(text).unwrap_or_default();
    let link = descendants(wrap).find_map(|it| it.attr("href")).map(str::to_owned);
    if first(wrap, "media_poll").is_some() {
        let answers = by_class(wrap, "answer").map(answer).collect();
        let question = part("question");
        return (Some(Body::Poll { question, answers }), Vec::new());
    }
    let (title, description, status) = (part("title"), part("description"), part("status"));
    let is = |class: &str| first(wrap, class).is_some();
    let place = link.as_deref().and_then(|link| {
        let (_, after) = link.split_once("maps?q=")?;
        let (latitude, longitude) = after.split('&').next()?.split_once(',')?;
        Some((latitude.parse().ok()?, longitude.parse().ok()?))
    });
    if let Some((latitude, longitude)) = place {
        let names: Vec<&str> =
            [&*title, &*description].into_iter().filter(|it| !it.is_empty()).collect();
        let name = Some(names.join(", ")).filter(|_| is("media_venue"));
        return (Some(Body::Location { latitude, longitude, name }), Vec::new());
    }
    if is("media_contact") {
        let phone = status.trim_end_matches(" - vCard").to_owned();
        let phone = Some(phone).filter(|phone| !phone.is_empty());
        return (Some(Body::Contact { name: title, phone }), Vec::new());
    }
    if is("media_call") {
        let missed = status.starts_with("Missed") || status.starts_with("Cancelled");
        let action = if missed { "missed_call" } else { "phone_call" };
        let text = format!("{title}: {status} call");
        return (Some(Body::Service { action: action.to_owned(), text }), Vec::new());
    }
    let kinds = [
        ("sticker_wrap", AttachmentKind::Sticker),
        ("photo_wrap", AttachmentKind::Image),
        ("media_photo", AttachmentKind::Image),
        ("video_file_wrap", AttachmentKind::Video),
        ("animated_wrap", AttachmentKind::Video),
        ("media_video", AttachmentKind::Video),
        ("media_voice_message", AttachmentKind::Audio),
        ("media_audio_file", AttachmentKind::Audio),
        ("media_file", AttachmentKind::File),
    ];
    let kind = kinds.into_iter().find(|(class, _)| is(class));
    if let Some((_, kind)) = kind.filter(|_| !title.starts_with("Self-destructing")) {
        let kind = if title == "Sticker" { AttachmentKind::Sticker } else { kind };
        let why = if description.is_empty() { "not included" } else { &*description };
        let path = link.unwrap_or_else(|| format!("({why})"));
        let name = match kind {
            AttachmentKind::File => Some(title),
            // The emoji of a sticker, its size (`25.3 KB`), or both.
            AttachmentKind::Sticker => {
                let emoji = status.split(", ").next();
                emoji.filter(|it| !it.is_empty() && !it.contains(' ')).map(str::to_owned)
            }
            _ => None,
        };
        return (None, vec![media::attachment(kind, &path, name)]);
    }
    let parts: Vec<String> =
        [title, description, status].into_iter().filter(|it| !it.is_empty()).collect();
    let said = if parts.is_empty() { text(wrap) } else { parts.join(", ") };
    (Some(Body::Unknown(said)), Vec::new())
}

/// `- Yes 3 votes, chosen vote`.
fn answer(element: ElementRef<'_>) -> (String, Option<u32>) {
    let votes = first(element, "details").map(text).unwrap_or_default();
    let count = votes.split(' ').next().and_then(|count| count.parse().ok());
    let said = own_text(element);
    let said = said.trim_start_matches("- ").to_owned();
    (said, Some(count.unwrap_or(0)))
}

fn reactions(element: ElementRef<'_>) -> Vec<Reaction> {
    let one = |reaction: ElementRef<'_>| {
        let by: Vec<String> = by_class(reaction, "initials")
            .filter_map(|it| it.attr("title"))
            .map(|title| title.rsplit_once(", ").map_or(title, |(name, _)| name).to_owned())
            .collect();
        let named = u32::try_from(by.len()).unwrap_or(u32::MAX);
        let count = first(reaction, "count").and_then(|it| text(it).parse().ok());
        Reaction {
            emoji: first(reaction, "emoji").map(text).unwrap_or_default(),
            count: count.unwrap_or(named).max(1),
            by,
        }
    };
    by_class(element, "reaction").map(one).collect()
}

/// The sender's name; `None` if the message before is by the same person.
fn sender(message: ElementRef<'_>) -> Option<String> {
    child(child(message, "body")?, "from_name").map(own_text)
}

fn has(element: ElementRef<'_>, class: &str) -> bool {
    element.value().classes().any(|it| it == class)
}

fn descendants(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.descendent_elements().skip(1)
}

fn by_class<'e>(
    element: ElementRef<'e>,
    class: &'static str,
) -> impl Iterator<Item = ElementRef<'e>> {
    descendants(element).filter(move |it| has(*it, class))
}

fn first<'e>(element: ElementRef<'e>, class: &str) -> Option<ElementRef<'e>> {
    descendants(element).find(|it| has(*it, class))
}

fn child<'e>(element: ElementRef<'e>, class: &str) -> Option<ElementRef<'e>> {
    element.child_elements().find(|it| has(*it, class))
}

/// The text of an element: its own line breaks count, those between tags do not. A link behind other words is added in
/// parentheses.
fn text(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    for node in element.descendants() {
        match node.value() {
            Node::Text(piece) => text.push_str(&piece.replace('\n', "")),
            Node::Element(tag) if tag.name() == "br" => text.push('\n'),
            _ => {}
        }
    }
    for link in descendants(element).filter(|it| it.value().name() == "a") {
        let words: String = link.text().collect();
        if let Some(href) =
            link.attr("href").filter(|href| href.contains("://") && *href != words.trim())
        {
            let shown = format!("{} ({href})", words.trim());
            text = text.replacen(words.trim(), &shown, 1);
        }
    }
    let lines = text.lines().map(str::trim);
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The text of an element without that of the elements in it.
fn own_text(element: ElementRef<'_>) -> String {
    let pieces = element.children().filter_map(|node| node.value().as_text());
    let text: String = pieces.map(|piece| piece.replace('\n', "")).collect();
    text.trim().to_owned()
}
