//! Checks MCP servers and clients against the rules of the specification, records sessions and replays them.
//!
#![doc = include_str!("../README.md")]
//!
//! # The library
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_conformance::{Replay, Target, TextReporter, Transcript};
//!
//! let transcripts = Transcript::read_all(["transcripts/universe"])?;
//! let mut reporter = TextReporter::new(std::io::stderr(), false);
//! let summary = Replay::new(Target::url("http://127.0.0.1:3001/mcp")?)
//!     .run(&transcripts, |event| drop(reporter.report(event)))
//!     .await;
//! assert!(summary.is_success());
//! # Ok(())
//! # }
//! ```
//!
//! # Transcripts
//!
//! A transcript is a file of JSON Lines. The first line is its header:
//!
//! ```json
//! {"transcript":1,"name":"REQ-MCP-06","title":"get_universe_state","requirements":["REQ-MCP-6"],"eras":["legacy","modern"]}
//! ```
//!
//! | member | meaning |
//! |---|---|
//! | `transcript` | version of the format: 1 |
//! | `name` | its name in reports |
//! | `title`, `requirements` | what it shows, which requirements it covers |
//! | `eras` | the eras it can be replayed in; both if absent |
//! | `fixture` | the name of the server that was prepared for it, such as one whose store fails; absent for any server |
//! | `endpoint` | path of the MCP endpoint; `/mcp` if absent |
//!
//! Every other line is a step. Steps run in order; a step that needs something that a failed step would have captured
//! or opened is not run. Each may have an `era` (it runs only in that era) and a `note` (what it shows, for failure
//! reports).
//!
//! | step | meaning |
//! |---|---|
//! | `{"open":"a"}` | opens the MCP client `a`. Legacy: `initialize` (of `version`, compared with `expect.result`) and `notifications/initialized`; the variable `a.session` holds the session id. Modern: nothing is sent. It may have `capabilities`, `clientInfo` and `answers`. |
//! | `{"mcp":{"method":…,"params":…},"client":"a","expect":…}` | an MCP request by `a` (`main` if absent), framed as the era wants it. `expect` has `result` or `error`, and may have `status`, `headers`, `notifications` |
//! | `{"mcp":{"notify":…,"params":…}}` | an MCP notification; without `expect` the answer must be 202 |
//! | `{"http":{"method":…,"path":…,"headers":{},"json":…},"expect":…}` | a plain HTTP exchange; the body is `json`, `text` or empty. `expect` has `status`, may have `headers` and one of `json`, `text`, `message` (a JSON-RPC answer, sent as JSON or as an event stream) |
//! | `{"stream":"s","http":…}` | opens the event stream `s` by an HTTP request; `expect` may have `status`, `headers` |
//! | `{"stream":"s","listen":{…},"client":"a"}` | opens the stream for unasked notifications. Legacy: GET. Modern: `subscriptions/listen` with this filter. Messages of the methods in `ignore`, if given, are skipped: other clients of the server may cause them |
//! | `{"await":"s","event":…}` | the next event on `s`, as `{"event","data","id"?,"retry"?}`; `"message"` compares its data as JSON-RPC; `"comment"` a comment instead. Events pass over comments |
//! | `{"silent":["s"],"while":[…]}` | runs steps, during which `s` stays open and no event with data comes |
//! | `{"end":"s"}` | `s` ends, without another event with data |
//! | `{"close":"s"}` | drops `s` from this side |
//! | `{"check":"x","is":P}` | compares the variable `x` |
//! | `{"parallel":[[…],[…]]}` | lists of steps that run at the same time |
//!
//! `answers` of an `open` are the client's answers to questions of the server, which come by a request on a stream
//! (legacy) or by a result that needs input (modern): `{"method":"elicitation/create","params":P,"result":…}`, or
//! `error` instead of `result`. Each is used for the first question it fits, the last that fits again after that. A
//! question without a matching answer is a failure, and so is an answer that was not requested, unless it has
//! `"optional":true`. If the expected result names `resultType`, the steps answer the questions themselves.
//!
//! Each step is limited by the step timeout. Some members of answers are checked although the transcript does not have
//! them: the JSON-RPC frame and the id; in the modern era also `resultType`, `_meta` and the caching hints, which are
//! removed from a result before it is compared, unless the pattern mentions them.
//!
//! # Variables
//!
//! A `$capture` binds a name, once. Requests use it as `{"$var":"u"}`, or inside any string as `${u}` (`$${` is a
//! literal `${`). A transcript that uses a name which no earlier step of the same era binds is invalid.
//!
//! # Matchers
//!
//! Expected JSON is compared exactly: objects have just these members, an absent member is not `null`, numbers are
//! equal as 64-bit floats. An object with one member that begins with `$` is a matcher:
//!
//! | matcher | what it accepts |
//! |---|---|
//! | `{"$any":true}` | any value, but not an absent member |
//! | `{"$absent":true}` | an absent member |
//! | `{"$optional":P}` | an absent member, or a value that matches P |
//! | `{"$type":"string"}` | a value of this JSON type; also `integer` |
//! | `{"$match":"^a+$"}` | a string in which the regular expression is found |
//! | `{"$contains":"text"}` | a string with this part |
//! | `{"$contains":{…}}` | an object with at least these members |
//! | `{"$contains":[…]}` | an array with a separate element for each of these |
//! | `{"$unordered":[…]}` | an array of just these elements in any order (at most 512) |
//! | `{"$each":P}` | an array or object all of whose elements match P |
//! | `{"$length":3}` | a string (characters), array or object of this length |
//! | `{"$json":P}` | a string that holds JSON that matches P |
//! | `{"$not":P}` | a value that does not match P |
//! | `{"$all":[…]}`, `{"$oneOf":[…]}` | a value that matches all of them, at least one of them |
//! | `{"$capture":"u"}` | any value; binds the name |
//! | `{"$var":"u"}` | the value bound to the name; members are compared in the order of their names, so a name bound in `content` can be used in `structuredContent` |
//! | `{"$literal":…}` | exactly this value, in which `$` has no meaning |

