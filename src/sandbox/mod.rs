//! The embedded service: both operations of the document on loopback, for development and tests.
//!
//! It shares `contract` and `error` with the rest and nothing else, so that a misreading of the document
//! cannot pass on both sides. From outside to inside: `server`, `connections` and `wire` (sockets), `reception`
//! and `routes` (HTTP), `service` (operations), `request` (reading and checking), `store`, `exports`, `tokens`.

mod access;
mod body;
mod connection_state;
mod connections;
mod days;
pub mod demo;
mod exports;
mod fault_body;
mod faults;
mod guard;
mod limits;
mod lingering_close;
mod load;
mod middleware;
mod objects;
mod openapi;
mod options;
mod query;
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
mod wire;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use access::Access;
pub use exports::{ExportPlan, PlannedEntry};
pub use faults::{Fault, FaultKind, Injected};
pub use limits::Limits;
pub use load::Load;
pub use objects::{Attribute, AttributeKind, BusinessObject, Cell};
pub use options::{Clock, Options};
pub use request_log::Received;

use self::routes::Shared;
use self::server::Server;
use self::service::Service;
use self::store::Store;
use crate::error::{Error, Kind, Result, excerpt};

/// A running service. Dropping it begins to stop it; `stop` also waits for the end.
///
/// In a process forked from the one that started it, it does nothing: it neither stops nor frees what the
/// parent goes on using, and its methods say so.
pub struct Sandbox {
    running: Arc<Running>,
    base_url: String,
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
    /// Starts a service; it answers as soon as this returns.
    ///
    /// # Errors
    /// `Config` when others could reach it without being allowed, `Sandbox` when the port is taken, a switch has
    /// no meaning, or the system gives no thread.
    pub fn start(options: Options) -> Result<Self> {
        options.access.check()?;
        let stopping = CancellationToken::new();
        let store = Store::open(options.db.as_deref(), stopping.clone())?;
        for object in [BusinessObject::promotion_code(), BusinessObject::customer()] {
            // A store that was used before may have more attributes of a customer.
            if store.find(|known| known.id == object.id || known.name == object.name)?.is_none() {
                store.declare(&object)?;
            }
        }
        let service = Service::new(store, options.switches, options.clock, options.longest_search)?;
        let service = Arc::new(service);
        if let Some(demo) = options.demo {
            demo.fill(&service.store, &service.exports, service.clock.now())?;
        }
        if let Some(token) = &options.access.token {
            service.tokens.admit(token, service.switches.scopes());
        }
        let (at, limits) = (SocketAddr::new(options.access.address, options.port), options.limits);
        let shared = Shared { service: Arc::clone(&service), access: Arc::new(options.access), limits };
        let server = Server::start(at, shared, stopping)?;
        let base_url = format!("http://{}", server.address());
        Ok(Self { running: Arc::new(Running { service, server }), base_url, owner: std::process::id() })
    }

