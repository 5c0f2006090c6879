//! `list`

use std::path::Path;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Args;
use http::Method;
use http::header::LINK;

use super::connection::Summary;
use super::{Common, Connection, Result};

/// The number of universes on a page.
const PAGE: usize = 500;

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::open(&self.common, dir).await?;
        let listed = all(&mut connection).await;
        connection.close().await?;
        let listed = listed?;
        let row = |it: &Summary| {
            [it.id.clone(), it.name.clone(), it.revision.to_string(), it.updated_at.clone()]
        };
        self.common.show(&listed, || match listed.as_slice() {
            [] => "there are no universes".to_owned(),
            listed => {
                let rows: Vec<_> = listed.iter().map(row).collect();
                service_host::table(&["ID", "NAME", "REVISION", "UPDATED"], &rows)
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// All universes, read page by page.
pub(super) async fn all(connection: &mut Connection) -> Result<Vec<Summary>> {
    let mut listed = Vec::new();
    let mut path = format!("/universes?view=summary&limit={PAGE}");
    loop {
        let reply = connection.ask(Method::GET, &path, &[], Bytes::new()).await?;
        listed.extend(connection.read::<Vec<Summary>>(&reply.body)?);
        let link = reply.headers.get(LINK).and_then(|link| link.to_str().ok());
        match link.and_then(|link| link.strip_prefix('<')?.split_once('>')) {
            Some((next, _)) => path = next.to_owned(),
            None => return Ok(listed),
        }
    }
}
