//! Who may call a server that listens, and what a caller may do.

use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser as _;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use mcp_proto::{CallToolResult, Context, ElicitForm, Server, Tool, ToolAnnotations};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use service_host::{Asking, EndpointArgs, Host, guard};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber};

use crate::{LONG, Outcome, RunningServer};

const ISSUER: &str = "https://login.example";

/// A server with a tool that reads and one that writes.
fn server() -> Result<Server, mcp_proto::BuildError> {
    let tool = |name| Tool::new(name, "").with_input_schema(json!({ "type": "object" }));
    let look = tool("look").with_annotations(ToolAnnotations::read_only());
    let builder = Server::builder("x", "1", ())
        .raw_tool(look, async |(), _, _| Ok(CallToolResult::text("seen")))
        .raw_tool(tool("change"), async |(), _, _| Ok(CallToolResult::text("changed")))
        .raw_tool(tool("confirm").asking(), async |(), _, context: Context| {
            context.elicit("sure", &ElicitForm::new("Sure?"))?;
            Ok(CallToolResult::text("changed"))
        });
    guard(builder).build()
}

/// A server whose callers need this.
async fn start(
    asking: Asking,
    read_only: bool,
) -> Result<RunningServer, Box<dyn std::error::Error>> {
    let endpoint = EndpointArgs { asking, read_only, ..EndpointArgs::default() };
    RunningServer::start(Host::default(), server()?, endpoint).await
}

impl RunningServer {
    /// Status, head and body of the answer to a request.
    async fn send(&self, request: &str) -> Result<(u16, String, Value), io::Error> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let status = head.get(9..12).and_then(|it| it.parse().ok());
        let body = serde_json::from_str(body).unwrap_or_default();
        Ok((status.unwrap_or_default(), head.to_owned(), body))
    }

    async fn ask(
        &self,
        token: Option<&str>,
        method: &str,
        mut params: Value,
    ) -> Result<(u16, String, Value), io::Error> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        if let Some(params) = params.as_object_mut() {
            params.insert("_meta".to_owned(), meta);
        }
        let name = params.get("name").and_then(Value::as_str);
        let name = name.map(|name| format!("mcp-name: {name}\r\n"));
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        self.send(&format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n\
             {}{}content-length: {}\r\n\r\n{body}",
            self.address,
            name.unwrap_or_default(),
            token.unwrap_or_default(),
            body.len()
        ))
        .await
    }

    async fn call(&self, token: Option<&str>, tool: &str) -> Result<(u16, String), io::Error> {
        let params = json!({ "name": tool, "arguments": {} });
        let (status, head, body) = self.ask(token, "tools/call", params).await?;
        let text = body.pointer("/result/content/0/text").or(body.pointer("/error/message"));
        let text = text.and_then(Value::as_str).unwrap_or_default();
        Ok((status, format!("{text}\n{head}")))
    }

    async fn tools(&self, token: Option<&str>) -> Result<Vec<String>, io::Error> {
        let (_, _, body) = self.ask(token, "tools/list", json!({})).await?;
        let tools = body.pointer("/result/tools").and_then(Value::as_array);
        let names = tools.into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }
}

fn line(token: &str, rest: &str) -> String {
    let hash = HEXLOWER.encode(digest(&SHA256, token.as_bytes()).as_ref());
    format!("sha256:{hash} {rest}\n")
}

/// n8n-io/n8n#21500: a gateway adds arguments to every call.
#[tokio::test]
async fn what_gateways_add_is_taken_unless_the_server_is_strict() -> Outcome {
    for strict in [false, true] {
        let schema = json!({ "type": "object", "additionalProperties": false, "properties": {} });
        let tool = Tool::new("look", "").with_input_schema(schema);
        let server = Server::builder("x", "1", ())
            .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("seen")))
            .build()?;
        let endpoint = EndpointArgs { strict, ..EndpointArgs::default() };
        let running = RunningServer::start(Host::default(), server, endpoint).await?;
        let call = json!({ "name": "look", "arguments": { "toolCallId": "c" } });
        let (_, _, answer) = running.ask(None, "tools/call", call).await?;
        let is_refused = answer.pointer("/result/isError") == Some(&Value::Bool(true));
        assert_eq!(is_refused, strict, "{answer}");
        let warnings = answer.pointer("/result/content/1/text").map(Value::to_string);
        assert_eq!(warnings.is_some_and(|text| text.contains("/toolCallId")), !strict);
    }
    Ok(())
}

