//! The contract's eight acceptance criteria, a test each, and its test requirements.

use std::path::PathBuf;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::json;
use starmap_server::errors::{InsufficientBordersError, InvalidParameterError};
use starmap_server::load::{self, GraphEnvironment};
use starmap_server::mcp::resolve_system_name;
use starmap_server::{RouteNotFoundError, SystemNotFoundError, UniverseError, UniverseServer};

use crate::assert_has;
use crate::common::small;
use crate::harness::{Built, ERAS, binary, call, connect, finish, soon};

#[test]
fn criterion_1_universe_server_initializes_without_errors() {
    let nowhere = PathBuf::from("/there/is/no/such.graph");
    let server = UniverseServer::new(Some(&nowhere)).unwrap();
    assert_eq!(server.graph_path(), nowhere);
    assert!(server.universe().is_none(), "nothing is read");
}

#[test]
fn criterion_2_graph_loads_successfully_from_the_built_file() {
    let built = Built::new();
    let server = UniverseServer::new(Some(&built.graph())).unwrap();
    assert!(server.universe().is_none());
    server.load_graph().unwrap();
    assert_eq!(server.universe().unwrap().systems().len(), 20);
}

#[tokio::test]
async fn criterion_3_server_starts_and_accepts_stdio_connections() {
    let built = Built::new();
    for era in ERAS {
        let mut command = binary("starmap-server");
        command.args(["mcp", "--graph"]).arg(built.graph());
        let client = Client::stdio(command, ClientConfig::new(era)).await.unwrap();
        let route = call(&client, "route", json!({"origin": "jita", "destination": "amarr"}));
        assert_eq!(soon(route).await.unwrap()["jumps"], 3);
        client.close().await.unwrap();
    }
}

#[test]
fn criterion_4_error_classes_serialize_to_mcp_format() {
    let universe = UniverseError::Universe("It is gone".to_owned());
    let not_found = SystemNotFoundError::new("Juta", ["Jita", "Jatate"]);
    let no_route = RouteNotFoundError::new("System A", "System B", Some("No gate connection"));
    let without_reason = RouteNotFoundError::new("System A", "System B", None);
    let invalid = InvalidParameterError::new("limit", "0", "must be at least 1");
    let few = InsufficientBordersError {
        found: 1,
        required: 4,
        search_radius: 10,
        suggestion: "raise target_jumps".to_owned(),
    };
    for (error, body) in [
        (universe, json!({"code": "UNIVERSE_ERROR", "message": "It is gone", "data": {}})),
        (
            not_found.into(),
            json!({"code": "SYSTEM_NOT_FOUND", "message": "Unknown system: Juta",
                   "data": {"suggestions": ["Jita", "Jatate"]}}),
        ),
        (
            no_route.into(),
            json!({"code": "ROUTE_NOT_FOUND", "message": "No route from System A to System B: No gate connection",
                   "data": {"origin": "System A", "destination": "System B", "reason": "No gate connection"}}),
        ),
        (
            without_reason.into(),
            json!({"code": "ROUTE_NOT_FOUND", "message": "No route from System A to System B",
                   "data": {"origin": "System A", "destination": "System B", "reason": null}}),
        ),
        (
            invalid.into(),
            json!({"code": "INVALID_PARAMETER", "message": "Invalid limit: must be at least 1",
                   "data": {"parameter": "limit", "value": "0", "reason": "must be at least 1"}}),
        ),
        (
            few.into(),
            json!({"code": "INSUFFICIENT_BORDERS",
                   "message": "Found 1 border systems within 10 jumps, need at least 4",
                   "data": {"found": 1, "required": 4, "search_radius": 10, "suggestion": "raise target_jumps"}}),
        ),
    ] {
        let error: UniverseError = error;
        assert_eq!(error.to_mcp_error(), json!({ "error": body }));
    }
}

#[tokio::test]
async fn criterion_5_system_not_found_error_includes_suggestions() {
    let unknown = resolve_system_name(&small(), "Juta").unwrap_err();
    assert_eq!(unknown.suggestions, ["Jita"]);
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        let arguments = json!({"origin": "Juta", "destination": "Amarr"});
        let error = call(&client, "route", arguments).await.unwrap_err();
        assert_eq!(
            error,
            json!({"code": "SYSTEM_NOT_FOUND", "message": "Unknown system: Juta",
                   "data": {"suggestions": ["Jita"]}})
        );
    }
}

