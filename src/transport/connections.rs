//! What the HTTP library does not say of a request: whether it opened a connection or took an old one, and whether it
//! is being sent at all.
//!
//! The library connects within the future of the request that needs a connection. One whose future connected to
//! nothing was sent on a connection that was there before.
//!
//! A request that is handed to an old connection in the very moment it ends can be forgotten: it lies in a channel that
//! nobody reads any more and that the request itself keeps open (hyper 1.12). Nobody has asked for its body then, which
//! is how it is found out.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{self, Future};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::sleep;
use tower_layer::Layer;
use tower_service::Service;

/// For a connection that is there to begin with a request; it takes microseconds.
const HANDOVER: Duration = Duration::from_secs(2);

tokio::task_local! {
    static PROGRESS: Progress;
}

/// How far the request in flight has come.
#[derive(Default)]
struct Progress {
    is_connecting: Cell<bool>,
    has_connected: Cell<bool>,
}

/// How a request ended.
pub(super) struct Sent<T> {
    /// Nothing, if no connection has begun to send it.
    pub(super) outcome: Option<T>,
    /// Whether it opened a connection of its own.
    pub(super) has_connected: bool,
}

/// Runs a request of this body, whose connection comes about within `connect` or not at all.
pub(super) async fn observe<T>(request: impl Future<Output = T>, is_begun: &AtomicBool, connect: Duration) -> Sent<T> {
    let observed = async {
        let outcome = tokio::select! {
            biased;
            outcome = request => Some(outcome),
            () = forgotten(is_begun, connect) => None,
        };
        Sent { outcome, has_connected: PROGRESS.with(|progress| progress.has_connected.get()) }
    };
    PROGRESS.scope(Progress::default(), observed).await
}

/// Ends when the request should have begun to be sent and has not.
async fn forgotten(is_begun: &AtomicBool, connect: Duration) {
    sleep(HANDOVER).await;
    if PROGRESS.with(|progress| progress.is_connecting.get()) {
        sleep(connect).await;
    }
    if is_begun.load(Ordering::Relaxed) {
        future::pending::<()>().await;
    }
}

/// The body of a request, which notes when the library asks for it: the connection has begun to send.
pub(super) struct Outgoing {
    data: Option<Bytes>,
    is_begun: Arc<AtomicBool>,
}

impl Outgoing {
    /// A body, and where it notes that it was asked for.
    pub(super) fn new(data: Bytes) -> (Self, Arc<AtomicBool>) {
        let is_begun = Arc::<AtomicBool>::default();
        (Self { data: Some(data), is_begun: Arc::clone(&is_begun) }, is_begun)
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.is_begun.store(true, Ordering::Relaxed);
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
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
        _ = PROGRESS.try_with(|progress| progress.is_connecting.set(true));
        let connecting = self.inner.call(destination);
        let opened = self.opened.clone();
        Box::pin(async move {
            let connection = connecting.await?;
            opened.fetch_add(1, Ordering::Relaxed);
            // A request that found an old connection meanwhile leaves the new one to a task that is no request.
            _ = PROGRESS.try_with(|progress| progress.has_connected.set(true));
            Ok(connection)
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    const CONNECT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_request_that_no_connection_begins_to_send_is_given_up() {
        let is_begun = AtomicBool::new(false);
        let began = Instant::now();
        let sent = observe(future::pending::<()>(), &is_begun, CONNECT).await;
        assert!(sent.outcome.is_none() && !sent.has_connected);
        assert_eq!(began.elapsed(), HANDOVER);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_sent_or_has_to_connect_first_has_time() {
        let (mut body, is_begun) = Outgoing::new(Bytes::from_static(b"{}"));
        let asked = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        assert!(asked.is_some_and(|frame| frame.is_ok()));
        let waiting = observe(future::pending::<()>(), &is_begun, CONNECT);
        assert!(timeout(100 * CONNECT, waiting).await.is_err());

        let connecting = async {
            PROGRESS.with(|progress| progress.is_connecting.set(true));
            sleep(CONNECT).await;
        };
        assert!(observe(connecting, &AtomicBool::new(false), CONNECT).await.outcome.is_some());
    }
}
