//! Reading transcripts: what is accepted, and how a broken one is reported.

use std::fs;

use mcp_conformance::{Era, MAX_FILE_BYTES, Transcript, TranscriptError};

const HEADER: &str = r#"{"transcript":1,"name":"t"}"#;

fn broken(text: &str) -> TranscriptError {
    Transcript::parse("t.jsonl", text).unwrap_err()
}

#[track_caller]
fn refuses(steps: &str, line: usize, member: &str, says: &str) {
    let error = broken(&format!("{HEADER}\n{steps}"));
    assert_eq!((error.line_number(), error.member()), (Some(line), member), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn a_header_is_read() {
    let header = r#"{"transcript":1,"name":"REQ-1","title":"first","requirements":["REQ-1"],"eras":["modern"],"fixture":"f","endpoint":"/rpc"}"#;
    let transcript =
        Transcript::parse("t", &format!("{header}\n\n{{\"open\":\"main\"}}\n")).unwrap();
    assert_eq!(
        (transcript.name(), transcript.title(), transcript.endpoint()),
        ("REQ-1", "first", "/rpc")
    );
    assert_eq!(
        (transcript.requirements(), transcript.fixture()),
        (&["REQ-1".to_owned()][..], Some("f"))
    );
    assert_eq!(transcript.eras(), [Era::Modern]);
    let plain = Transcript::parse("t", &format!("{HEADER}\n{{\"open\":\"main\"}}")).unwrap();
    assert_eq!((plain.eras(), plain.endpoint(), plain.fixture()), (&Era::ALL[..], "/mcp", None));
}

#[test]
fn a_broken_header_is_reported() {
    for (header, says) in [
        ("", "t.jsonl: the transcript is empty"),
        ("[]", "t.jsonl:1: expected an object"),
        ("{", "t.jsonl:1: not JSON"),
        (r#"{"name":"t"}"#, "t.jsonl:1: transcript: is missing"),
        (r#"{"transcript":2,"name":"t"}"#, "t.jsonl:1: transcript: version 2 is not supported"),
        (r#"{"transcript":1}"#, "t.jsonl:1: name: is missing"),
        (r#"{"transcript":1,"name":"t","eras":["old"]}"#, "t.jsonl:1: eras: \"old\" is not an era"),
        (
            r#"{"transcript":1,"name":"t","titel":"x"}"#,
            "t.jsonl:1: titel: is not allowed here; the allowed members are transcript",
        ),
        (r#"{"transcript":1,"name":"t"}"#, "t.jsonl: the transcript has no steps"),
    ] {
        let error = broken(header).to_string();
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn a_broken_step_is_reported_with_line_and_member() {
    refuses("{\"open\":\"a\"}\n\n{\"opne\":\"b\"}", 4, "", "a step has one of the members open");
    refuses(r#"{"open":"a","era":"now"}"#, 2, "era", "not an era");
    refuses(r#"{"http":{"method":"GET","path":"/"}}"#, 2, "expect", "is missing");
    refuses(
        r#"{"http":{"method":"GET","path":"/"},"expect":{}}"#,
        2,
        "expect.status",
        "is missing",
    );
    refuses(r#"{"http":{"method":"GET"},"expect":{"status":200}}"#, 2, "http.path", "is missing");
    refuses(
        r#"{"http":{"method":"G T","path":"/"},"expect":{"status":200}}"#,
        2,
        "http.method",
        "not an HTTP method",
    );
    refuses(
        r#"{"http":{"method":"GET","path":"/","haeders":{}},"expect":{"status":200}}"#,
        2,
        "http.haeders",
        "the allowed members are method, path, headers",
    );
    refuses(
        r#"{"http":{"method":"GET","path":"/"},"expect":{"status":200,"json":{"a":{"$nope":1}}}}"#,
        2,
        "expect.json.a.$nope",
        "unknown matcher",
    );
    refuses(
        r#"{"http":{"method":"GET","path":"/"},"expect":{"status":200,"json":1,"text":"1"}}"#,
        2,
        "expect.text",
        "only one expectation",
    );
    refuses(
        "{\"open\":\"main\"}\n{\"mcp\":{\"method\":\"ping\"},\"expect\":{}}",
        3,
        "expect",
        "either `result` or `error`",
    );
    refuses("{\"open\":\"main\"}\n{\"mcp\":{},\"expect\":{}}", 3, "mcp", "either `method`");
    refuses(r#"{"parallel":[]}"#, 2, "parallel", "at least one element");
    refuses(r#"{"silent":[],"while":[{"open":"a"}]}"#, 2, "silent", "lists no stream");
    refuses(
        r#"{"parallel":[[{"open":"a"},{"opne":"b"}]]}"#,
        2,
        "parallel[0][1]",
        "a step has one of",
    );
}

#[test]
fn names_are_checked_before_anything_is_sent() {
    refuses(
        r#"{"mcp":{"method":"ping"},"expect":{"result":{}}}"#,
        2,
        "client",
        "no earlier step opens the client `main`",
    );
    refuses(r#"{"await":"s","event":{}}"#, 2, "", "no earlier step opens the stream `s`");
    refuses("{\"open\":\"a\"}\n{\"open\":\"a\"}", 3, "", "the client `a` is defined a second time");
    let get = |path: &str, json: &str| {
        format!(
            r#"{{"http":{{"method":"GET","path":"{path}"}},"expect":{{"status":200,"json":{json}}}}}"#
        )
    };
    refuses(&get("/${u}", "1"), 2, "", "`u` is used, but no earlier step captures it");
    let captures = get("/", r#"{"$capture":"u"}"#);
    refuses(&format!("{captures}\n{captures}"), 3, "", "the variable `u` is defined a second time");
    let beside = format!(r#"{{"parallel":[[{captures}],[{}]]}}"#, get("/${u}", "1"));
    refuses(&beside, 2, "", "`u` is used, but");
    let after = format!("{HEADER}\n{captures}\n{}", get("/${u}", r#"{"$var":"u"}"#));
    Transcript::parse("t", &after).unwrap();
}

#[test]
fn names_are_checked_for_each_era_by_itself() {
    let uses = r#"{"http":{"method":"GET","path":"/","headers":{"mcp-session-id":"${a.session}"}},"expect":{"status":200}}"#;
    refuses(&format!("{{\"open\":\"a\"}}\n{uses}"), 3, "", "`a.session` is used, but");
    let only = uses.replacen('{', r#"{"era":"legacy","#, 1);
    Transcript::parse("t", &format!("{HEADER}\n{{\"open\":\"a\"}}\n{only}")).unwrap();
}

#[test]
fn depth_and_number_are_bounded() {
    let mut deep = r#"{"open":"a"}"#.to_owned();
    for _ in 0..5 {
        deep = format!(r#"{{"parallel":[[{deep}]]}}"#);
    }
    let error = broken(&format!("{HEADER}\n{deep}"));
    assert!(error.to_string().contains("nested deeper than 4"), "{error}");

    let nested_json = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let error = broken(&format!("{HEADER}\n{{\"http\":{nested_json}}}"));
    assert!(error.to_string().contains("recursion limit"), "{error}");

    let many: String = (0..=10_000).map(|n| format!("{{\"open\":\"c{n}\"}}\n")).collect();
    let error = broken(&format!("{HEADER}\n{many}"));
    assert!(error.to_string().contains("10001 steps"), "{error}");
}

#[test]
fn directories_are_searched_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let named =
        |name: &str| format!("{{\"transcript\":1,\"name\":\"{name}\"}}\n{{\"open\":\"a\"}}\n");
    write("b.jsonl", &named("b"));
    write("a/z.jsonl", &named("z"));
    write("notes.txt", "not a transcript");
    let transcripts = Transcript::read_all([directory.path()]).unwrap();
    assert_eq!(transcripts.iter().map(Transcript::name).collect::<Vec<_>>(), ["z", "b"]);

    write("c/broken.jsonl", &format!("{}nonsense", named("c")));
    let error = Transcript::read_all([directory.path()]).unwrap_err();
    assert!(error.source_name().ends_with("broken.jsonl"), "{error}");
    assert_eq!(error.line_number(), Some(3));
}

#[test]
fn files_that_cannot_be_used_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let read = |path: &std::path::Path| Transcript::read_all([path]).unwrap_err().to_string();
    assert!(read(directory.path()).contains("no *.jsonl file"));
    assert!(read(&directory.path().join("missing")).contains("cannot be read"));
    let long = directory.path().join("long.jsonl");
    fs::File::create(&long).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    assert!(read(&long).contains("longer than"));
}
