//! Finds out what reqwest does not report of a request: whether it opened a connection or reused one, and whether a
//! connection began to send it.
//!
//! reqwest connects within the future of the request that needs a connection. A request whose future opened none was
//! sent on a reused connection.
//!
//! A request that is handed to a reused connection at the moment it closes can be lost (hyper 1.12): it stays in a
//! channel that nothing reads and that the request itself keeps open. Its body is never polled, which shows the loss.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{self, Future};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::sleep;
use tower_layer::{Layer, layer_fn};
use tower_service::Service;

use super::Meter;

/// How long an open connection may take to begin sending a request. Usually it takes microseconds.
const HANDOVER: Duration = Duration::from_secs(2);

tokio::task_local! {
    static PROGRESS: Progress;
}

#[derive(Default)]
struct Progress {
    is_connecting: Cell<bool>,
    has_connected: Cell<bool>,
}

/// Runs a request. `connect` is the time-out of its connection; its [`ObservedBody`] sets `send_started`. Returns nothing
/// if no connection began to send the request, and whether it opened one.
pub(super) async fn observe<T>(
    request: impl Future<Output = T>,
    send_started: &AtomicBool,
    connect: Duration,
) -> (Option<T>, bool) {
    let observed = async {
        let outcome = tokio::select! {
            biased;
            outcome = request => Some(outcome),
            () = lost_in_handover(send_started, connect) => None,
        };
        (outcome, PROGRESS.with(|progress| progress.has_connected.get()))
    };
    PROGRESS.scope(Progress::default(), observed).await
}

/// Completes if the request was handed to a connection that does not begin to send it.
async fn lost_in_handover(send_started: &AtomicBool, connect: Duration) {
    // Usually enough: a timer would wake the runtime once more.
    after_ready_tasks().await;
    if !send_started.load(Ordering::Relaxed) {
        sleep(HANDOVER).await;
        if PROGRESS.with(|progress| progress.is_connecting.get()) {
            sleep(connect).await;
        }
    }
    if send_started.load(Ordering::Relaxed) {
        future::pending::<()>().await;
    }
}

/// Lets the tasks run that are ready, without a look at the sockets.
pub(super) async fn after_ready_tasks() {
    let mut is_queued = false;
    let queued = |context: &mut Context<'_>| {
        if mem::replace(&mut is_queued, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    };
    future::poll_fn(queued).await;
}

/// A request body that records when it is polled: the connection then begins to send.
pub(super) struct ObservedBody {
    data: Option<Bytes>,
    send_started: Arc<AtomicBool>,
}

impl ObservedBody {
    /// A body, and the flag that it sets when it is polled.
    pub(super) fn new(data: Bytes) -> (Self, Arc<AtomicBool>) {
        let send_started = Arc::<AtomicBool>::default();
        (Self { data: Some(data), send_started: Arc::clone(&send_started) }, send_started)
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.send_started.store(true, Ordering::Relaxed);
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
}

/// Wraps reqwest's connector in one that records and counts the connections that are opened.
pub(super) fn observed<S>(meter: Arc<Meter>) -> impl Layer<S, Service = Connector<S>> + Clone + Send + Sync {
    layer_fn(move |inner| Connector { inner: Arc::new(inner), meter: meter.clone() })
}

/// reqwest clones its connector several times for each request, and few requests connect: a clone copies nothing.
pub(super) struct Connector<S> {
    inner: Arc<S>,
    meter: Arc<Meter>,
}

impl<S> Clone for Connector<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), meter: Arc::clone(&self.meter) }
    }
}

impl<S, R> Service<R> for Connector<S>
where
    S: Service<R> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, destination: R) -> Self::Future {
        _ = PROGRESS.try_with(|progress| progress.is_connecting.set(true));
        let (mut inner, meter) = (S::clone(&self.inner), Arc::clone(&self.meter));
        Box::pin(async move {
            future::poll_fn(|context| inner.poll_ready(context)).await?;
            let connection = inner.call(destination).await?;
            Meter::count(&meter.connections_opened);
            // Outside of a request if that found an idle connection meanwhile and left this one to a background task.
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
    async fn a_request_that_no_connection_begins_to_send_is_abandoned() {
        let send_started = AtomicBool::new(false);
        let began = Instant::now();
        let sent = observe(future::pending::<()>(), &send_started, CONNECT).await;
        assert_eq!(sent, (None, false));
        assert_eq!(began.elapsed(), HANDOVER);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_sent_or_connects_first_is_not_abandoned() {
        let (mut body, send_started) = ObservedBody::new(Bytes::from_static(b"{}"));
        let polled = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        assert!(polled.is_some_and(|frame| frame.is_ok()));
        let waiting = observe(future::pending::<()>(), &send_started, CONNECT);
        assert!(timeout(100 * CONNECT, waiting).await.is_err());

        let connecting = async {
            PROGRESS.with(|progress| progress.is_connecting.set(true));
            sleep(CONNECT).await;
        };
        assert!(observe(connecting, &AtomicBool::new(false), CONNECT).await.0.is_some());
    }
}
