//! Every filter of `get_messages`, alone and together, and the other queries, repeated many times.

use std::time::{Duration, Instant};

use chat_server::index::{ChatKey, Index, Kind, MessageQuery, SearchQuery, StatisticsQuery};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::made::{END, SOURCES, word};
use super::{Result, cpu_time, millis, percentile, say};

/// How often each query is repeated, within a time limit.
const ROUNDS: u32 = 200;
const PATIENCE: Duration = Duration::from_secs(5);
const DAY: i64 = 86_400;

pub(crate) async fn measure(index: &Index, count: u64) -> Result<()> {
    for (name, query) in questions(index, count).await? {
        let ask = async || Ok(index.messages(&query).await?.messages.len());
        time(name, ask).await?;
    }
    for (name, text) in [
        ("a frequent word", word(0)),
        ("a rare word", word(19_990)),
        ("a phrase", format!("\"{} {}\"", word(0), word(300))),
        ("a beginning, rare", format!("{}*", word(14_000))),
    ] {
        let query = SearchQuery { text, before: 1, after: 1, ..SearchQuery::default() };
        let ask = async || Ok(index.search(&query).await?.hits.len());
        time(&format!("`search`, {name}, one around"), ask).await?;
    }
    let all = StatisticsQuery {
        source: None,
        chats: None,
        since: None,
        before: None,
        zone: TimeZone::UTC,
    };
    let ask = async || Ok(index.statistics(&all).await?.senders.len());
    time("`statistics` of all", ask).await?;
    let ask = async || Ok(index.chats(None).await?.len());
    time("`chats` of all", ask).await?;
    let ask = async || Ok(index.people(&[]).await?.len());
    time("`people`", ask).await
}

/// Repeats a query and returns a row of the table.
async fn time(name: &str, ask: impl AsyncFn() -> Result<usize>) -> Result<()> {
    let mut times = Vec::new();
    let mut found = 0;
    let (begin, cpu) = (Instant::now(), cpu_time()?);
    for _ in 0..ROUNDS {
        if begin.elapsed() > PATIENCE {
            break;
        }
        let start = Instant::now();
        found = ask().await?;
        times.push(start.elapsed());
    }
    let cpu = cpu_time()?.saturating_sub(cpu) / u32::try_from(times.len())?;
    times.sort_unstable();
    say(&format!(
        "| {name} | {found} | {} | {} | {} |",
        millis(percentile(&times, 50)),
        millis(percentile(&times, 99)),
        millis(cpu)
    ))
}

/// The questions, by name.
async fn questions(index: &Index, count: u64) -> Result<Vec<(&'static str, MessageQuery)>> {
    let all = MessageQuery::default();
    let chat = |id: u64| ChatKey { source: SOURCES[0].to_owned(), id: id.to_string() };
    let at = |days: i64| Timestamp::from_second(END - days * DAY).ok();
    let said = |text: &str| MessageQuery { search: Some(text.to_owned()), ..all.clone() };
    let sent = |text: &str| MessageQuery { sender: Some(text.to_owned()), ..all.clone() };
    let one = |query: MessageQuery| MessageQuery { source: Some(SOURCES[0].to_owned()), ..query };
    let (frequent, rare) = (word(0), word(19_990));
    let first = index.messages(&all).await?;
    let mut questions = vec![
        ("one source", one(all.clone())),
        ("two sources", all.clone()),
        ("one chat", MessageQuery { chats: Some(vec![chat(3)]), ..all.clone() }),
        (
            "40 chats, as of a name pattern",
            MessageQuery { chats: Some((0..40).map(chat).collect()), ..all.clone() },
        ),
        (
            "since and before: one day, two years ago",
            MessageQuery { since: at(731), before: at(730), ..all.clone() },
        ),
        ("sender, frequent", sent("u0")),
        ("sender, rare", sent("u499")),
        ("sender, a part of many", sent("a")),
        ("sender, nobody", sent("nobody")),
        ("search, frequent word", said(&frequent)),
        ("search, rare word", said(&rare)),
        ("search, part of words", said("rantenkor")),
        ("search, nothing", said("qqq")),
        ("search, frequent runs, nothing", said("kata sore katami")),
        ("search, two characters, nothing", said("qq")),
        ("kinds: pictures", MessageQuery { kinds: vec![Kind::Image], ..all.clone() }),
        ("kinds: nothing", MessageQuery { kinds: vec![Kind::Poll], ..all.clone() }),
        (
            "chat, time, sender and search",
            MessageQuery {
                chats: Some(vec![chat(0)]),
                since: at(365),
                sender: Some("u0".to_owned()),
                ..said(&frequent)
            },
        ),
        (
            "sender and search, rare both",
            MessageQuery { sender: Some("u499".to_owned()), ..said(&rare) },
        ),
        ("offset 10,000", MessageQuery { offset: 10_000, ..all.clone() }),
        (
            "offset: the oldest",
            MessageQuery { offset: usize::try_from(count)?.saturating_sub(100), ..all.clone() },
        ),
        ("limit 1,000", MessageQuery { limit: 1_000, ..all.clone() }),
    ];
    questions.push(("cursor: the second page", MessageQuery { cursor: first.next, ..all }));
    Ok(questions)
}
