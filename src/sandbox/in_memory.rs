//! The service without sockets, for fuzzing: a request passes the same checks and routes as one of a connection.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::time::timeout;

use super::connections::Connection;
use super::options::Options;
use super::prepare;
use super::routes::{self, Shared};
use crate::error::Result;

/// A service that a caller reaches by a function.
pub struct InMemory {
    router: TowerToHyperService<Router>,
    shared: Shared,
}

impl InMemory {
    /// Starts a service.
    ///
    /// # Errors
    /// As [`Sandbox::start`](super::Sandbox::start).
    pub fn start(options: Options) -> Result<Self> {
        let shared = prepare(options)?;
        Ok(Self { router: TowerToHyperService::new(routes::router(shared.clone())), shared })
    }

    /// The token of the control routes.
    #[must_use]
    pub fn admin_token(&self) -> &str {
        &self.shared.admin.0
    }

    /// The status and the body of the response. None if the target or a header is not HTTP, or a fault closes the
    /// connection or keeps the response back. Needs a runtime with a clock.
    pub async fn respond(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<(u16, Vec<u8>)> {
        let connection = Arc::new(Connection::new(Ipv4Addr::LOCALHOST.into()));
        let mut request = Request::builder().method(method).uri(target).header("host", "127.0.0.1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.extension(Arc::clone(&connection)).body(Body::from(body.to_vec())).ok()?;
        let responding = async {
            let (head, body) = self.router.call(request).await.ok()?.into_parts();
            Some((head.status.as_u16(), body.collect().await.ok()?.to_bytes().to_vec()))
        };
        tokio::select! {
            responded = timeout(self.shared.limits.stall, responding) => responded.ok()?,
            _ = connection.ending.wait() => None,
        }
    }
}
