//! Subscribers are notified of changes of files, in both eras.

use std::collections::BTreeSet;
use std::fs;

use mcp_proto::Era;
use mcp_proto_client::{Client, Interest, ListenEvent, Listening};
use serde_json::{Value, json};

use crate::mcp::{Copy, HANG, binary, client, settings, structured};

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// A client that has subscribed, and what it receives.
struct Listener {
    client: Client,
    listening: Listening,
}

impl Listener {
    async fn of(client: Client, uris: &[&str]) -> Self {
        // A client that has the list is notified of all that changes in it afterwards; where there is no project yet,
        // it is an error.
        drop(client.request("resources/list", json!({})).await);
        let wanted = uris.iter().copied();
        let wanted = wanted.fold(Interest::new().resources(), Interest::resource);
        let listening = client.listen(wanted).await.unwrap();
        Self { client, listening }
    }

    /// The next notification: its method and the URI in it.
    async fn next(&mut self) -> (String, Value) {
        let heard = tokio::time::timeout(HANG, self.listening.next()).await;
        match heard.expect("nothing is told") {
            Some(ListenEvent::Notification(mut heard)) => {
                let uri = heard.params.get_mut("uri").map(Value::take);
                (heard.method, uri.unwrap_or_default())
            }
            other => panic!("{other:?}"),
        }
    }

    /// Waits until all of these were received, whatever comes between. One may be sent more than once: a file is
    /// written in steps.
    async fn receive_all(&mut self, expected: &[(&str, Value)]) {
        let mut missing: Vec<_> = expected.to_vec();
        while !missing.is_empty() {
            let (method, uri) = self.next().await;
            missing.retain(|(name, of)| (*name, of) != (method.as_str(), &uri));
        }
    }

    /// Waits for `last`, and returns what came until then.
    async fn until(&mut self, last: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        loop {
            let (method, uri) = self.next().await;
            if uri == last {
                return all;
            }
            all.insert(format!("{method} {}", uri.as_str().unwrap_or_default()));
        }
    }
}

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

#[tokio::test]
async fn who_subscribes_to_a_spec_hears_of_it_and_of_no_other() {
    for era in BOTH {
        let project = Copy::of("library");
        let client = client(settings(project.root()), era).await;
        let uris = ["spec://lending", "spec://notices"];
        let mut listener = Listener::of(client, &uris).await;
        project.write("specs/members/spec.md", "# Members\n");
        project.write("specs/mission.md", "# Mission\n");
        project.write("specs/lending/spec.md", "# Lending anew\n");
        listener.receive_all(&[(UPDATED, json!("spec://lending"))]).await;
        // The last notification comes after all before it.
        project.write("specs/notices/spec.md", "# Notices anew\n");
        let between = listener.until("spec://notices").await;
        assert!(between.iter().all(|told| told.ends_with("spec://lending")), "{between:?}");

        let listed = structured(&listener.client, "list_specs", json!({})).await;
        assert_eq!(listed["specs"][0]["title"], "Lending anew");
    }
}

#[tokio::test]
async fn any_file_of_a_change_is_told_as_the_change() {
    for era in BOTH {
        let project = Copy::of("counter");
        let client = client(settings(project.root()), era).await;
        let mut listener = Listener::of(client, &["change://extend-hours"]).await;
        for file in
            ["tasks.md", "proposal.md", "design.md", "specs/hours/spec.md", "specs/new/spec.md"]
        {
            project.write(&format!("openspec/changes/extend-hours/{file}"), "- [x] 1.1 Changed\n");
            listener.receive_all(&[(UPDATED, json!("change://extend-hours"))]).await;
        }
    }
}

