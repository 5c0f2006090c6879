//! A store or a reducer that fails: the right error, and never a wrong state afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::{FutureExt as _, join_all};
use serde_json::json;
use universe_core::{Applied, Command, Refusal, State};
use universe_server::commands::{CommandService, Request, ServiceError, ServiceLimits};
use universe_server::rest::RestConfig;
use universe_server::store::{UniverseId, UniverseLog};

use super::{create, now, tick_once};
use crate::harness::faulty::{Fault, Faulty, Mode};
use crate::harness::local::memory;
use crate::harness::{Era, Local, Mcp, add_star, remove_star, tick};

/// A store that can fail, the service on it, and a universe.
async fn service() -> (Arc<Faulty>, CommandService, UniverseId) {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let id = create(&service, "u").await;
    (store, service, id)
}

#[tokio::test]
async fn an_unavailable_store_changes_nothing() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    store.fail([Fault::Unavailable]);
    let error = tick_once(&service, &id).await.unwrap_err();
    assert_eq!(error, ServiceError::Unavailable);
    assert_eq!(now(&service, &id).await, (1.0, 1));
    assert_eq!(tick_once(&service, &id).await.unwrap().state.time(), 2.0);
}

#[tokio::test]
async fn a_full_store_is_reported_as_full_and_changes_nothing() {
    let (store, service, id) = service().await;
    store.fail([Fault::Full, Fault::Full]);
    let error = tick_once(&service, &id).await.unwrap_err();
    assert_eq!(error, ServiceError::Full);
    let error = service.delete(&id, None).await.unwrap_err();
    assert_eq!(error, ServiceError::Full);
    assert_eq!(now(&service, &id).await, (0.0, 0));
    service.delete(&id, None).await.unwrap();
}

