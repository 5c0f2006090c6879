//! `use mcp_proto::*` takes no name away that a program has from the standard library, nor of the crates beside it.

use mcp_proto::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
struct Words {
    words: Vec<String>,
}

/// Names of the prelude, of the roots of crates and of their macros, each as what it is there.
#[test]
fn names_of_the_prelude_are_those_of_the_standard_library() {
    fn result(some: Option<u8>) -> Result<Box<u8>, Box<dyn Error>> {
        let Some(number) = some else {
            return Err("none".into());
        };
        Ok(Box::new(number))
    }
    use std::error::Error;

    assert!(result(None).is_err());
    assert_eq!(*result(Some(1)).unwrap(), 1);
    let text: String = ToString::to_string("a");
    let owned: String = ToOwned::to_owned("a");
    assert_eq!(text, owned);
    let mut all: Vec<u8> = FromIterator::from_iter(IntoIterator::into_iter([3, 1]));
    Extend::extend(&mut all, Iterator::rev([2].into_iter()));
    let doubled: u16 = From::from(2u8);
    let back: u8 = TryFrom::try_from(doubled).unwrap();
    let into: u64 = Into::into(back);
    let tried: std::result::Result<u8, _> = TryInto::try_into(into);
    assert_eq!(tried.unwrap(), 2);
    let closure: &dyn Fn(u8) -> u8 = &|it| it;
    assert_eq!(closure(1), 1);
    assert_eq!(AsRef::<[u8]>::as_ref(&all).len(), 3);
    let words = Words::default();
    assert_eq!(Clone::clone(&words), Default::default());
    assert!(std::mem::size_of::<u8>() == 1 && json!({}).is_object());
}

/// Names of crates that programs use beside this one.
#[test]
fn names_of_crates_are_those_crates() {
    let request = http::Request::builder().uri("/mcp").body(()).unwrap();
    let response: http::Response<()> = http::Response::new(());
    assert_eq!(request.uri().path(), "/mcp");
    assert_eq!(response.status(), http::StatusCode::OK);
    assert_eq!(Value::from(1), serde_json::json!(1));
    assert!(bytes::Bytes::new().is_empty());
}

#[tokio::test]
async fn a_server_needs_no_other_import_of_the_library() {
    async fn count((): (), asked: Words, _: Context) -> Result<Json<Words>, ToolError> {
        Ok(Json(asked))
    }
    let server =
        Server::builder("glob", "1", ()).tool(Tool::new("count", ""), count).build().unwrap();
    let call = jsonrpc::Request::new(
        1,
        "tools/call",
        json!({"name": "count", "arguments": {"words": []}}),
    );
    let answer = server.handle(call, Context::test()).await.outcome.unwrap();
    assert_eq!(answer.to_value()["isError"], Value::Null);
}
