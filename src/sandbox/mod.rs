//! The sandbox: both operations of the API specification on loopback, for development and tests.
//!
//! It shares only `contract` and `error` with the client, so that a misreading of the specification shows. From outside
//! to inside: `server` and `connections` (sockets), `middleware` and `routes` (HTTP), `service` (operations),
//! `request` (parsing and validation), `store`, `exports`, `tokens`. `control` changes all of these while it runs.

mod access;
mod connections;
mod control;
mod days;
pub mod demo;
mod exports;
mod faults;
#[cfg(feature = "testing")]
mod in_memory;
mod middleware;
mod objects;
mod openapi;
mod options;
mod query;
mod replay;
mod reply;
mod request;
mod request_log;
mod response_writer;
mod routes;
mod rows;
mod server;
mod service;
mod store;
pub mod switches;
mod tokens;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use access::Access;
pub use days::RecordZone;
pub use faults::Fault;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use in_memory::InMemory;
pub use objects::{Attribute, AttributeKind, BusinessObject, Cell};
pub use options::{Clock, Limits, Options};

use self::control::AdminToken;
use self::replay::Recording;
use self::routes::Shared;
use self::server::Server;
use self::service::Service;
use self::store::Store;
use crate::error::{Error, Kind, Result};

/// A running service. Dropping it stops it in the background; `stop` also waits.
///
/// [`control`] changes it while it runs, over HTTP with the admin token. In a forked child dropping it leaves the parent's service alone.
pub struct Sandbox {
    running: Arc<Running>,
    base_url: String,
    admin_token: String,
    owner: u32,
}

struct Running {
    service: Arc<Service>,
    server: Server,
}

impl Running {
    fn stop(&self) {
        self.server.stop();
        self.service.store.close();
    }
}

impl Sandbox {
    /// Starts a service. It accepts requests once this returns.
    ///
    /// # Errors
    /// `Config` when `access` is unsafe, `Sandbox` when the port is taken, a switch is invalid, a recording
    /// cannot be read or no thread can start.
    pub fn start(options: Options) -> Result<Self> {
        let stopping = CancellationToken::new();
        let at = SocketAddr::new(options.access.address, options.port);
        let (shared, admin_token) = prepare(options, &stopping)?;
        let service = Arc::clone(&shared.service);
        let server = Server::start(at, shared, stopping)?;
        let base_url = format!("http://{}", server.address());
        service.set_base_url(&base_url);
        let running = Arc::new(Running { service, server });
        Ok(Self { running, base_url, admin_token, owner: std::process::id() })
    }

    /// The base URL, without a path.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The token of the control routes.
    #[must_use]
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
        if self.running.server.is_stopped() {
            return Err(stopped());
        }
        Ok(())
    }

    /// Stops the service and closes its port within two seconds. A second call does nothing. False in a forked child,
    /// which cannot stop it.
    #[expect(clippy::must_use_candidate, reason = "most callers need nothing but the end")]
    pub fn stop(&self) -> bool {
        let is_own = !self.is_forked();
        if is_own {
            self.running.stop();
        }
        is_own
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.owner
    }
}

/// What the routes share, and the admin token.
fn prepare(options: Options, stopping: &CancellationToken) -> Result<(Shared, String)> {
    options.access.check()?;
    let store = Store::open(options.db.as_deref(), stopping.clone())?;
    for object in BusinessObject::of_the_specification() {
        // A customer in an existing store may have more attributes.
        if !store.objects()?.iter().any(|known| known.id == object.id || known.name == object.name) {
            store.declare(&object)?;
        }
    }
    let (switches, clock, demo) = (options.switches, options.clock, options.demo);
    let mut service = Service::new(store, switches, clock, demo, options.search_timeout)?;
    service.has_file = options.db.is_some();
    let service = Arc::new(service);
    let admin_token = options.access.admin_token.clone().map_or_else(AdminToken::random, Ok)?;
    if let Some(token) = &options.access.token {
        service.tokens.add(token);
    }
    let recording = options.replay.as_deref().map(Recording::open).transpose()?.map(Arc::new);
    let (access, admin) = (Arc::new(options.access), Arc::new(AdminToken::new(&admin_token)));
    Ok((Shared { service, access, admin, limits: options.limits, recording }, admin_token))
}

fn stopped() -> Error {
    Error::new(Kind::Sandbox, "this sandbox was stopped").with_hint("start another one")
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads of the runtime do not exist in the child: dropping it could block.
            std::mem::forget(Arc::clone(&self.running));
        } else {
            // No waiting here: the thread may hold the GIL.
            self.running.server.cancel();
        }
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sandbox").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}
