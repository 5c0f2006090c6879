//! Updates of Telegram's bots.

use std::sync::Arc;

use chat_server::live::telegram_bot::TelegramBot;
use chat_server::model::{AttachmentPlace, Message};
use chat_server::source::Connection;
use serde_json::{Value, json};

use crate::fake::bot_api::{BotApi, numbered, update};
use crate::import::words;
use crate::live::{Live, collect};

/// A bot that asks this API.
fn started(dir: &tempfile::TempDir, api: &BotApi) -> Live {
    let token = dir.path().join("token");
    std::fs::write(&token, "123:secret\n").unwrap();
    let source = TelegramBot::new("bot".to_owned(), "Bot".to_owned(), api.url.clone(), token);
    Live::start(Arc::new(source))
}

/// What is stored of messages with these members.
async fn received(messages: &[Value]) -> Vec<Message> {
    let (dir, api) = (tempfile::tempdir().unwrap(), BotApi::start().await);
    api.push(messages.iter().zip(1..).map(|(message, n)| update(n, message)), &[]);
    let live = started(&dir, &api);
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, messages.len()).await;
    let stored = live.stored().await;
    live.end().await;
    stored.into_iter().rev().map(|it| it.message).collect()
}

/// grinev/opencode-telegram-bot#158, nanocoai/nanoclaw#3151, NousResearch/hermes-agent#81368, nyxandro/osinara#139:
/// Bot API 10.1 has blocks in place of a text, or beside one that stands in for them.
#[tokio::test]
async fn rich_messages_of_bots_are_read() {
    let blocks = json!([
        {"type": "heading", "text": "Trip", "size": 1},
        {"type": "paragraph", "text": ["Buy a ", {"type": "bold", "text": ["long", " rope"]}, " at ",
            {"type": "url", "text": "the shop", "url": "https://shop.example"},
            {"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "⛵"},
            {"type": "mathematical_expression", "expression": "x^2"}]},
        {"type": "list", "items": [
            {"label": "1.", "blocks": [{"type": "paragraph", "text": "anchor"}]},
            {"label": "•", "has_checkbox": true, "blocks": [{"type": "paragraph", "text": "sail"}]},
            {"label": "•", "has_checkbox": true, "is_checked": true, "blocks": [{"type": "paragraph", "text": "oar"}]}]},
        {"type": "table", "cells": [[{"text": "rope", "align": "left"}, {"text": "40 EUR", "align": "left"}]], "caption": "Costs"},
        {"type": "mathematical_expression", "expression": "a+b"},
        {"type": "blockquote", "blocks": [{"type": "paragraph", "text": "quoted"}], "credit": "by Bo"},
        {"type": "details", "summary": "More", "blocks": [{"type": "paragraph", "text": "hidden part"}]},
        {"type": "photo", "photo": [{"file_id": "small"}, {"file_id": "large"}], "caption": {"text": "the pier", "credit": "Ann"}},
        {"type": "voice_note", "voice_note": {"file_id": "v"}},
    ]);
    let picture = json!({"blocks": [{"type": "photo", "photo": [{"file_id": "p"}]}]});
    let messages = received(&[
        json!({"rich_message": {"blocks": blocks}}),
        json!({"text": "open this in a newer Telegram", "rich_message": {"blocks": [{"type": "paragraph", "text": "all of it"}]}}),
        json!({ "rich_message": picture }),
    ])
    .await;
    let said: Vec<&str> = messages.iter().map(|it| words(&it.body)).collect();
    let whole = "Trip\nBuy a long rope at the shop (https://shop.example)⛵x^2\n1. anchor\n[ ] sail\n[x] oar\n\
                 rope | 40 EUR\nCosts\na+b\n> quoted\n> by Bo\nMore\nhidden part\nthe pier\nAnn";
    assert_eq!(said, [whole, "all of it", ""]);
    let files = |n: usize| messages[n].attachments.iter().map(|it| it.place.clone());
    let remote = |id: &str| AttachmentPlace::Remote(id.to_owned());
    assert_eq!(files(0).collect::<Vec<_>>(), [remote("large"), remote("v")]);
    assert_eq!(files(2).collect::<Vec<_>>(), [remote("p")]);
}

/// python-telegram-bot/python-telegram-bot#5261, yagop/node-telegram-bot-api#1337: what is new, or no words, has its
/// name and its words, without ids.
#[tokio::test]
async fn members_that_are_not_known_keep_their_words() {
    let cases = [
        (
            json!({"checklist": {"title": "Packing", "tasks": [{"id": 1, "text": "sail"}, {"id": 2, "text": "compass"}]}}),
            "[checklist] Packing; tasks: sail, compass",
        ),
        (json!({"dice": {"emoji": "🎲", "value": 3}}), "[dice] emoji: 🎲; value: 3"),
        (json!({"gift": {"gift": {"id": "1"}, "text": "happy birthday"}}), "[gift] happy birthday"),
        (
            json!({"game": {"title": "Chess", "photo": [{"file_id": "f", "width": 1}]}}),
            "[game] Chess",
        ),
        (
            json!({"something_new": {"words": {"text": "kept"}, "user_id": 7}, "effect_id": "5"}),
            "[something new] words: kept",
        ),
        (json!({"forum_topic_closed": {}, "reply_markup": {}}), "[forum topic closed]"),
        (json!({"has_media_spoiler": true}), "[unsupported]"),
    ];
    let messages: Vec<Value> = cases.iter().map(|(message, _)| message.clone()).collect();
    let messages = received(&messages).await;
    let said: Vec<&str> = messages.iter().map(|it| words(&it.body)).collect();
    assert_eq!(said, cases.map(|(_, expected)| expected));
}

/// NousResearch/hermes-agent#51349, python-telegram-bot/ptbcontrib#149, mattmezza/humux#206: in a topic whatever
/// answers nothing answers the message that has created it.
#[tokio::test]
async fn topics_of_forums_are_no_replies() {
    let created = json!({"message_id": 40, "forum_topic_created": {"name": "Boats"}});
    let in_topic = |root: &Value| json!({"text": "x", "is_topic_message": true, "message_thread_id": 40, "reply_to_message": root});
    let messages = received(&[
        json!({"forum_topic_created": {"name": "Boats"}}),
        in_topic(&created),
        in_topic(&json!({"message_id": 40})),
        in_topic(&json!({"message_id": 41})),
        // A comment below a post of a channel is a reply.
        json!({"text": "x", "message_thread_id": 40, "reply_to_message": {"message_id": 40}}),
    ])
    .await;
    let found: Vec<_> =
        messages.iter().map(|it| (it.reply_to.as_deref(), it.topic.as_deref())).collect();
    let boats = Some("Boats");
    assert_eq!(
        found,
        [(None, boats), (None, boats), (None, None), (Some("41"), None), (Some("40"), None)]
    );
}

/// m1guelpf/chatgpt-telegram#40, irazasyed/telegram-bot-sdk#801, freqtrade/freqtrade#43: a second program or a webhook
/// is no reason to ask for another token.
#[tokio::test]
async fn only_a_refused_token_is_to_be_checked() {
    let (dir, api) = (tempfile::tempdir().unwrap(), BotApi::start().await);
    let conflict = "Conflict: terminated by other getUpdates request";
    let refusals = [(409, conflict), (404, "Not Found")]
        .map(|(code, why)| json!({"ok": false, "error_code": code, "description": why}));
    api.state().refusals.extend(refusals);
    api.push([numbered(1)], &[]);
    let live = started(&dir, &api);
    for (problem, checks) in [("409 Conflict: terminated", false), ("404 Not Found", true)] {
        let is_told = |connection: &Connection| match connection {
            Connection::Disconnected(advice) if advice.contains(problem) => {
                assert_eq!(advice.contains("check the token"), checks, "{advice}");
                true
            }
            _ => false,
        };
        live.until(is_told).await;
    }
    live.connected().await;
    live.end().await;
}
