//! Two universe servers on one database, behind a balancer that alternates between them: both servers can continue what
//! one of them began.

use std::ffi::OsString;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use crate::Result;
use crate::balancer::Balancer;
use crate::postgres::Postgres;
use crate::process::Server;

/// The servers, their database and their balancer. All end when this is dropped.
#[derive(Debug)]
pub struct Twins {
    url: String,
    balancer: Balancer,
    // The servers end before their database.
    _servers: [Server; 2],
    _database: Database,
}

/// An empty PostgreSQL database.
#[derive(Debug)]
struct Database {
    programs: Postgres,
    dir: PathBuf,
    port: u16,
}

impl Twins {
    /// Starts the database, both servers and the balancer.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or something does not start.
    pub fn start(binary: &Path) -> Result<Self> {
        let database = Database::start()?;
        let store =
            format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", database.port);
        let keys = database.dir.join("keys");
        fs::write(&keys, format!("{}\n", "5a".repeat(32)))?;
        #[cfg(unix)]
        fs::set_permissions(&keys, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let words = |data: &str| -> Vec<OsString> {
            let data = database.dir.join(data);
            let words = ["--demo", "--listen", "127.0.0.1:0", "--store", &store];
            let words = words.into_iter().map(OsString::from);
            let more = ["--keys-file".into(), keys.clone().into()];
            let more = more.into_iter().chain(["--data-dir".into(), data.into_os_string()]);
            words.chain(more).collect()
        };
        let servers = [Server::start(binary, &words("a"))?, Server::start(binary, &words("b"))?];
        let addresses: Result<Vec<SocketAddr>> = servers.iter().map(Server::address).collect();
        let balancer = Balancer::start(addresses?)?;
        Ok(Self { url: balancer.url(), balancer, _servers: servers, _database: database })
    }

    /// The URL of the MCP endpoint of both.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Prints how many requests each server has received so far. `false` if one server received all of them.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn both_served(&self) -> Result<bool> {
        self.balancer.all_served()
    }
}

impl Database {
    fn start() -> Result<Self> {
        let database = Self {
            programs: Postgres::find()?,
            dir: std::env::temp_dir().join(format!("universe-twins-{}", std::process::id())),
            // This port stays free until the database takes it.
            port: TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
        };
        let (dir, data) = (&database.dir, database.data());
        database.programs.init(dir, &data)?;
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync=off",
            database.port,
            dir.display()
        );
        let log = dir.join("log");
        if database.programs.start(&data, &log, &options)? {
            Ok(database)
        } else {
            Err("PostgreSQL does not start".into())
        }
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The database may not have started.
        let _ = self.programs.stop(&self.data());
        let _ = fs::remove_dir_all(&self.dir);
    }
}
