//! Negotiation with a server: its era and protocol version, the handshake in the legacy era, and both again when the
//! session is lost.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_proto::jsonrpc::{ErrorObject, Notification, Request};
use mcp_proto::lifecycle::META_SERVER_INFO;
use mcp_proto::{Era, ProtocolVersion};
use serde_json::{Value, json};

use super::http::Reply;
use super::hub::Own;
use super::speaking::{ServerInfo, Speaking};
use super::{Client, ClientError, Link, Result};

/// The outcome of probing for the modern era.
enum Probed {
    Modern(Option<Arc<ServerInfo>>),
    /// The era of the handshake, from this revision on.
    Legacy(ProtocolVersion),
    /// No answer came in time.
    Silent,
}

impl Client {
    /// The negotiated terms of the connection.
    pub(super) fn speaking(&self) -> Arc<Speaking> {
        Arc::clone(&self.0.speaking.borrow())
    }

    /// The server's description of itself. If a modern revision was configured, it is requested once.
    ///
    /// # Errors
    /// As for [`Client::request`].
    pub async fn server(&self) -> Result<Arc<ServerInfo>> {
        if let Some(server) = &self.speaking().server {
            return Ok(Arc::clone(server));
        }
        let result = self.request("server/discover", json!({})).await?;
        let version = self.speaking().version.unwrap_or(ProtocolVersion::LATEST);
        let info = result.get("_meta").and_then(|meta| meta.get(META_SERVER_INFO));
        let server = ServerInfo::read(version, info, &result);
        self.0.speaking.send_modify(|speaking| {
            if speaking.version == Some(version) {
                Arc::make_mut(speaking).server = Some(Arc::clone(&server));
            }
        });
        Ok(server)
    }

    /// Negotiates with the server for the first time.
    pub(super) async fn settle(&self) -> Result<()> {
        let terms = self.terms().await?;
        self.settled(terms);
        Ok(())
    }

    async fn terms(&self) -> Result<Speaking> {
        match self.0.config.version {
            Some(version) if version.era() == Era::Modern => Ok(modern(version, None)),
            Some(version) => self.handshake(version).await,
            None => self.find_out().await,
        }
    }

