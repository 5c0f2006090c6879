//! The addresses of chats and attachments.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The messages of a chat.
pub const MESSAGES: &str =
    "messages://{source}/{chat}{?since,before,sender,search,limit,offset,cursor}";

/// The messages of all chats of a source, or of one of them; new messages are notified under this address, too.
pub const ALL_MESSAGES: &str =
    "messages://{source}/*{?chat,since,before,sender,search,limit,offset,cursor}";

/// The bytes of a message's file.
pub const ATTACHMENT: &str = "attachment://{source}/{chat}/{message}/{n}";

/// The parameters of a query.
const PARAMETERS: [&str; 8] =
    ["since", "before", "sender", "search", "limit", "offset", "cursor", "chat"];

/// The characters that need no encoding (RFC 3986, `unreserved`).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a client listens to: an address of messages, parsed and decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Listening {
    /// The source; `None` for `*`.
    pub source: Option<String>,
    /// The chat; `None` for `*`.
    pub chat: Option<String>,
    /// A part of the name of the chat, or its id.
    pub chat_filter: Option<String>,
    /// A part of the name of the sender.
    pub sender: Option<String>,
    /// A text that messages must contain.
    pub search: Option<String>,
}

/// The address of a chat.
pub fn messages(source: &str, chat: &str) -> String {
    format!("messages://{}/{}", encoded(source), encoded(chat))
}

/// The address of the `n`th file of a message.
pub fn attachment(source: &str, chat: &str, message: &str, n: usize) -> String {
    let [source, chat, message] = [source, chat, message].map(encoded);
    format!("attachment://{source}/{chat}/{message}/{n}")
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

impl Listening {
    /// Parses an address; `None` if it is not one of messages.
    ///
    /// # Errors
    /// An unknown parameter.
    pub fn parse(uri: &str) -> Option<Result<Self, String>> {
        let rest = uri.strip_prefix("messages://")?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (source, chat) = path.split_once('/')?;
        let (source, chat) = (decoded(source)?, decoded(chat)?);
        if source.is_empty() || chat.is_empty() || path.matches('/').count() != 1 {
            return None;
        }
        let unless_all = |text: String| (text != "*").then_some(text);
        let mut listening = Self {
            source: unless_all(source),
            chat: unless_all(chat),
            chat_filter: None,
            sender: None,
            search: None,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value)?;
            match name {
                "chat" => listening.chat_filter = unless_all(value),
                "sender" => listening.sender = Some(value),
                "search" => listening.search = Some(value),
                _ if PARAMETERS.contains(&name) => {}
                _ => return Some(Err(name.to_owned())),
            }
        }
        Some(Ok(listening))
    }
}

fn decoded(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}