#[tokio::test]
async fn what_comes_and_goes_changes_the_list() {
    for era in BOTH {
        let project = Copy::of("library");
        let client = client(settings(project.root()), era).await;
        let mut listener =
            Listener::of(client, &["spec://lending", "change://shorten-notice"]).await;
        project.write("specs/fees/spec.md", "# Fees\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        let archive = project.path("specs/_archive");
        fs::create_dir_all(&archive).unwrap();
        let change = project.path("specs/_changes/shorten-notice");
        fs::rename(change, archive.join("2026-01-01-shorten-notice")).unwrap();
        listener
            .receive_all(&[
                (LIST_CHANGED, Value::Null),
                (UPDATED, json!("change://shorten-notice")),
            ])
            .await;
        // A folder that goes as a whole, and comes back.
        fs::rename(project.path("specs/lending"), project.path("lending")).unwrap();
        listener
            .receive_all(&[(LIST_CHANGED, Value::Null), (UPDATED, json!("spec://lending"))])
            .await;
        fs::rename(project.path("lending"), project.path("specs/lending")).unwrap();
        listener
            .receive_all(&[(LIST_CHANGED, Value::Null), (UPDATED, json!("spec://lending"))])
            .await;
    }
}

#[tokio::test]
async fn folders_that_come_later_are_watched() {
    for era in BOTH {
        let project = Copy::of("empty");
        let client = client(settings(project.root()), era).await;
        let mut listener = Listener::of(client, &[]).await;
        project.write("specs/late/spec.md", "# Late\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        let mut listener = Listener::of(listener.client.clone(), &["spec://late"]).await;
        project.write("specs/late/spec.md", "# Later\n");
        listener.receive_all(&[(UPDATED, json!("spec://late"))]).await;
        // Another folder of the same name.
        fs::remove_dir_all(project.path("specs")).unwrap();
        listener.receive_all(&[(LIST_CHANGED, Value::Null), (UPDATED, json!("spec://late"))]).await;
        project.write("specs/late/spec.md", "# Back\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null), (UPDATED, json!("spec://late"))]).await;
        project.write("specs/late/spec.md", "# And again\n");
        listener.receive_all(&[(UPDATED, json!("spec://late"))]).await;
    }
}

#[tokio::test]
async fn another_folder_of_the_same_name_is_watched() {
    for era in BOTH {
        let project = Copy::of("library");
        let client = client(settings(project.root()), era).await;
        let mut listener = Listener::of(client, &[]).await;
        project.write("other/late/spec.md", "# Late\n");
        fs::rename(project.path("specs"), project.path("old")).unwrap();
        fs::rename(project.path("other"), project.path("specs")).unwrap();
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        project.write("specs/later/spec.md", "# Later\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
    }
}

#[tokio::test]
async fn a_project_that_comes_later_is_watched() {
    for era in BOTH {
        let project = Copy::empty();
        let client = client(settings(project.root()), era).await;
        let mut listener = Listener::of(client, &[]).await;
        project.write("openspec/specs/first/spec.md", "# First\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        project.write("openspec/specs/second/spec.md", "# Second\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
    }
}

#[tokio::test]
async fn what_is_not_there_cannot_be_subscribed_to() {
    let project = Copy::of("library");
    for uri in ["spec://nothing", "change://nothing", "spec://..", "file:///etc/passwd", "spec://"]
    {
        let client = client(settings(project.root()), Era::Legacy).await;
        let subscribed = client.request("resources/subscribe", json!({ "uri": uri })).await;
        let error = subscribed.unwrap_err().to_string();
        assert!(error.contains("-32002"), "{uri}: {error}");
    }
    // However it is written, it is the same spec, and reported as it was written.
    let client = client(settings(project.root()), Era::Legacy).await;
    let mut listener = Listener::of(client, &["spec://LEND%69NG"]).await;
    project.write("specs/lending/spec.md", "# Lending anew\n");
    listener.receive_all(&[(UPDATED, json!("spec://LEND%69NG"))]).await;
}

#[tokio::test]
async fn the_binary_tells_over_its_pipes() {
    for era in BOTH {
        let project = Copy::of("library");
        let mut command = binary();
        command.arg("mcp").arg("--root").arg(project.root());
        let config = mcp_proto_client::ClientConfig::new(era);
        let client = Client::stdio(command, config).await.unwrap();
        let mut listener = Listener::of(client, &["spec://lending"]).await;
        project.write("specs/lending/spec.md", "# Lending anew\n");
        listener.receive_all(&[(UPDATED, json!("spec://lending"))]).await;
        listener.client.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_watching_ends_with_the_server() {
    let project = Copy::of("library");
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let server = spec_server::mcp::server(settings(project.root())).unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert!(tasks() > before, "nobody watches");
    drop(server);
    let ended = async {
        while tasks() > before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(HANG, ended).await.expect("it watches for ever");
}

#[tokio::test]
async fn folders_that_are_moved_away_and_back_or_replaced_are_followed_again() {
    for era in BOTH {
        for folder in ["openspec/specs", "openspec", "openspec/specs/desk"] {
            let project = Copy::of("counter");
            let client = client(settings(project.root()), era).await;
            let mut listener = Listener::of(client, &["spec://desk/returns"]).await;
            let (here, away) = (project.path(folder), project.path("away"));
            let told = &[(UPDATED, json!("spec://desk/returns"))];
            for round in 0..2 {
                fs::rename(&here, &away).unwrap();
                listener.receive_all(told).await;
                fs::rename(&away, &here).unwrap();
                listener.receive_all(told).await;
                project.write("openspec/specs/desk/returns/spec.md", format!("# Round {round}\n"));
                listener.receive_all(told).await;
            }
            // Another folder in its place, at once.
            let new = project.path("new");
            super::mcp::copy_folder(&here, &new);
            fs::rename(&here, &away).unwrap();
            fs::rename(&new, &here).unwrap();
            project.write("openspec/specs/desk/returns/spec.md", "# Replaced\n");
            listener.receive_all(told).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_event_says_is_found_by_a_look() {
    for era in BOTH {
        let project = Copy::of("library");
        let settings =
            spec_server::mcp::Settings { without_events: true, ..settings(project.root()) };
        let client = client(settings, era).await;
        let mut listener = Listener::of(client, &["spec://lending"]).await;
        for round in 0..3 {
            project.write("specs/lending/spec.md", format!("# Lending {round}\n"));
            listener.receive_all(&[(UPDATED, json!("spec://lending"))]).await;
        }
        // What is written right after a project is back in its place is no less missed.
        let (here, away) = (project.path(".spox"), project.path("away"));
        fs::rename(&here, &away).unwrap();
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        fs::rename(&away, &here).unwrap();
        let back = [(LIST_CHANGED, Value::Null), (UPDATED, json!("spec://lending"))];
        listener.receive_all(&back).await;
        project.write("specs/lending/spec.md", "# Lending again\n");
        listener.receive_all(&[(UPDATED, json!("spec://lending"))]).await;
        project.write("specs/late/spec.md", "# Late\n");
        listener.receive_all(&[(LIST_CHANGED, Value::Null)]).await;
        for tool in ["list_specs", "list_changes", "get_project"] {
            let told = structured(&listener.client, tool, json!({})).await;
            let note = told["note"].as_str().unwrap_or_default();
            assert!(note.contains("subscribers are notified late"), "{told}");
        }
    }
}