#[tokio::test]
async fn closing_does_what_is_waiting_and_refuses_what_comes_later() {
    let (store, service, id) = service().await;
    let gate = store.gate.write().await;
    let mut waiting: Vec<_> = (0..10).map(|_| Box::pin(tick_once(&service, &id))).collect();
    for tick in &mut waiting {
        assert!(tick.now_or_never().is_none());
    }
    let mut closing = Box::pin(service.close());
    assert_eq!(closing.as_mut().now_or_never(), None, "they wait still");
    drop(gate);
    closing.await;
    for (n, tick) in (1..).zip(waiting) {
        assert_eq!(tick.now_or_never().unwrap().unwrap().revision.0, n);
    }
    let late = tick_once(&service, &id).await.unwrap_err();
    assert_eq!(late, ServiceError::Unavailable);
    assert_eq!(store.record(&id).await.unwrap().head.revision.0, 10);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_landed_unsaid_is_counted_once() {
    for fault in [Fault::Lost, Fault::Unsaid] {
        let (store, service, id) = service().await;
        store.fail([fault]);
        let processed = tick_once(&service, &id).await.unwrap();
        assert_eq!((processed.state.time(), processed.revision.0), (1.0, 1), "{fault:?}");
        assert_eq!(store.appends.load(Ordering::Relaxed), 2);
        assert_eq!(now(&service, &id).await, (1.0, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_landed_unsaid_before_anothers_is_counted_once() {
    let (store, service, id) = service().await;
    store.fail([Fault::UnsaidAndFollowed]);
    let processed = tick_once(&service, &id).await.unwrap();
    assert_eq!((processed.state.time(), processed.revision.0), (1.0, 1));
    assert_eq!(tick_once(&service, &id).await.unwrap().state.time(), 102.0);
    assert_eq!(now(&service, &id).await, (102.0, 3));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_knows_is_reported_as_such() {
    // Whether it landed or not, and whatever the store says later on.
    for (faults, time) in [
        (vec![Fault::Lost; 5], 0.0),
        (vec![Fault::Unsaid, Fault::Unavailable], 1.0),
        (vec![Fault::Lost, Fault::Unavailable], 0.0),
    ] {
        let (store, service, id) = service().await;
        store.fail(faults.clone());
        let error = tick_once(&service, &id).await.unwrap_err();
        assert_eq!(error, ServiceError::Uncertain, "{faults:?}");
        store.fail([]);
        let (found, revision) = now(&service, &id).await;
        assert_eq!((found, revision as f64), (time, time), "{faults:?}");
    }
}

#[tokio::test]
async fn a_command_that_was_overtaken_is_judged_again() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    store.fail([Fault::Overtaken]);
    let processed = tick_once(&service, &id).await.unwrap();
    assert_eq!((processed.state.time(), processed.revision.0), (102.0, 3));

    // One that was to come after a revision only, does not come after another.
    store.fail([Fault::Overtaken]);
    let command = Command::from_value(tick()).unwrap();
    let error = service
        .process(&id, Request { expected: Some(processed.revision), ..command.into() })
        .await;
    assert!(matches!(error, Err(ServiceError::Conflict { revision, .. }) if revision.0 == 4));
    assert_eq!(now(&service, &id).await, (202.0, 4));
}

#[tokio::test]
async fn a_log_that_always_moves_on_is_given_up() {
    let (store, service, id) = service().await;
    store.fail([Fault::Overtaken; 5]);
    let error = tick_once(&service, &id).await.unwrap_err();
    assert_eq!(error, ServiceError::Unavailable);
    assert_eq!(now(&service, &id).await, (500.0, 5));
    assert_eq!(tick_once(&service, &id).await.unwrap().state.time(), 501.0);
}

#[tokio::test]
async fn jobs_that_waited_together_fail_together_and_no_further() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    let held = store.gate.write().await;
    let first = tick_once(&service, &id);
    let waiting = join_all((0..20).map(|_| tick_once(&service, &id)));
    let release = async {
        // Both futures have been polled before: the first is at the gate, the others wait behind it.
        store.fail([Fault::Unavailable]);
        drop(held);
    };
    let (first, waiting, ()) = tokio::join!(first, waiting, release);
    let failed = waiting.iter().chain([&first]).filter(|answer| answer.is_err()).count();
    let (time, revision) = now(&service, &id).await;
    assert!(failed > 0);
    assert_eq!(revision as usize, 22 - failed);
    assert_eq!(time, revision as f64);
}

#[tokio::test]
async fn failures_are_reported_in_both_dialects_without_internals() {
    let store = Faulty::new();
    let server = Local::with_store(Arc::clone(&store) as Arc<_>, ServiceLimits::default()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    store.fail([Fault::Unavailable]);
    let reply = client.post(&path, &tick()).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, "1"));
    assert_eq!(reply.error(), "the store is unavailable; nothing has changed");
    store.fail([Fault::Lost; 4]);
    let reply = client.post(&path, &tick()).await;
    assert_eq!(reply.status, 500);
    assert!(reply.error().contains("read the universe"), "{reply:?}");
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        store.fail([Fault::Unavailable]);
        let told = mcp
            .refusal("send_universe_command", json!({"universeId": id, "command": tick()}))
            .await;
        assert!(told.contains(&id) && told.contains("STORE_UNAVAILABLE"), "{told}");
        mcp.command(&id, &tick()).await;
    }
    assert_eq!(client.universe(&id).await["state"]["time"], 2.0);
}

#[tokio::test]
async fn a_full_store_refuses_writes_and_serves_reads_until_there_is_room() {
    let store = Faulty::new();
    let server = Local::with_store(Arc::clone(&store) as Arc<_>, ServiceLimits::default()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands?result=events");
    assert_eq!(client.post(&path, &tick()).await.status, 200);
    let acknowledged = client.universe(&id).await;
    store.enter(Mode::Full);
    let reply = client.post(&path, &tick()).await;
    assert_eq!(reply.status, 507);
    assert!(reply.error().starts_with("the store is full: nothing was changed"), "{reply:?}");
    for era in Era::BOTH {
        let arguments = json!({"universeId": id, "command": tick()});
        let refused = Mcp::new(client, era).await.refusal("send_universe_command", arguments).await;
        assert!(refused.contains("STORE_FULL"), "{refused}");
    }
    assert_eq!(client.universe(&id).await, acknowledged);
    store.enter(Mode::Fine);
    assert_eq!(client.post(&path, &tick()).await.status, 200);
    assert_eq!(client.universe(&id).await["state"]["time"], 2.0);
}

/// The domain's step, but for a body called "panic".
fn panicking(state: &State, command: &Command) -> Result<Applied, Refusal> {
    assert!(!serde_json::to_string(command).unwrap().contains("panic"), "secret of the reducer");
    state.apply(command)
}

#[tokio::test]
async fn a_panic_of_the_reducer_is_one_commands_affair() {
    let service = CommandService::with_reducer(memory(), ServiceLimits::default(), panicking);
    let server = Local::with_service(service, RestConfig::default()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    client.command(&id, &add_star("before")).await;
    let reply = client.post(&path, &add_star("panic")).await;
    assert_eq!(reply.status, 500);
    assert_eq!(reply.error(), "internal error; the server's log has the details");
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let arguments = json!({"universeId": id, "command": add_star("panic")});
        let told = mcp.refusal("send_universe_command", arguments).await;
        assert!(told.contains("INTERNAL_ERROR") && told.contains(&id), "{told}");
        assert!(!told.contains("secret"), "{told}");
        mcp.command(&id, &tick()).await;
    }
    let universe = client.universe(&id).await;
    assert_eq!(
        (&universe["revision"], &universe["state"]["rootIds"]),
        (&json!(3), &json!(["before"]))
    );
}

#[tokio::test]
async fn a_universe_that_is_deleted_under_its_writer_is_not_found() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    store.inner.delete(&id, None).await.unwrap();
    let error = tick_once(&service, &id).await.unwrap_err();
    assert_eq!(error, ServiceError::NotFound(id.clone()));
    assert!(matches!(service.get(&id).await, Err(ServiceError::NotFound(_))));
    // The name may come back, for another universe.
    create(&service, "u").await;
    assert_eq!(now(&service, &id).await, (0.0, 0));
    assert_eq!(tick_once(&service, &id).await.unwrap().revision.0, 1);
}

#[tokio::test]
async fn a_deletion_whose_asker_goes_away_leaves_nothing_behind() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    let held = store.gate.write().await;
    {
        let deletion = service.delete(&id, None);
        assert!(deletion.now_or_never().is_none());
        // The writer takes it up and waits for the store; no client waits for the writer.
        tokio::task::yield_now().await;
    }
    drop(held);
    assert!(matches!(service.get(&id).await, Err(ServiceError::NotFound(_))));
    create(&service, "u").await;
    assert_eq!(now(&service, &id).await, (0.0, 0));
}

#[tokio::test]
async fn a_command_whose_asker_goes_away_is_done_all_the_same() {
    let (store, service, id) = service().await;
    let held = store.gate.write().await;
    for _ in 0..3 {
        assert!(tick_once(&service, &id).now_or_never().is_none());
    }
    drop(held);
    assert_eq!(tick_once(&service, &id).await.unwrap().revision.0, 4);
    assert_eq!(now(&service, &id).await, (4.0, 4));
}

#[tokio::test]
async fn what_was_asked_before_a_deletion_is_done_before_it() {
    let (store, service, id) = service().await;
    let held = store.gate.write().await;
    let (ticks, deleted, after, ()) = tokio::join!(
        join_all((0..5).map(|_| tick_once(&service, &id))),
        service.delete(&id, None),
        tick_once(&service, &id),
        async { drop(held) },
    );
    assert!(ticks.iter().all(Result::is_ok), "{ticks:?}");
    deleted.unwrap();
    assert_eq!(after.unwrap_err(), ServiceError::NotFound(id));
}

#[tokio::test]
async fn a_write_that_fails_fails_nothing_else() {
    let (store, service, id) = service().await;
    tick_once(&service, &id).await.unwrap();
    // Held up, so that what comes meanwhile goes into one batch.
    store.fail([Fault::Unavailable]);
    let refused = Command::from_value(remove_star("none")).unwrap();
    let (read, written, refused) =
        tokio::join!(service.get(&id), tick_once(&service, &id), service.process(&id, refused),);
    assert_eq!(read.unwrap().state.time(), 1.0);
    assert_eq!(written.unwrap_err(), ServiceError::Unavailable);
    assert!(matches!(refused.unwrap_err(), ServiceError::Refused { .. }));
}

#[tokio::test]
async fn a_universe_that_has_outgrown_its_limit_can_only_shrink() {
    let limits = ServiceLimits { max_universe_bytes: 2_000, ..ServiceLimits::default() };
    let service = CommandService::new(Faulty::new() as Arc<_>, limits);
    let id = create(&service, "u").await;
    let mut added = 0;
    let error = loop {
        let command = Command::from_value(add_star(&format!("star-{added}"))).unwrap();
        match service.process(&id, command).await {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
        assert!(added < 100, "it grows without end");
    };
    assert_eq!(error.code(), "UNIVERSE_TOO_LARGE");
    assert!(error.to_string().contains("universe u has outgrown"));
    // What makes it smaller passes, whatever its kind; what makes it larger does not.
    let update = |name: &str| {
        let update = json!({"type": "updateStar", "id": "star-0", "payload": {"name": name}});
        Command::from_value(update).unwrap()
    };
    let longer = service.process(&id, update("a longer name")).await;
    assert_eq!(longer.unwrap_err().code(), "UNIVERSE_TOO_LARGE");
    service.process(&id, update("S")).await.unwrap();
    tick_once(&service, &id).await.unwrap();
    let remove = Command::from_value(remove_star("star-0")).unwrap();
    let processed = service.process(&id, remove).await.unwrap();
    assert_eq!(processed.state.star_count(), added - 1);
}
