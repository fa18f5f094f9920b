//! The sandbox: both operations of the API specification on loopback, for development and tests.
//!
//! It shares only `contract` and `error` with the client, so that a misreading of the specification shows. From outside
//! to inside: `server` and `connections` (sockets), `middleware` and `routes` (HTTP), `service` (operations),
//! `request` (parsing and validation), `store`, `exports`, `tokens`. `control` changes all of these while it runs.

mod access;
mod connections;
pub mod control;
mod days;
pub mod demo;
mod exports;
mod fault_body;
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
mod synthetic_response;
mod tokens;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use access::Access;
pub use days::RecordZone;
pub use exports::{ExportPlan, PlannedEntry};
pub use faults::{BodyPattern, Fault, FaultKind, Injected};
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use in_memory::InMemory;
pub use objects::{Attribute, AttributeKind, BusinessObject, Cell};
pub use options::{Clock, Limits, Options};
pub use request_log::LoggedRequest;
pub use store::Load;

use self::control::AdminToken;
use self::replay::Recording;
use self::routes::Shared;
use self::server::Server;
use self::service::Service;
use self::store::Store;
use crate::error::{Error, Kind, Result};

/// A running service. Dropping it stops it in the background; `stop` also waits.
///
/// In a forked child its methods return `ForkedHandle`, and dropping it leaves the parent's service alone.
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

    /// All known scopes, of the specification and of switches.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        self.running.service.interpretation().switches.scopes()
    }

    /// Issues an access token with these scopes, valid for `expires_in` or until it is revoked.
    ///
    /// # Errors
    /// `Config` for an unknown scope, `Sandbox` after [`stop`](Self::stop), `ForkedHandle` in a forked child.
    pub fn issue_token(&self, scopes: &[String], expires_in: Option<Duration>) -> Result<String> {
        let service = self.service()?;
        service.check_scopes(scopes)?;
        service.tokens.issue(scopes, service.clock.now(), expires_in)
    }

    /// Changes switches, all or none, for the requests that come next. Rows stay as they are.
    ///
    /// # Errors
    /// `Sandbox` for an unknown switch or an invalid value; else as [`issue_token`](Self::issue_token).
    pub fn switch(&self, changes: &Map<String, Value>) -> Result<()> {
        self.service()?.switch(changes)
    }

    /// Revokes a token. Returns whether it was valid.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn revoke(&self, token: &str) -> Result<bool> {
        Ok(self.service()?.tokens.revoke(token))
    }

    /// Declares a business object, which then can be loaded and searched. Declaring it again changes nothing; an object
    /// without rows can be declared with other attributes, except promotion codes.
    ///
    /// # Errors
    /// `Sandbox` when its name or id is taken or an attribute is invalid; else as [`issue_token`](Self::issue_token).
    pub fn declare(&self, object: &BusinessObject) -> Result<()> {
        self.service()?.store.declare(object)
    }

    /// Adds rows to an object, all or none, and returns their number. A row has one cell for each declared attribute.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit; else as [`issue_token`](Self::issue_token).
    pub fn load(&self, object: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<usize> {
        let mut load = self.begin_load(object)?;
        load.add(rows)?;
        load.finish(false)
    }

    /// Begins a load of rows in several parts. Searches go on meanwhile and see all of the rows or none.
    ///
    /// # Errors
    /// `Sandbox` when the object is not declared; else as [`issue_token`](Self::issue_token).
    pub fn begin_load(&self, object: &str) -> Result<Load> {
        Load::begin(&self.service()?.store, object, None)
    }

    /// Rows of an object in the order of their identifiers, from the one numbered `offset` on, and the number of all.
    /// With `contains` only rows with this text in one of their values, whatever the case of ASCII letters.
    ///
    /// # Errors
    /// As [`clear`](Self::clear).
    pub fn rows(&self, object: &str, limit: usize, offset: usize, contains: &str) -> Result<(Vec<Cell>, i64)> {
        self.service()?.store.rows(object, limit, offset, contains)
    }

    /// Deletes all rows of an object and returns their number.
    ///
    /// # Errors
    /// `Sandbox` when the object is not declared; else as [`issue_token`](Self::issue_token).
    pub fn clear(&self, object: &str) -> Result<usize> {
        self.service()?.clear(object)
    }

    /// Plans a segment export; it replaces one with the same id.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn plan_export(&self, id: i64, entries: Vec<PlannedEntry>) -> Result<()> {
        self.service()?.exports.plan(id, entries);
        Ok(())
    }

    /// Starts a segment export and returns its id. Its state follows from the clock.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn start_export(&self, id: Option<i64>, plan: &ExportPlan) -> Result<i64> {
        let service = self.service()?;
        Ok(service.exports.start(id, plan.entries(service.clock.now())))
    }

    /// Injects a fault until the returned handle is dropped. The first matching fault applies to a request.
    ///
    /// # Errors
    /// `Config` for an invalid fault; else as [`issue_token`](Self::issue_token).
    pub fn inject(&self, fault: Fault) -> Result<Injected> {
        Injected::new(&self.service()?.faults, fault)
    }

    /// The latest 10,000 requests, oldest first, refused ones included.
    ///
    /// # Errors
    /// `ForkedHandle` in a forked child. Works after [`stop`](Self::stop).
    pub fn requests(&self) -> Result<Vec<LoggedRequest>> {
        Ok(self.own_service()?.log.requests())
    }

    /// Clears the request log.
    ///
    /// # Errors
    /// As [`requests`](Self::requests).
    pub fn clear_requests(&self) -> Result<()> {
        self.own_service()?.log.clear();
        Ok(())
    }

    /// Fails once it was stopped.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn check_running(&self) -> Result<()> {
        self.service().map(drop)
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

    /// The service, also of a stopped sandbox. Checks the process before any lock: one copied by a fork may be held.
    fn own_service(&self) -> Result<&Service> {
        if self.is_forked() {
            let problem = format!("this sandbox runs in process {}, not in this fork of it", self.owner);
            return Err(Error::new(Kind::ClientClosed, problem).with_hint("start a sandbox in this process"));
        }
        Ok(&self.running.service)
    }

    /// The service, if it is usable.
    fn service(&self) -> Result<&Service> {
        let service = self.own_service()?;
        if self.running.server.is_stopped() {
            return Err(stopped());
        }
        Ok(service)
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
