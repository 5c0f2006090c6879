//! Connections that are reopened when they are lost.

use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresOptions;
use super::error::{PostgresError, causes};
use crate::adapter::tls;

/// How long a lost connection waits before it is tried again, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

type Driver = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// How long requests wait while the database cannot be reached. After that they are refused at once until it is back.
const BRIDGED: Duration = Duration::from_secs(2);

/// What is needed to connect.
pub(super) struct Connector {
    config: Config,
    /// The same without TLS, for a database on this machine of whose URL TLS is not required: the certificate that a
    /// package makes for its server is signed by nobody.
    plain: Option<Config>,
    /// Since when nothing could be connected.
    away: watch::Sender<Option<Instant>>,
    tls: MakeRustlsConnect,
    timeout: Duration,
}

impl Connector {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Self, PostgresError> {
        let unreadable = |problem: tokio_postgres::Error| PostgresError::Url(causes(&problem));
        // What else the driver reads could be quoted in its errors, with the password.
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(PostgresError::Url("it has another scheme".to_owned()));
        }
        // The driver would take a part of the password for a host.
        if url.split('?').next().is_some_and(|url| url.matches('@').count() > 1) {
            return Err(PostgresError::Url("it has more than one @".to_owned()));
        }
        let mut config: Config = url.parse().map_err(unreadable)?;
        config
            .application_name("universe-server")
            .connect_timeout(options.connect_timeout)
            .tcp_user_timeout(options.statement_timeout)
            // A host that is gone is noticed within half a minute, however long a statement may take.
            .keepalives_idle(Duration::from_secs(10))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(4)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let tls = tls::client(options.authorities.as_deref());
        let is_optional = config.get_ssl_mode() == SslMode::Prefer && options.authorities.is_none();
        let plain = (is_optional && is_here(&config)).then(|| {
            let mut plain = config.clone();
            plain.ssl_mode(SslMode::Disable);
            plain
        });
        Ok(Self {
            config,
            plain,
            away: watch::Sender::new(None),
            tls: MakeRustlsConnect::new(tls.map_err(|problem| PostgresError::Authorities {
                path: options.authorities.clone().unwrap_or_default(),
                problem,
            })?),
            // For each of its hosts, and a little for the exchange after that.
            timeout: options.connect_timeout * 4,
        })
    }

    pub(super) async fn connect(&self) -> Result<(Client, Driver), String> {
        let connecting = async {
            let problem = match self.config.connect(self.tls.clone()).await {
                Ok(connected) => return Ok(connected),
                Err(problem) => causes(&problem),
            };
            if !problem.starts_with(TLS_FAILED) {
                return Err(problem);
            }
            let Some(plain) = &self.plain else {
                let way = if problem.ends_with(NO_TLS) { TURN_ON } else { NAME };
                return Err(format!("{problem}; {way}{PLAIN}"));
            };
            tracing::debug!(problem, "the database on this machine is reached without TLS");
            plain.connect(self.tls.clone()).await.map_err(|problem| causes(&problem))
        };
        let connected = tokio::time::timeout(self.timeout, connecting).await;
        connected.unwrap_or_else(|_| Err(format!("no answer within {} s", self.timeout.as_secs())))
    }

    /// Keeps a connection open and never returns. Each connection lasts until it is lost, or until the future of
    /// `serve` completes.
    pub(super) async fn keep<F: Future<Output = ()>>(
        &self,
        receive: impl Fn(AsyncMessage),
        serve: impl Fn(Client) -> F,
    ) {
        let [mut pause, longest] = PAUSES;
        let mut is_reported = false;
        loop {
            let connected = self.connect().await;
            if connected.is_err() {
                self.away.send_modify(|away| *away = away.or_else(|| Some(Instant::now())));
            }
            match connected {
                Ok((client, driver)) => {
                    (pause, is_reported) = (PAUSES[0], false);
                    self.away.send_replace(None);
                    // Dropped together: neither is of use without the other.
                    tokio::select! {
                        () = drive(driver, &receive) => {}
                        () = serve(client) => {}
                    }
                }
                // Once: it is tried many times.
                Err(problem) if !is_reported => {
                    tracing::warn!(%problem, "the database cannot be reached, and is tried again");
                    is_reported = true;
                }
                Err(problem) => tracing::debug!(%problem, "the database cannot be reached"),
            }
            // What another connection has reached can be reached.
            let mut away = self.away.subscribe();
            let back = away.wait_for(Option::is_none);
            let _ = tokio::time::timeout(pause, back).await;
            pause = (pause * 2).min(longest);
        }
    }
}

/// How the driver's error begins when the server offers TLS, and it cannot be agreed on.
const TLS_FAILED: &str = "error performing TLS handshake";

/// How it ends when the server does not offer it.
const NO_TLS: &str = "server does not support TLS";