#[tokio::test]
async fn a_file_of_tokens_says_who_may_do_what_and_is_read_again() -> Outcome {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("tokens");
    let all = [line("r", "ada read"), line("w", "bob write"), line("a", "eve admin")];
    fs::write(&file, all.concat())?;
    let asking = Asking { auth_token_file: Some(file.clone()), ..Asking::default() };
    let running = start(asking, false).await?;
    assert_eq!(running.call(None, "look").await?.0, 401);
    assert_eq!(running.call(Some("x"), "look").await?.0, 401);
    for (token, may_write) in [("r", false), ("w", true), ("a", true)] {
        let names = running.tools(Some(token)).await?;
        assert_eq!(names.contains(&"change".to_owned()), may_write, "{token}");
        assert_eq!(running.call(Some(token), "look").await?.0, 200);
        let (status, told) = running.call(Some(token), "change").await?;
        assert_eq!(status, if may_write { 200 } else { 403 });
        assert!(may_write || told.contains("scope=\"write\""), "{told}");
    }
    // What cannot be meant changes nothing; what can be counts soon.
    fs::write(&file, "nonsense")?;
    service_host::replace(&file, line("r", "ada write").as_bytes())?;
    let begun = Instant::now();
    while running.call(Some("r"), "change").await?.0 != 200 {
        assert!(begun.elapsed() < LONG, "it is not read again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(running.call(Some("w"), "look").await?.0, 401);
    Ok(())
}

#[tokio::test]
async fn an_authorization_server_gives_out_the_tokens() -> Outcome {
    let dir = tempfile::tempdir()?;
    let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
    let wrong = |_| "no key";
    let key = EcdsaKeyPair::generate_pkcs8(kind, &random).map_err(wrong)?;
    let key = EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).map_err(|_| "no key")?;
    let part = |part: &[u8]| BASE64URL_NOPAD.encode(part);
    let (x, y) = key.public_key().as_ref().split_at(33);
    let jwk = json!({
        "kty": "EC", "crv": "P-256", "kid": "one", "x": part(x.get(1..).unwrap_or_default()), "y": part(y),
    });
    let keys = dir.path().join("keys.json");
    fs::write(&keys, json!({ "keys": [jwk] }).to_string())?;
    let audience = "https://tools.example/mcp";
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let token = |scope: &str| -> Result<String, &str> {
        let header = json!({ "alg": "ES256", "kid": "one" }).to_string();
        let claims = json!({ "iss": ISSUER, "aud": audience, "sub": "ada", "exp": now + 600, "scope": scope });
        let claims = claims.to_string();
        let text = format!("{}.{}", part(header.as_bytes()), part(claims.as_bytes()));
        let signature = key.sign(&SystemRandom::new(), text.as_bytes()).map_err(wrong)?;
        Ok(format!("{text}.{}", part(signature.as_ref())))
    };
    let tokens = dir.path().join("tokens");
    fs::write(&tokens, line("r", "bob read"))?;
    let asking = Asking {
        auth_token_file: Some(tokens),
        oauth_issuer: Some(ISSUER.to_owned()),
        oauth_audience: Some(audience.to_owned()),
        oauth_jwks: Some(keys.display().to_string()),
        ..Asking::default()
    };
    let running = start(asking.clone(), false).await?;
    assert_eq!(running.call(Some(&token("write")?), "change").await?.0, 200);
    assert_eq!(running.call(Some(&token("read")?), "change").await?.0, 403);
    assert_eq!(running.call(Some(&token("other")?), "look").await?.0, 403);
    // Those that the operator has handed out count beside them.
    assert_eq!(running.call(Some("r"), "look").await?.0, 200);
    let (status, told) = running.call(Some("x"), "look").await?;
    assert_eq!(status, 401);
    let metadata = "https://tools.example/.well-known/oauth-protected-resource/mcp";
    assert!(told.contains(metadata), "{told}");
    let (status, told) = running.call(Some("a.b.c"), "look").await?;
    assert!(status == 401 && told.contains("JSON Web Token"), "{told}");
    let get = async |path: &str| {
        let host = running.address;
        let get = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        running.send(&get).await
    };
    let (status, _, document) = get("/.well-known/oauth-protected-resource/mcp").await?;
    assert_eq!((status, &document["resource"]), (200, &json!(audience)));
    // Its card names the URL that its tokens are for.
    let (status, _, card) = get("/mcp/server-card").await?;
    assert_eq!((status, &card["remotes"][0]["url"]), (200, &json!(audience)));
    assert_eq!(document["authorization_servers"], json!([ISSUER]));
    for (place, problem) in
        [("http://login.example/keys", "https://"), ("/nowhere/keys.json", "/nowhere/keys.json")]
    {
        let asking = Asking { oauth_jwks: Some(place.to_owned()), ..asking.clone() };
        let endpoint = EndpointArgs { port: Some(0), asking, ..EndpointArgs::default() };
        let refused =
            Host::default().run(server()?, &endpoint, "x", CancellationToken::new()).await;
        assert!(refused.is_err_and(|it| it.to_string().contains(problem)));
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_only_reads_has_no_tool_that_writes() -> Outcome {
    let running = start(Asking::default(), true).await?;
    assert_eq!(running.tools(None).await?, ["look"]);
    assert_eq!(running.call(None, "look").await?.0, 200);
    let (_, told) = running.call(None, "change").await?;
    assert!(told.contains("change") && !told.starts_with("changed"), "{told}");
    Ok(())
}

/// What was logged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

/// Where only one subscriber exists, tracing asks the thread that comes to a line first whether it wants it, and that
/// may be another test's: "never" is then remembered for all. With a second one, all are asked.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::default()));

impl Lines {
    /// Takes in what this thread logs, until the guard is dropped.
    pub(crate) fn of_this_thread(&self) -> DefaultGuard {
        LazyLock::force(&SECOND);
        let written = self.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || written.clone());
        tracing::subscriber::set_default(log.finish())
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn each_write_is_a_line_in_the_log() -> Outcome {
    let lines = Lines::default();
    let _here = lines.of_this_thread();
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("tokens");
    fs::write(&file, line("w", "bob write"))?;
    let asking = Asking { auth_token_file: Some(file), ..Asking::default() };
    let running = start(asking, false).await?;
    running.call(Some("w"), "look").await?;
    running.call(Some("w"), "change").await?;
    let text = lines.text();
    let audit: Vec<_> = text.lines().filter(|line| line.contains(" audit: ")).collect();
    assert_eq!(audit.len(), 1, "{text}");
    for part in ["caller=\"bob\"", "tool=\"change\"", "outcome=\"done\""] {
        assert!(text.contains(part), "{text}");
    }
    // A round that only asks has done nothing yet.
    running.call(Some("w"), "confirm").await?;
    let text = lines.text();
    let asking = text.lines().find(|line| line.contains("tool=\"confirm\"")).unwrap_or(&text);
    assert!(asking.contains("outcome=\"asked the client\""), "{text}");
    Ok(())
}

#[derive(Debug, clap::Parser)]
struct Program {
    #[command(flatten)]
    endpoint: EndpointArgs,
}

#[tokio::test]
async fn an_issuer_needs_its_audience_and_its_keys() -> Outcome {
    let parse = |arguments: &[&str]| Program::try_parse_from([&["x"], arguments].concat());
    let whole = ["--oauth-issuer", ISSUER, "--oauth-audience", "a", "--oauth-jwks", "k.json"];
    assert!(parse(&whole)?.endpoint.asking.oauth_issuer.is_some());
    for part in [&whole[..2], &whole[..4], &whole[2..4], &whole[4..]] {
        let arguments = [&["--port", "0"], part].concat();
        let endpoint = parse(&arguments)?.endpoint;
        let refused =
            Host::default().run(server()?, &endpoint, "x", CancellationToken::new()).await;
        assert!(refused.is_err_and(|it| it.to_string().contains("give all three")));
    }
    Ok(())
}