    /// Negotiates again, unless another caller has done so since `generation`. Others use the new terms once the
    /// session has what the one before it had; if this caller gives up earlier, the next one continues.
    pub(super) fn settle_again(&self, generation: u64) -> BoxFuture<'_, Result<()>> {
        // The stream of a session does so too, and is itself opened in the course of it.
        Box::pin(async move {
            let turn = self.0.settling.acquire().await;
            let _turn = turn.map_err(|_| ClientError::Closed)?;
            if self.is_closed() {
                return Err(ClientError::Closed);
            }
            if self.speaking().generation != generation {
                return Ok(());
            }
            self.0.hub.missed();
            let terms = self.terms().await?;
            if let Err(error) = self.restore(&terms).await {
                self.abandon(&terms).await;
                return Err(error);
            }
            self.settled(terms);
            // `close` may have ended the session before.
            if self.is_closed() {
                self.abandon(&self.speaking()).await;
                return Err(ClientError::Closed);
            }
            self.attend(false).await;
            Ok(())
        })
    }

    /// Uses these terms from now on.
    pub(super) fn settled(&self, terms: Speaking) {
        self.0.speaking.send_modify(|speaking| {
            let generation = speaking.generation + 1;
            *speaking = Arc::new(Speaking { generation, ..terms });
        });
    }

    /// Ends an unusable session, if the server allows it.
    async fn abandon(&self, terms: &Speaking) {
        let Link::Http(link) = &self.0.link else {
            return;
        };
        let ended = self.0.config.timeout;
        if !matches!(tokio::time::timeout(ended, link.close(terms)).await, Ok(Ok(()))) {
            tracing::debug!("a session that is of no use was not ended");
        }
    }

    async fn find_out(&self) -> Result<Speaking> {
        let limit = match self.0.link {
            Link::Http(_) => self.0.config.timeout,
            Link::Pipe(_) => self.0.config.probe.min(self.0.config.timeout),
        };
        let probed = match self.0.hub.clock.within(limit, self.probe()).await {
            Ok(probed) => probed?,
            Err(timeout) if self.is_http() => return Err(timeout),
            Err(_) => Probed::Silent,
        };
        let (version, was_silent) = match probed {
            Probed::Modern(server) => return Ok(modern(ProtocolVersion::LATEST, server)),
            Probed::Legacy(version) => (version, false),
            Probed::Silent => (ProtocolVersion::LATEST_LEGACY, true),
        };
        let shaken = self.handshake(version).await;
        // A server that was only slow to start may not support the handshake.
        if was_silent && matches!(shaken, Err(ClientError::Rpc(_))) {
            let limit = self.0.config.timeout;
            if let Ok(Ok(Probed::Modern(server))) = tokio::time::timeout(limit, self.probe()).await
            {
                return Ok(modern(ProtocolVersion::LATEST, server));
            }
        }
        shaken
    }

    /// Asks for the modern era (2026-07-28, "Versioning").
    async fn probe(&self) -> Result<Probed> {
        let speaking = Speaking { version: Some(ProtocolVersion::LATEST), ..Speaking::default() };
        let params = self.with_meta(json!({}), &speaking);
        let request = Request::new(self.next_id(), "server/discover", params);
        let reply = self.send_request(request, &speaking, Own::default()).await?;
        let legacy = Ok(Probed::Legacy(ProtocolVersion::LATEST_LEGACY));
        let response = match &reply.outcome {
            Ok(response) => response,
            Err(ClientError::Http {
                status: 400 | 404 | 405 | 406 | 415 | 422 | 500 | 501,
                ..
            }) => return legacy,
            Err(error) => return Err(error.clone()),
        };
        match &response.outcome {
            Ok(payload) => {
                let result = payload.to_value();
                let Some(versions) = result.get("supportedVersions") else {
                    return legacy;
                };
                Ok(match newest(versions)? {
                    version if version.era() == Era::Legacy => Probed::Legacy(version),
                    version => {
                        let meta = result.get("_meta");
                        let info = meta.and_then(|meta| meta.get(META_SERVER_INFO));
                        Probed::Modern(Some(ServerInfo::read(version, info, &result)))
                    }
                })
            }
            Err(_) if matches!(reply.status, 401 | 403) => Err(ClientError::Http {
                status: reply.status,
                body: "the caller is refused".to_owned(),
            }),
            Err(error) => match error.code {
                ErrorObject::HEADER_MISMATCH | ErrorObject::MISSING_CLIENT_CAPABILITY => {
                    Ok(Probed::Modern(None))
                }
                ErrorObject::UNSUPPORTED_VERSION => {
                    let data = error.data.as_ref();
                    let versions = data.and_then(|data| data.get("supported"));
                    Ok(match versions.map(newest).transpose()? {
                        Some(version) if version.era() == Era::Legacy => Probed::Legacy(version),
                        _ => Probed::Modern(None),
                    })
                }
                _ => legacy,
            },
        }
    }

    /// The handshake of the legacy era.
    pub(super) async fn handshake(&self, version: ProtocolVersion) -> Result<Speaking> {
        let limit = self.0.config.timeout;
        let shaken = self.0.hub.clock.within(limit, self.initialize(version));
        let reply = shaken.await??;
        let response = match reply.outcome {
            Ok(response) => response,
            Err(error) => return Err(self.explained(error).await),
        };
        let result = response.outcome.map_err(ClientError::Rpc)?.to_value();
        let version = result
            .get("protocolVersion")
            .and_then(Value::as_str)
            .and_then(|version| version.parse::<ProtocolVersion>().ok())
            .filter(|version| version.era() == Era::Legacy)
            .ok_or_else(|| ClientError::Protocol(format!("initialize answered {result}")))?;
        let server = ServerInfo::read(version, result.get("serverInfo"), &result);
        let terms = Speaking {
            version: Some(version),
            session: reply.session,
            server: Some(server),
            ..Speaking::default()
        };
        let initialized = Notification::new("notifications/initialized", json!({}));
        self.send_notification(&terms, initialized).await?;
        Ok(terms)
    }

    async fn initialize(&self, version: ProtocolVersion) -> Result<Reply> {
        let config = &self.0.config;
        let params = json!({
            "protocolVersion": version,
            "capabilities": config.capabilities,
            "clientInfo": config.info,
        });
        let request = Request::new(self.next_id(), "initialize", params);
        // Neither a version nor a session is known yet.
        let speaking = Speaking { version: Some(version), ..Speaking::default() };
        self.send_request(request, &speaking, Own::default()).await
    }

    /// Explains a failed handshake: the transport of the first revision has a different endpoint.
    async fn explained(&self, error: ClientError) -> ClientError {
        let (Link::Http(link), ClientError::Http { status: 400 | 404 | 405, .. }) =
            (&self.0.link, &error)
        else {
            return error;
        };
        if !link.is_of_the_first_transport().await {
            return error;
        }
        ClientError::Unsupported(
            "it speaks the HTTP+SSE transport of 2024-11-05, with two endpoints; a URL of its Streamable HTTP endpoint \
             would do"
                .to_owned(),
        )
    }
}

fn modern(version: ProtocolVersion, server: Option<Arc<ServerInfo>>) -> Speaking {
    Speaking { version: Some(version), server, ..Speaking::default() }
}

/// The newest revision of a list that this client supports.
fn newest(versions: &Value) -> Result<ProtocolVersion> {
    let known = versions.as_array().into_iter().flatten();
    let known = known.filter_map(|version| version.as_str()?.parse().ok());
    known.max().ok_or_else(|| {
        let ours = ProtocolVersion::ALL.map(ProtocolVersion::as_str).join(", ");
        ClientError::Unsupported(format!("it speaks {versions}, and this client {ours}"))
    })
}