/// What to do then.
const TURN_ON: &str = "turn it on there (ssl = on, with a certificate)";
const NAME: &str = "name the authority that signed its certificate with --store-ca FILE";
const PLAIN: &str = ", or add sslmode=disable to the URL to connect without TLS, which shows the password and all data to \
                     the network";

/// Whether all hosts are this machine.
fn is_here(config: &Config) -> bool {
    let is_loopback = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    let addresses = config.get_hostaddrs();
    (!config.get_hosts().is_empty() || !addresses.is_empty())
        && addresses.iter().all(IpAddr::is_loopback)
        && (!addresses.is_empty() || config.get_hosts().iter().all(is_loopback))
}

/// Moves a connection's bytes until it ends.
pub(super) async fn drive(mut driver: Driver, receive: impl Fn(AsyncMessage)) {
    while let Some(message) = poll_fn(|cx| driver.poll_message(cx)).await {
        match message {
            Ok(message) => receive(message),
            Err(problem) => {
                tracing::warn!(problem = causes(&problem), "a connection to the database was lost");
                return;
            }
        }
    }
}

/// One connection, as its user sees it: available or not.
pub(super) struct Link {
    current: watch::Receiver<Option<Arc<Client>>>,
    connector: Arc<Connector>,
    drop_it: watch::Sender<u64>,
    patience: Duration,
    timeout: Duration,
}

/// What a link does with the notifications of other nodes.
pub(super) struct NotificationHandler {
    pub(super) channel: &'static str,
    /// A notification has come.
    pub(super) received: Box<dyn Fn(&str) + Send + Sync>,
    /// It receives them from now on, and may have missed some before.
    pub(super) joined: Box<dyn Fn() + Send + Sync>,
}

impl Link {
    /// The link, which a task keeps up. With a handler its connection receives notifications, too.
    pub(super) fn start(
        connector: &Arc<Connector>,
        options: &PostgresOptions,
        handler: Option<NotificationHandler>,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        let (published, current) = watch::channel(None);
        let (drop_it, dropped) = watch::channel(0_u64);
        let timeout = options.statement_timeout;
        let keeper = Arc::clone(connector);
        tasks.spawn(async move {
            let (published, handler) = (&published, handler.as_ref());
            let receive = |message| {
                if let (Some(handler), AsyncMessage::Notification(notification)) =
                    (handler, message)
                    && notification.channel() == handler.channel
                {
                    (handler.received)(notification.payload());
                }
            };
            let serve = |client| {
                let mut dropped = dropped.clone();
                dropped.mark_unchanged();
                async move {
                    if !listen(&client, handler, timeout).await {
                        return;
                    }
                    published.send_replace(Some(Arc::new(client)));
                    // Ends when the user wants another connection. Nothing comes with the link's end: the task goes
                    // then.
                    let _ = dropped.changed().await;
                }
            };
            keeper.keep(receive, serve).await;
        });
        let (connector, patience) = (Arc::clone(connector), options.connect_timeout);
        Self { current, connector, drop_it, patience, timeout }
    }

    /// The connection, which may have to be made first; `None` if that takes too long, or the database has been away
    /// for a while.
    pub(super) async fn client(&self) -> Option<Arc<Client>> {
        let mut current = self.current.clone();
        let away = *self.connector.away.borrow();
        let left = away.map(|since| BRIDGED.saturating_sub(since.elapsed()));
        let patience = left.map_or(self.patience, |left| left.min(self.patience));
        let usable = |client: &Option<Arc<Client>>| {
            client.as_ref().is_some_and(|client| !client.is_closed())
        };
        let found = current.wait_for(usable);
        let found = tokio::time::timeout(patience, found).await;
        found.ok()?.ok()?.clone()
    }

    /// The output of `work`, which transfers up to `bytes`, within the statement timeout and a second for each MiB.
    /// Otherwise the connection is closed.
    pub(super) async fn within<T>(&self, bytes: usize, work: impl Future<Output = T>) -> Option<T> {
        let time = self.timeout + Duration::from_secs((bytes >> 20) as u64);
        let done = tokio::time::timeout(time, work).await.ok();
        if done.is_none() {
            self.renew();
        }
        done
    }

    /// Lets another connection take the place of this one.
    pub(super) fn renew(&self) {
        self.drop_it.send_modify(|times| *times += 1);
    }
}

/// Makes a connection listen to its channels. Returns whether it does.
async fn listen(
    client: &Client,
    handler: Option<&NotificationHandler>,
    patience: Duration,
) -> bool {
    let Some(handler) = handler else {
        return true;
    };
    let sql = format!("LISTEN {}", handler.channel);
    let listening = tokio::time::timeout(patience, client.batch_execute(&sql)).await;
    let does = matches!(listening, Ok(Ok(())));
    if does {
        (handler.joined)();
    }
    does
}
