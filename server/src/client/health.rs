//! `health`: the question that containers and load balancers ask, as an exit code.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::Method;
use tokio::time::timeout;

use super::{ClientError, Common, Connection, print};

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// How many seconds the server may take to answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode, ClientError> {
        let asked = timeout(Duration::from_secs(self.timeout), async {
            let mut connection = Connection::to_server(&self.common, dir).await?;
            connection.ask(Method::GET, "/readyz", &[], Bytes::new()).await
        });
        let Ok(answered) = asked.await else {
            let seconds = self.timeout;
            let problem = format!("the server did not answer within {seconds} s");
            return Err(ClientError::Given(problem));
        };
        answered?;
        if self.common.json {
            print::json(&serde_json::json!({"ready": true}))?;
        } else {
            service_host::print("the server is ready")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