mod calls;
mod check;
mod child;
mod clients;
mod contract;
mod error;
mod fuzz;
mod json;
mod load;
mod mock;
mod pattern;
mod probe;
mod record;
mod replay;
mod results;
mod rpc_client;
mod sample;
mod schema;
mod serving;
mod shorten;
mod sse;
mod target;
mod template;
mod transcript;
mod update;

pub use calls::{Calls, ToolCall};
pub use check::{Check, CheckReport, Finding, Judged, Level, Rule, Verdict, rules};
pub use clients::{ClientCheck, ClientJudged, ClientReport, ClientRule, Scene, client_rules};
pub use contract::{Change, Contract, ContractDiff, ContractError, Impact, TextChange};
pub use error::{Problem, TranscriptError};
pub use fuzz::{Fuzz, FuzzError, FuzzFinding, FuzzReport, MAX_FINDINGS, Oracle};
pub use load::{
    Call, CallError, Figures, Load, LoadError, LoadReport, LoadTarget, MAX_CALLS, MAX_CONNECTIONS,
    MAX_ROUNDS, Measured, RoundFigures, Usage,
};
pub use mock::Mock;
pub use pattern::{Mismatch, Pattern};
pub use probe::{Exchange, LoggedIn, Login, LoginError, Revision};
pub use record::{
    Loosened, MAX_RECORDED_BYTES, MAX_SESSIONS, RecordedCalls, RecordedFile, Recorder, around,
    proxy,
};
pub use replay::Replay;
pub use replay::report::{Event, Failure, Summary, TextReporter};
pub use results::{
    Baseline, BaselineError, Case, Difference, FailedStep, Format, Location, Outcome, Results,
    Subject, Tool,
};
pub use serving::{Body, BoxError};
pub use sse::{DecodeError, Decoder, Event as SseEvent, Frame, MAX_EVENT_BYTES};
pub use target::{Target, TargetError};
pub use template::Vars;
pub use transcript::format::transcript_schema;
pub use transcript::{Era, MAX_FILE_BYTES, MAX_STEPS, Transcript};
pub use update::{Update, UpdatedFile};
