//! `places`

use std::path::Path;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Args;
use form_urlencoded::Serializer;
use http::Method;
use serde_json::Value;

use super::connection::path_of;
use super::{Common, Connection, Result};
use crate::store::UniverseId;

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// The universe's id.
    id: UniverseId,

    /// The time: a date such as 2026-11-27 or 2026-11-27T18:00:00Z, simulated seconds, or now. The universe's own time
    /// by default.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,

    /// Only these bodies, by their ids. Repeatable, or separated by commas. All of them by default, 100 at most.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    bodies: Vec<String>,

    /// The body that they are seen from. The origin of the world by default.
    #[arg(long, value_name = "ID")]
    from: Option<String>,

    /// Also the angles between these bodies.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    separations: Vec<String>,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut query = Serializer::new(String::new());
        let lists = [("bodies", &self.bodies), ("separations", &self.separations)];
        let lists = lists.into_iter().filter(|(_, ids)| !ids.is_empty());
        query.extend_pairs(lists.map(|(name, ids)| (name, ids.join(","))));
        let texts = [("at", &self.at), ("from", &self.from)];
        query.extend_pairs(texts.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?))));
        let path = format!("{}/places?{}", path_of(&self.id), query.finish());
        let mut connection = Connection::open(&self.common, dir).await?;
        let reply = connection.ask(Method::GET, &path, &[], Bytes::new()).await;
        let found = reply.and_then(|reply| connection.read::<Value>(&reply.body));
        connection.close().await?;
        let found = found?;
        self.common.show(&found, || shown(&found))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn shown(found: &Value) -> String {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let column = |of: &Value, name: &str| of.get(name).map_or("-".to_owned(), text);
    let items = |name: &str| found.get(name).and_then(Value::as_array).into_iter().flatten();
    let names = ["id", "x", "y", "z", "distance", "longitude", "latitude"];
    let rows: Vec<_> = items("places").map(|it| names.map(|name| column(it, name))).collect();
    let heads = ["ID", "X", "Y", "Z", "DISTANCE", "LONGITUDE", "LATITUDE"];
    let said = |name: &str| found.get(name).and_then(Value::as_str);
    let time = || format!("time {} s", column(found, "time"));
    let when = said("at").map_or_else(time, str::to_owned);
    let from = said("from").unwrap_or("the origin");
    let mut head = format!("{}, {when}, seen from {from}", column(found, "universe"));
    if let Some(unit) = said("unit") {
        head = format!("{head}, in {unit} and degrees");
    }
    let mut lines = vec![head];
    lines.extend(said("note").map(str::to_owned));
    lines.push(match rows.as_slice() {
        [] => "there are no bodies".to_owned(),
        rows => service_host::table(&heads, rows),
    });
    for it in items("separations") {
        let between = it.get("between").and_then(Value::as_array).into_iter().flatten();
        let between: Vec<_> = between.map(text).collect();
        lines.push(format!("{}: {} degrees", between.join(" and "), column(it, "degrees")));
    }
    if let Some(next) = found.get("next") {
        lines.push(format!(
            "more bodies follow after {}; name those you want with --bodies",
            text(next)
        ));
    }
    lines.join("\n")
}
