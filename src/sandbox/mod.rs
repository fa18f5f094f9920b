//! The sandbox: both operations of the API specification on loopback, for development and tests.
//!
//! It shares only `contract` and `error` with the client, so that a misreading of the specification shows. From outside
//! to inside: `server` and `connections` (sockets), `middleware` and `routes` (HTTP), `service` (operations),
//! `request` (parsing and validation), `search`, `table` (rows), `exports`, `tokens`. `state` holds what `control` changes
//! while it runs.

mod access;
mod chance;
mod control;
mod days;
pub mod demo;
mod exports;
mod faults;
mod middleware;
mod objects;
mod openapi;
mod options;
mod replay;
mod reply;
mod request;
mod request_log;
mod routes;
mod search;
mod server;
mod state;
pub mod switches;
mod table;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;

pub use access::Access;
pub use days::RecordZone;
pub use faults::Fault;
pub use objects::{Attribute, AttributeKind, BusinessObject, Cell};
pub use options::{Clock, Limits, Options};

use self::replay::Recording;
use self::routes::Shared;
use self::server::Server;
use self::state::Service;
use self::tokens::random;
use crate::error::{Error, Kind, Result};

/// A running service. Dropping it stops it in the background; `stop` also waits.
///
/// [`control`] changes it while it runs, over HTTP with the admin token. In a forked child dropping it leaves the
/// parent's service alone.
pub struct Sandbox {
    server: Arc<Server>,
    service: Arc<Service>,
    base_url: String,
    admin_token: String,
    owner: u32,
}

impl Sandbox {
    /// Starts a service. It accepts requests once this returns.
    ///
    /// # Errors
    /// `Config` when `access` is unsafe, `Sandbox` when the port is taken, a switch is invalid, a recording
    /// cannot be read or no thread can start.
    pub fn start(options: Options) -> Result<Self> {
        let Options { access, port, limits, switches, clock, demo, replay } = options;
        access.check()?;
        let service = Arc::new(Service::new(switches, clock, demo));
        if let Some(token) = &access.token {
            service.state().tokens.add(token);
        }
        let admin_token = access.admin_token.clone().map_or_else(|| random("sbx_admin_"), Ok)?;
        let at = SocketAddr::new(access.address, port);
        let shared = Shared {
            service: Arc::clone(&service),
            access: Arc::new(access),
            admin: admin_token.as_str().into(),
            limits,
            recording: replay.as_deref().map(Recording::open).transpose()?.map(Arc::new),
        };
        let server = Arc::new(Server::start(at, shared)?);
        let base_url = format!("http://{}", server.address());
        service.base_url.get_or_init(|| base_url.clone());
        Ok(Self { server, service, base_url, admin_token, owner: std::process::id() })
    }

    /// The base URL, without a path.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The token of the control routes.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// Fails once it was stopped. Checks the process before any lock: one copied by a fork may be held.
    ///
    /// # Errors
    /// `ClientClosed` in a forked child, `Sandbox` after [`stop`](Self::stop).
    pub fn check_running(&self) -> Result<()> {
        if self.is_forked() {
            let problem = format!("this sandbox runs in process {}, not in this fork of it", self.owner);
            return Err(Error::new(Kind::ClientClosed, problem).with_hint("start a sandbox in this process"));
        }
        if self.server.stopping.is_cancelled() {
            return Err(Error::new(Kind::Sandbox, "this sandbox was stopped").with_hint("start another one"));
        }
        Ok(())
    }

    /// Stops the service and closes its port within two seconds. A second call does nothing. False in a forked child,
    /// which cannot stop it.
    pub fn stop(&self) -> bool {
        let is_own = !self.is_forked();
        if is_own {
            self.server.stop();
            self.service.end();
        }
        is_own
    }

    /// What a call of control returns once it was stopped, as JSON: the log and the faults stay. None if it needs the
    /// service.
    pub fn after_end(&self, method: &str, path: &str) -> Option<String> {
        control::after_end(&self.service, method, path).map(|answer| answer.to_string())
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.owner
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads of the runtime do not exist in the child: dropping it could block.
            std::mem::forget(Arc::clone(&self.server));
        } else {
            // No waiting here: the thread may hold the GIL.
            self.server.stopping.cancel();
        }
    }
}
