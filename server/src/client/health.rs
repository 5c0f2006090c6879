//! `health`: the question that containers and load balancers ask, as an exit code.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{ClientError, Common, Connection, Result};

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// How many seconds the server may take to answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let asked = timeout(Duration::from_secs(self.timeout), async {
            let mut connection = Connection::to_server(&self.common, dir).await?;
            connection.ask(Method::GET, "/readyz", &[], Bytes::new()).await
        });
        let Ok(answered) = asked.await else {
            let seconds = self.timeout;
            let problem = format!("the server did not answer within {seconds} s");
            return Err(ClientError::Given(problem));
        };
        let state: Value = serde_json::from_slice(&answered?.body).unwrap_or_default();
        let is_full = state.get("writable") == Some(&Value::Bool(false));
        let (told, sentence) = if is_full {
            let sentence = "the server is ready, but its last write found no room";
            (json!({"ready": true, "writable": false}), sentence)
        } else {
            (json!({"ready": true}), "the server is ready")
        };
        self.common.show(&told, || sentence.to_owned())?;
        Ok(ExitCode::SUCCESS)
    }
}