#[tokio::test]
async fn criterion_6_environment_variables_respected() {
    // The path of the map.
    let environment =
        GraphEnvironment { graph: Some("custom.graph".into()), ..GraphEnvironment::default() };
    assert_eq!(environment.graph_path(None), PathBuf::from("custom.graph"));
    let built = Built::new();
    let mut command = binary("aria-universe");
    command.env("ARIA_UNIVERSE_GRAPH", built.graph());
    let client = Client::stdio(command, ClientConfig::new(Era::Modern)).await.unwrap();
    soon(call(&client, "systems", json!({"systems": ["Jita"]}))).await.unwrap();
    client.close().await.unwrap();
    // The level of the log: stdin is empty, so the server ends at once.
    for (level, told) in
        [("info", true), ("DEBUG", true), ("WARNING", false), ("Critical", false), ("", false)]
    {
        let mut command = binary("aria-universe");
        command.env("ARIA_UNIVERSE_GRAPH", built.graph()).env("ARIA_UNIVERSE_LOG_LEVEL", level);
        let ended = finish(command).await;
        assert_eq!(ended.code, Some(0), "{level}: {}", ended.stderr);
        assert_eq!(ended.stderr.contains("map loaded"), told, "{level}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{level}");
    }
    let mut command = binary("aria-universe");
    command.env("ARIA_UNIVERSE_GRAPH", built.graph()).env("ARIA_UNIVERSE_LOG_LEVEL", "loud");
    let ended = finish(command).await;
    assert_eq!(ended.code, Some(0));
    assert_has(&ended.stderr, &["\"loud\"", "CRITICAL"]);
}

#[tokio::test]
async fn criterion_7_entry_point_aria_universe_is_there() {
    let built = Built::new();
    for era in ERAS {
        let mut command = binary("aria-universe");
        command.arg("--graph").arg(built.graph());
        let client = Client::stdio(command, ClientConfig::new(era)).await.unwrap();
        let server = client.server().await.unwrap();
        let info = server.info.as_ref().unwrap();
        assert_eq!(info.name, "aria-universe", "{info:?}");
        client.close().await.unwrap();
    }
}

#[test]
fn criterion_8_module_exports_all_public_classes() {
    // What the contract's module lists, by the names it lists them under.
    use starmap_server::{
        InsufficientBordersError, InvalidParameterError, RouteNotFoundError, SystemNotFoundError,
        UniverseError, UniverseServer, main,
    };
    fn is_error<E: std::error::Error>() {}
    is_error::<UniverseError>();
    is_error::<SystemNotFoundError>();
    is_error::<RouteNotFoundError>();
    is_error::<InvalidParameterError>();
    is_error::<InsufficientBordersError>();
    let _: fn(Option<&std::path::Path>) -> Result<UniverseServer, mcp_proto::BuildError> =
        UniverseServer::new;
    let _: fn() -> std::process::ExitCode = main;
}

#[tokio::test]
async fn a_tool_without_a_map_is_told_as_the_programs_mistake() {
    let server = UniverseServer::new(None).unwrap();
    for era in ERAS {
        let client = connect(&server, era).await;
        let error = call(&client, "systems", json!({"systems": ["Jita"]})).await;
        let error = error.unwrap_err();
        assert_eq!(error["code"], "UNIVERSE_ERROR");
        assert_has(error["message"].as_str().unwrap(), &["not loaded"]);
    }
}

#[test]
fn names_resolve_in_any_case_and_by_id() {
    let map = small();
    let jita = map.system_by_name("Jita").unwrap();
    for name in ["Jita", "jITA", "  jita ", "30000001"] {
        assert_eq!(resolve_system_name(&map, name).unwrap(), jita, "{name}");
    }
    for name in ["", "Jit", "30000099", "-1"] {
        resolve_system_name(&map, name).unwrap_err();
    }
}

#[tokio::test]
async fn without_a_map_it_ends_with_the_sentence_that_helps() {
    let mut command = binary("aria-universe");
    command.args(["--graph", "/no/such/map.graph"]);
    let ended = finish(command).await;
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    for told in ["aria-universe: ", "/no/such/map.graph", "starmap-server build"] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    // The file of the contract is a pickle, which is refused with what helps.
    let folder = tempfile::TempDir::new().unwrap();
    let pickle = folder.path().join("universe.pkl");
    std::fs::write(&pickle, b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}.").unwrap();
    let error = load::load(&pickle).unwrap_err().to_string();
    assert_has(&error, &["pickle", "starmap-server build"]);
}
