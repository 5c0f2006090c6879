//! The names of groups and people, as far as the daemon has sent them.

use std::collections::HashMap;

use serde_json::Value;

use crate::json::member;
use crate::model::{Chat, ChatKind, Participant};
use crate::source::Event;

/// The most chats and people that are remembered.
const MAX_NAMES: usize = 50_000;

/// Names by id.
#[derive(Debug, Default)]
pub(super) struct Names {
    people: HashMap<String, String>,
    /// The id that stands for a number, once both were seen together.
    ids: HashMap<String, String>,
    /// Chats whose events were sent.
    chats: HashMap<String, Chat>,
}

impl Names {
    /// The answer to `listGroups`.
    pub(super) fn groups(&mut self, answer: Option<&Value>, events: &mut Vec<Event>) {
        for group in answer.and_then(Value::as_array).into_iter().flatten() {
            let Some(id) = member(group, "id") else { continue };
            let members = group.get("members").and_then(Value::as_array).map(Vec::len);
            let chat = Chat {
                id: id.to_owned(),
                name: member(group, "name").unwrap_or("Group").to_owned(),
                kind: ChatKind::Group,
                participants: members.and_then(|members| u32::try_from(members).ok()),
            };
            self.report(chat, events);
        }
    }

    /// The answer to `listContacts`.
    pub(super) fn contacts(&mut self, answer: Option<&Value>, events: &mut Vec<Event>) {
        for contact in answer.and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| member(contact, name);
            let profile = || member(contact.get("profile")?, "givenName");
            let name = text("name").or_else(|| text("profileName")).or_else(profile);
            let person = self.person(text("uuid"), text("number"), name);
            if let (Some(person), Some(name)) = (person, name) {
                self.direct(&person.id, name, events);
            }
        }
    }

    /// A person by the known ids: the uuid stands for the number once they were seen together.
    pub(super) fn person(
        &mut self,
        uuid: Option<&str>,
        number: Option<&str>,
        name: Option<&str>,
    ) -> Option<Participant> {
        let of_number = || number.and_then(|number| self.ids.get(number).map(String::as_str));
        let id = uuid.or_else(of_number).or(number)?.to_owned();
        if let (Some(uuid), Some(number)) = (uuid, number)
            && self.ids.len() < MAX_NAMES
        {
            self.ids.insert(number.to_owned(), uuid.to_owned());
        }
        if let Some(name) = name
            && self.people.len() < MAX_NAMES
        {
            self.people.insert(id.clone(), name.to_owned());
        }
        let name = self.people.get(&id).map(String::as_str).or(number).unwrap_or(&id).to_owned();
        Some(Participant {
            name,
            username: None,
            phone: number.map(str::to_owned),
            is_me: false,
            id,
        })
    }

    /// The chat with one person.
    pub(super) fn direct(&mut self, id: &str, name: &str, events: &mut Vec<Event>) {
        // A number in place of a name does not replace a known name.
        let known = self.chats.get(id).filter(|known| known.name != known.id);
        let name = match known {
            Some(known) if name == id || name.starts_with('+') => known.name.clone(),
            _ => name.to_owned(),
        };
        let chat = Chat { id: id.to_owned(), name, kind: ChatKind::Direct, participants: Some(2) };
        self.report(chat, events);
    }

    /// The chat of a group.
    pub(super) fn group(&mut self, id: &str, name: Option<&str>, events: &mut Vec<Event>) {
        let known = self.chats.get(id);
        let chat = Chat {
            id: id.to_owned(),
            name: name.or(known.map(|known| &*known.name)).unwrap_or("Group").to_owned(),
            kind: ChatKind::Group,
            participants: known.and_then(|known| known.participants),
        };
        self.report(chat, events);
    }

    /// Sends the event of a chat unless it was sent before.
    fn report(&mut self, chat: Chat, events: &mut Vec<Event>) {
        if self.chats.get(&chat.id) == Some(&chat) {
            return;
        }
        if self.chats.len() < MAX_NAMES || self.chats.contains_key(&chat.id) {
            self.chats.insert(chat.id.clone(), chat.clone());
        }
        events.push(Event::Chat(chat));
    }
}
