//! The scenarios of authorization: the client's identity differs, but it always does the same.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::LOCATION;
use http_body_util::Empty;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use mcp_proto_client::authorize::{
    Browser, FixedAssertion, Grant, IdentityProvider, OAuth, RegisteredClient, SigningKey,
};

use super::{Arc, Client, ClientConfig, Result, Scenario, json};

/// The id that the suite wants of clients with a metadata document. No document is at that URL.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Lists the tools, which needs a token, and calls the only tool, which may need more scopes.
pub(super) async fn run(scenario: &Scenario) -> Result<()> {
    let oauth = Arc::new(oauth(scenario)?);
    let config = ClientConfig::default().with_credentials(oauth);
    let client = Client::http(&scenario.url, config).await?;
    let tools = client.list_tools().await?;
    let tool = tools.first().ok_or("there is no tool")?;
    client.call_tool_raw(&tool.name, json!({})).await?;
    client.close().await?;
    Ok(())
}

fn oauth(scenario: &Scenario) -> Result<OAuth> {
    let url = &scenario.url;
    let of = |grant| OAuth::new(url, grant);
    let public = || scenario.given("client_id").map(RegisteredClient::new);
    let with_secret = || Result::Ok(public()?.with_secret(scenario.given("client_secret")?));
    let browser = Grant::Browser(Arc::new(Headless));
    Ok(match scenario.name.as_str() {
        "auth/pre-registration" => of(browser)?.with_client(with_secret()?),
        "auth/basic-cimd" => of(browser)?.with_metadata_document(DOCUMENT),
        "auth/client-credentials-basic" => {
            of(Grant::ClientCredentials)?.with_client(with_secret()?)
        }
        "auth/client-credentials-jwt" => {
            let key = SigningKey::from_pem(scenario.given("private_key_pem")?)?;
            of(Grant::ClientCredentials)?.with_client(public()?.with_key(key))
        }
        "auth/enterprise-managed-authorization" | "auth/cross-app-access-complete-flow" => {
            let id_token = FixedAssertion::new(scenario.given("idp_id_token")?);
            let client = RegisteredClient::new(scenario.given("idp_client_id")?);
            let provider =
                IdentityProvider::new(scenario.given("idp_issuer")?, client, Arc::new(id_token))
                    .with_token_endpoint(scenario.given("idp_token_endpoint")?);
            of(Grant::Enterprise(provider))?.with_client(with_secret()?)
        }
        "auth/wif-jwt-bearer" => {
            let jwt = FixedAssertion::new(scenario.given("valid_jwt")?);
            of(Grant::Workload(Arc::new(jwt)))?.with_client(public()?)
        }
        _ => of(browser)?,
    })
}

/// A browser without a person: the suite's servers agree at once, by a redirect that is not followed.
#[derive(Debug)]
struct Headless;

impl Browser for Headless {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn authorize<'a>(&'a self, url: &'a str) -> BoxFuture<'a, std::result::Result<String, String>> {
        Box::pin(async move {
            let client = HttpClient::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
            let url = url.parse().map_err(|_| format!("{url} is not a URL"))?;
            let answer = client.get(url).await.map_err(|problem| problem.to_string())?;
            let location = answer.headers().get(LOCATION).and_then(|it| it.to_str().ok());
            let status = answer.status();
            location.map(ToOwned::to_owned).ok_or_else(|| format!("{status} without a Location"))
        })
    }
}
