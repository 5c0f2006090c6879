//! New messages for subscribers: each is one `notifications/resources/updated` for the subscribed URI, with the message
//! in its `_meta`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use mcp_proto::{Change, ResourceUpdate, Server, WeakServer};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::chat_service::{ChatService, Failure, Following, News};
use crate::lock::lock;
use crate::view::compact;
use crate::view::uri::{self, Listening};

/// `_meta` key of an update: the warning about what people wrote.
const META_ABOUT: &str = "chat-server/about";
/// The message that came in, in the shape of `get_messages`, with its source and the name of its chat.
const META_MESSAGE: &str = "chat-server/message";
/// The cursor with which [`ChatService::messages`] continues after it.
const META_CURSOR: &str = "chat-server/cursor";
/// `_meta` key of an update that stands for many messages: source, how many, and the cursor from which to read them.
const META_MISSED: &str = "chat-server/missed";

/// How many messages are sent at once before listeners get time to receive them: fewer than the library's lag limit.
const BURST: usize = 64;
/// How long listeners get for that.
const BREATH: Duration = Duration::from_millis(2);

/// The most subscriptions whose chat is known by its id; older ones are matched by the name of the chat.
const MAX_KNOWN: usize = 4_096;

/// The messages that arrive, from the first subscription on.
#[derive(Debug)]
pub(super) struct Feed {
    server: OnceLock<WeakServer>,
    started: OnceCell<()>,
    known: Mutex<SubscribedChats>,
    /// Cancelled with the server.
    ended: CancellationToken,
    _end: DropGuard,
}

/// The ids of chats by subscribed URI.
#[derive(Debug, Default)]
struct SubscribedChats {
    ids: HashMap<String, String>,
    oldest: VecDeque<String>,
}

impl Default for Feed {
    fn default() -> Self {
        let ended = CancellationToken::new();
        Self {
            server: OnceLock::new(),
            started: OnceCell::new(),
            known: Mutex::default(),
            _end: ended.clone().drop_guard(),
            ended,
        }
    }
}

impl Feed {
    /// Sets the server whose listeners are notified.
    pub(super) fn belongs_to(&self, server: &Server) {
        // Called once, by the code that creates both.
        let _ = self.server.set(server.downgrade());
    }

    /// Checks whether a client may subscribe to this. Once it has resolved, no new message is missed.
    pub(super) async fn admit(&self, service: &ChatService, uri: &str) -> Result<(), Failure> {
        let listening = match Listening::parse(uri) {
            None => {
                let message = "subscribe to messages://SOURCE/CHAT or messages://SOURCE/*";
                return Err(Failure::not_found("RESOURCE_NOT_FOUND", message));
            }
            Some(Err(unknown)) => {
                let unknown: String = unknown.chars().take(40).collect();
                let message =
                    format!("invalid parameter '{unknown}': filter by chat, sender or search");
                return Err(Failure::invalid("INVALID_PARAMETER", message));
            }
            Some(Ok(listening)) => listening,
        };
        if let Some(id) = service.may_listen(&listening).await? {
            self.know(uri, id);
        }
        let started = self.started.get_or_try_init(|| async {
            let following = service.follow().await?;
            let server = self.server.get().cloned();
            tokio::spawn(run(following, server, self.ended.clone()));
            Ok::<_, Failure>(())
        });
        started.await.map(drop)
    }

    /// Whether an update belongs to a subscribed URI.
    pub(super) fn concerns(&self, subscribed: &str, update: &ResourceUpdate) -> bool {
        let news = update.detail.as_ref().and_then(|detail| detail.downcast_ref::<News>());
        let Some((news, Some(Ok(listening)))) = news.zip(Some(Listening::parse(subscribed))) else {
            return false;
        };
        let id = match listening.chat {
            Some(_) => {
                let known = lock(&self.known);
                known.ids.get(subscribed).cloned()
            }
            None => None,
        };
        news.concerns(&listening, id.as_deref())
    }

    fn know(&self, uri: &str, id: String) {
        let mut known = lock(&self.known);
        if known.ids.insert(uri.to_owned(), id).is_none() {
            known.oldest.push_back(uri.to_owned());
        }
        if known.oldest.len() > MAX_KNOWN
            && let Some(oldest) = known.oldest.pop_front()
        {
            known.ids.remove(&oldest);
        }
    }
}

async fn run(mut following: Following, server: Option<WeakServer>, ended: CancellationToken) {
    let mut reported = 0_usize;
    loop {
        let news = tokio::select! {
            () = ended.cancelled() => return,
            news = following.next() => news,
        };
        let Some(news) = news else { return };
        let Some(server) = server.as_ref().and_then(WeakServer::upgrade) else {
            return;
        };
        if !server.has_subscribers() {
            continue;
        }
        server.notify(Change::ResourceUpdated(update(news)));
        reported += 1;
        match reported % BURST {
            0 => tokio::time::sleep(BREATH).await,
            _ => tokio::task::yield_now().await,
        }
    }
}

fn update(news: News) -> ResourceUpdate {
    let (uri, meta) = match &news {
        News::Message(new) => {
            let message = &new.message;
            let meta = [
                (META_ABOUT, json!(compact::UNTRUSTED)),
                (META_MESSAGE, compact::one(message)),
                (META_CURSOR, json!(new.cursor)),
            ];
            (uri::messages(&message.source, &message.chat_id), Vec::from(meta))
        }
        News::Missed { source, missed, cursor } => {
            let missed = json!({ "source": source, "missed": missed, "cursor": cursor });
            (uri::messages(source, "*"), vec![(META_MISSED, missed)])
        }
    };
    let meta = meta.into_iter().filter(|(_, value)| !value.is_null());
    let meta: Map<String, Value> = meta.map(|(name, value)| (name.to_owned(), value)).collect();
    ResourceUpdate::new(uri).with_meta(meta).with_detail(Arc::new(news))
}
