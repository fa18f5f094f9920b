//! Which request opened a connection and which took an old one, as the HTTP library does not say.
//!
//! The library connects within the future of the request that needs a connection. One whose future connected to
//! nothing was sent on a connection that was there before.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    /// Whether the future under way has connected.
    static CONNECTED: Cell<bool>;
}

/// Runs a request; says besides whether it opened a connection of its own.
pub(super) async fn observe<T>(request: impl Future<Output = T>) -> (T, bool) {
    let request = async { (request.await, CONNECTED.with(Cell::get)) };
    CONNECTED.scope(Cell::new(false), request).await
}

/// Notes and counts connections as they come about.
#[derive(Clone)]
pub(super) struct Observed {
    opened: Arc<AtomicU64>,
}

impl Observed {
    /// Adds to `opened`.
    pub(super) fn new(opened: Arc<AtomicU64>) -> Self {
        Self { opened }
    }
}

impl<S> Layer<S> for Observed {
    type Service = Connector<S>;

    fn layer(&self, inner: S) -> Connector<S> {
        Connector { inner, opened: self.opened.clone() }
    }
}

/// The connector of the library, observed.
#[derive(Clone)]
pub(super) struct Connector<S> {
    inner: S,
    opened: Arc<AtomicU64>,
}

impl<S: Service<R>, R> Service<R> for Connector<S>
where
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, destination: R) -> Self::Future {
        let connecting = self.inner.call(destination);
        let opened = self.opened.clone();
        Box::pin(async move {
            let connection = connecting.await?;
            opened.fetch_add(1, Ordering::Relaxed);
            // A request that found an old connection meanwhile leaves the new one to a task that is no request.
            let _ = CONNECTED.try_with(|connected| connected.set(true));
            Ok(connection)
        })
    }
}