    /// The address to which the paths of the document are added.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// All scopes that mean something here: those of the document, and those that switches name.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        self.running.service.switches.scopes()
    }

    /// Makes an access token with these scopes, which ends after `expires_in` or when it is revoked.
    ///
    /// # Errors
    /// `Config` for a scope that means nothing here, `Sandbox` after [`stop`](Self::stop), `ForkedHandle` in a forked
    /// child.
    pub fn issue_token(&self, scopes: &[String], expires_in: Option<Duration>) -> Result<String> {
        let service = self.service()?;
        let known = service.switches.scopes();
        if let Some(unknown) = scopes.iter().find(|scope| !known.contains(scope)) {
            let problem = format!("scopes: there is no `{}`", excerpt(unknown, 60));
            return Err(Error::new(Kind::Config, problem).with_hint(format!("there are {}", known.join(", "))));
        }
        service.tokens.issue(scopes, service.clock.now(), expires_in)
    }

    /// Takes a token out of force; whether it was known is the answer.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn revoke(&self, token: &str) -> Result<bool> {
        Ok(self.service()?.tokens.revoke(token))
    }

    /// Adds a business object, which then can be loaded and searched. The same again changes nothing, and one that
    /// has no rows may be declared anew with other attributes, but for promotion codes.
    ///
    /// # Errors
    /// `Sandbox` when its name or id is taken or an attribute cannot be; else as [`issue_token`](Self::issue_token).
    pub fn declare(&self, object: &BusinessObject) -> Result<()> {
        self.service()?.store.declare(object)
    }

    /// Adds rows to an object, all or none: each has one cell for each declared attribute. Their number is the answer.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit; else as [`issue_token`](Self::issue_token).
    pub fn load(&self, object: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<usize> {
        let mut load = self.begin_load(object)?;
        load.add(rows)?;
        load.finish(false)
    }

    /// Begins to add rows to an object, which come part by part. The service goes on meanwhile, and none of them is
    /// found before they all are.
    ///
    /// # Errors
    /// `Sandbox` when the object is not declared; else as [`issue_token`](Self::issue_token).
    pub fn begin_load(&self, object: &str) -> Result<Load> {
        let gathered = self.service()?.store.gather(object)?;
        Ok(Load::new(Arc::clone(&self.running.service), gathered))
    }

    /// Takes all rows of an object away; their number is the answer.
    ///
    /// # Errors
    /// `Sandbox` when the object is not declared; else as [`issue_token`](Self::issue_token).
    pub fn clear(&self, object: &str) -> Result<usize> {
        self.service()?.store.clear(object)
    }

    /// Plans a segment export, in place of one with the same id.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn plan_export(&self, id: i64, entries: Vec<PlannedEntry>) -> Result<()> {
        self.service()?.exports.plan(id, entries);
        Ok(())
    }

    /// Starts a segment export, whose stages follow from the clock; its id is the answer.
    ///
    /// # Errors
    /// As [`issue_token`](Self::issue_token).
    pub fn start_export(&self, id: Option<i64>, plan: &ExportPlan) -> Result<i64> {
        let service = self.service()?;
        Ok(service.exports.start(id, plan, service.clock.now()))
    }

    /// Brings a fault into force, until what is returned is dropped. The first fault that meets a request has it.
    ///
    /// # Errors
    /// `Config` for a fault that cannot be; else as [`issue_token`](Self::issue_token).
    pub fn inject(&self, fault: Fault) -> Result<Injected> {
        Injected::new(&self.service()?.faults, fault)
    }

    /// The latest requests that were received, oldest first, 10,000 at most; also those that were refused.
    ///
    /// # Errors
    /// `ForkedHandle` in a forked child. A sandbox that was stopped still tells.
    pub fn requests(&self) -> Result<Vec<Received>> {
        self.check_process()?;
        Ok(self.running.service.log.requests())
    }

    /// Forgets the requests that were received.
    ///
    /// # Errors
    /// As [`requests`](Self::requests).
    pub fn clear_requests(&self) -> Result<()> {
        self.check_process()?;
        self.running.service.log.clear();
        Ok(())
    }

    /// Stops the service and closes its port within two seconds; a second call does nothing, as in a forked child.
    pub fn stop(&self) {
        if !self.is_forked() {
            self.running.stop();
        }
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.owner
    }

    fn check_process(&self) -> Result<()> {
        if self.is_forked() {
            let problem = format!("this sandbox runs in process {}, not in this fork of it", self.owner);
            return Err(Error::new(Kind::ForkedHandle, problem).with_hint("start a sandbox in this process"));
        }
        Ok(())
    }

    /// The service while it may be used. Nothing of it is touched, not even a lock, before the process is known.
    fn service(&self) -> Result<&Service> {
        self.check_process()?;
        if self.running.server.is_stopped() {
            return Err(stopped());
        }
        Ok(&self.running.service)
    }
}

fn stopped() -> Error {
    Error::new(Kind::Sandbox, "this sandbox was stopped").with_hint("start another one")
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.is_forked() {
            // The child's copies of thread, runtime and connections belong to no thread here: they are left alone.
            std::mem::forget(Arc::clone(&self.running));
        } else {
            // Nobody asked to wait, and whoever drops it may hold the interpreter.
            self.running.server.cancel();
        }
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sandbox").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}
