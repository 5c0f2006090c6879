//! What people get to read.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_conformance::{BoxError, Event, Replay, Summary, Target, TextReporter, Transcript};

fn transcript(name: &str, header: &str, expected: &str) -> Transcript {
    let text = format!(
        "{{\"transcript\":1,\"name\":\"{name}\",\"title\":\"about {name}\"{header}}}\n\
         {{\"note\":\"the answer\",\"http\":{{\"method\":\"GET\",\"path\":\"/\"}},\"expect\":{{\"status\":200,\"json\":{expected}}}}}"
    );
    Transcript::parse(&format!("{name}.jsonl"), &text).unwrap()
}

async fn report(
    replay: impl FnOnce(Replay) -> Replay,
    transcripts: &[Transcript],
    color: bool,
) -> (String, Summary) {
    let server = Target::in_process(|_: Request<Full<Bytes>>| async {
        Ok::<_, BoxError>(Response::new(Full::from(r#"{"a":[1,2],"text":"one\ntwo\nthree"}"#)))
    });
    let mut written = Vec::new();
    let mut reporter = TextReporter::new(&mut written, color);
    let summary = replay(Replay::new(server))
        .run(transcripts, |event| {
            // Durations are not the same twice.
            match event {
                Event::Passed { transcript, era, .. } => reporter.report(&Event::Passed {
                    transcript,
                    era: *era,
                    elapsed: Default::default(),
                }),
                Event::Failed { transcript, era, failures, not_run, .. } => {
                    reporter.report(&Event::Failed {
                        transcript,
                        era: *era,
                        failures,
                        not_run: *not_run,
                        elapsed: Default::default(),
                    })
                }
                other => reporter.report(other),
            }
            .unwrap();
        })
        .await;
    (String::from_utf8(written).unwrap(), summary)
}

const ANY: &str = r#"{"$any":true}"#;

#[tokio::test]
async fn a_line_for_each_replay() {
    let transcripts = [
        transcript("one", "", ANY),
        transcript("two", ",\"eras\":[\"modern\"]", ANY),
        transcript("three", ",\"fixture\":\"broken-store\"", ANY),
    ];
    let (text, summary) = report(|replay| replay, &transcripts, false).await;
    assert_eq!(
        text,
        "PASS   0.0ns legacy one about one\n\
         PASS   0.0ns modern one about one\n\
         PASS   0.0ns modern two about two\n\
         SKIP three (needs a server prepared as broken-store; see --fixture)\n\
         passed: 3 passed, 0 failed, 1 skipped\n"
    );
    assert_eq!(summary, Summary { passed: 3, failed: 0, skipped: 1, unreachable: false });

    let (text, _) = report(
        |replay| replay.fixture("broken-store").eras([mcp_conformance::Era::Legacy]),
        &transcripts,
        false,
    )
    .await;
    assert_eq!(
        text,
        "SKIP one (needs a server without a fixture)\n\
         SKIP two (needs a server without a fixture)\n\
         PASS   0.0ns legacy three about three\n\
         passed: 1 passed, 0 failed, 2 skipped\n"
    );
}

#[tokio::test]
async fn nothing_replayed_is_not_a_success() {
    let (text, summary) =
        report(|replay| replay.eras([]), &[transcript("one", "", ANY)], false).await;
    assert_eq!(
        text,
        "SKIP one (is for legacy and modern only)\nnot passed: 0 passed, 0 failed, 1 skipped\n"
    );
    assert!(!summary.is_success());
}

#[tokio::test]
async fn a_failure_says_where_and_what_differs() {
    let expected = r#"{"a":[1,3],"text":"one\n2\nthree"}"#;
    let (text, summary) =
        report(|replay| replay, &[transcript("one", ",\"eras\":[\"legacy\"]", expected)], false)
            .await;
    assert_eq!(
        text,
        "FAIL   0.0ns legacy one about one\n\
         \x20    at one.jsonl:2: GET /\n\
         \x20    note: the answer\n\
         \x20    the answer differs from the transcript\n\
         \x20    /json/a/1: expected 3, found 2\n\
         \x20    /json/text:\n\
         \x20      @@ -1,3 +1,3 @@\n\
         \x20       one\n\
         \x20      -2\n\
         \x20      +two\n\
         \x20       three\n\
         not passed: 0 passed, 1 failed, 0 skipped\n"
    );
    assert!(!summary.is_success());
}

#[tokio::test]
async fn long_reports_are_cut() {
    let expected = format!(
        "{{{}}}",
        (0..40).map(|n| format!("\"m{n:02}\":{n}")).collect::<Vec<_>>().join(",")
    );
    let (text, _) =
        report(|replay| replay, &[transcript("one", ",\"eras\":[\"legacy\"]", &expected)], false)
            .await;
    assert!(text.contains("… and 30 more differences"), "{text}");
}

#[tokio::test]
async fn colours_are_there_only_if_wanted() {
    let transcripts = [transcript("one", "", ANY), transcript("two", "", "1")];
    let (plain, _) = report(|replay| replay, &transcripts, false).await;
    assert!(!plain.contains('\u{1b}'));
    let (coloured, _) = report(|replay| replay, &transcripts, true).await;
    assert!(
        coloured.contains("\u{1b}[32mPASS\u{1b}[0m")
            && coloured.contains("\u{1b}[31mFAIL\u{1b}[0m"),
        "{coloured}"
    );
}
