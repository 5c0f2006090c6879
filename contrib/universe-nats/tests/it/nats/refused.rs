//! What cannot be opened, and whom a server believes.

use async_nats::jetstream::{self, stream};
use tempfile::TempDir;
use universe_nats::{NatsError, NatsOptions, NatsStore};
use universe_store::UniverseLog as _;

use super::open;
use crate::aside;
use crate::fleet::{Fleet, Settings, shared};

async fn refused(url: &str) -> NatsError {
    let opened = NatsStore::open(url, &NatsOptions::default()).await;
    let problem = opened.expect_err("it opens");
    assert!(!format!("{problem} {problem:?}").contains("geheim"), "{problem}");
    problem
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_tells_no_password() {
    for url in [
        "nats://u:geheim@",
        "nats://u:geheim@h:x/p",
        "nats://u:geheim@h/p.q",
        "nats://u:geheim@h/p?replica=3",
        "nats://u:geheim@h/p?replicas=0",
        "natts://u:geheim@h/p",
    ] {
        let unreadable = refused(url).await;
        assert!(matches!(unreadable, NatsError::Url(_)), "{url}: {unreadable}");
        assert!(NatsStore::check(url, &NatsOptions::default()).is_err());
    }
    let missing = refused("nats://u:geheim@127.0.0.1:9/p").await;
    assert!(matches!(missing, NatsError::Unreachable(_)), "{missing}");
}

#[tokio::test]
async fn streams_that_are_not_as_they_were_made_are_refused() {
    let Some(fleet) = shared() else {
        return;
    };
    let client = async_nats::connect(fleet.host(0)).await.unwrap();
    let streams = jetstream::new(client);
    let url = fleet.url();
    let prefix = url.rsplit('/').next().unwrap().to_owned();
    drop(open(&url).await);
    let log = format!("{prefix}_log");
    let made = streams.get_stream(&log).await.unwrap();
    let made = made.cached_info().config.clone();
    let change = async |change: fn(&mut stream::Config)| {
        let mut config = made.clone();
        change(&mut config);
        streams.update_stream(config).await.unwrap();
    };
    for (how, what) in [
        (
            (|config| config.discard = stream::DiscardPolicy::Old) as fn(&mut stream::Config),
            "discard: new",
        ),
        (|config| config.max_age = std::time::Duration::from_secs(1_000), "max_age"),
        (|config| config.max_messages_per_subject = 5, "max_msgs_per_subject"),
        (|config| config.max_messages = 1_000, "max_msgs"),
        (|config| config.subjects.push("more".to_owned()), "subjects"),
    ] {
        change(how).await;
        let other = refused(&url).await;
        assert!(matches!(other, NatsError::Other { .. }), "{other}");
        assert!(other.to_string().contains(what), "{other}");
    }
    change(|config| {
        config.metadata.insert("universe-format".to_owned(), "99".to_owned());
    })
    .await;
    let newer = refused(&url).await;
    assert!(matches!(newer, NatsError::Newer { .. }), "{newer}");
    // Room may be bounded: what finds none is refused.
    change(|config| config.max_bytes = 100_000_000).await;
    drop(open(&url).await);
    let fewer = refused(&format!("{url}?replicas=3")).await;
    assert!(matches!(fewer, NatsError::Replicas { found: 1, wanted: 3, .. }), "{fewer}");
    // Another program's stream.
    let other = fleet.url();
    let prefix = other.rsplit('/').next().unwrap().to_owned();
    let config = stream::Config {
        name: format!("{prefix}_log"),
        subjects: vec!["others.>".to_owned()],
        ..stream::Config::default()
    };
    streams.create_stream(config).await.unwrap();
    let other = refused(&other).await;
    assert!(other.to_string().contains("another prefix"), "{other}");
}

#[tokio::test]
async fn a_full_stream_refuses_and_loses_nothing() {
    use bytes::Bytes;
    use universe_store::{AppendError, Revision};

    use crate::{after, entry, id, meta};
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let prefix = url.rsplit('/').next().unwrap().to_owned();
    let node = open(&url).await;
    let streams = jetstream::new(async_nats::connect(fleet.host(0)).await.unwrap());
    let made = streams.get_stream(format!("{prefix}_log")).await.unwrap();
    let mut config = made.cached_info().config.clone();
    config.max_bytes = 100_000;
    streams.update_stream(config).await.unwrap();
    node.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let mut head = 0;
    let full = loop {
        let append = after(head, vec![entry(vec![b'x'; 10_000])]);
        match node.append(&id("sol"), append).await {
            Ok(appended) => head = appended.revision.0,
            Err(problem) => break problem,
        }
    };
    assert_eq!(full, AppendError::Full);
    let record = node.record(&id("sol")).await.unwrap();
    assert_eq!(record.head.revision, Revision(head));
}

#[tokio::test]
async fn a_server_is_believed_by_its_certificate_alone_and_believes_by_password() {
    let dir = TempDir::new().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let (certificate, key) =
        (file("server.crt", made.cert.pem()), file("server.key", made.signing_key.serialize_pem()));
    let settings = Settings {
        more: format!(
            "tls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n\
             authorization {{ user: ann, password: \"ge:he/im\" }}"
        ),
        ..Settings::default()
    };
    let Some(fleet) = aside(move || Fleet::start(1, &settings)).await else {
        return;
    };
    let host = fleet.host(0).replace("127.0.0.1", "localhost");
    let open = async |user: &str, authority: Option<&std::path::Path>| {
        let mut options = NatsOptions::default();
        options.authorities = authority.map(ToOwned::to_owned);
        NatsStore::open(&format!("tls://{user}@{host}/tls"), &options).await
    };
    let right = "ann:ge%3Ahe%2Fim";
    let store = open(right, Some(&certificate)).await.unwrap();
    assert_eq!(store.count().await, Ok(0));
    let other = file("other.crt", other.cert.pem());
    for authority in [None, Some(other.as_path())] {
        let refused = open(right, authority).await.expect_err("it is believed");
        assert!(matches!(refused, NatsError::Unreachable(_)), "{refused}");
    }
    let refused = open("ann:geheim", Some(&certificate)).await;
    let refused = refused.expect_err("it is believed");
    assert!(matches!(refused, NatsError::Unreachable(_)), "{refused}");
    assert!(!refused.to_string().contains("geheim"), "{refused}");
    let empty = file("empty.crt", String::new());
    let refused = open(right, Some(&empty)).await.expect_err("it is believed");
    assert!(matches!(refused, NatsError::Authorities { .. }), "{refused}");
}
