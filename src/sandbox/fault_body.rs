//! A response body that a fault may cut off, stall or slow down.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::connection_state::{ConnectionState, Ending};
use super::faults::{ActiveFault, FaultKind};

/// A response body that reports its end to its connection.
pub(super) struct FaultBody {
    body: Body,
    connection: Arc<ConnectionState>,
    body_fault: Option<BodyFault>,
}

/// A fault of a body.
pub(super) struct BodyFault {
    event: Event,
    /// Bytes read from the body and not yet sent.
    held: Bytes,
    /// The fault, until its hit is recorded.
    fault: Option<Arc<ActiveFault>>,
    /// Ready once the fault has ended; the rest is then sent unchanged.
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

enum Event {
    /// Closes the connection after this number of bytes.
    End { left: usize, ending: Ending },
    /// Sends nothing more after this number of bytes.
    Stall { left: usize },
    /// Sends pieces of this size with a pause between them.
    Drip { most: usize, pause: Duration, until: Option<Pin<Box<Sleep>>> },
}

impl BodyFault {
    /// What the fault does to a body; none when it affects no body.
    pub(super) fn new(fault: Arc<ActiveFault>) -> Option<Self> {
        let event = match fault.fault.kind {
            FaultKind::Reset { after_bytes: Some(left) } => Event::End { left, ending: Ending::Reset },
            FaultKind::Cut { after_bytes: Some(left) } => Event::End { left, ending: Ending::Close },
            FaultKind::Stall { after_bytes: Some(left) } => Event::Stall { left },
            FaultKind::Drip { chunk_bytes: most, pause } => Event::Drip { most, pause, until: None },
            _ => return None,
        };
        let ended = Box::pin(fault.ended().clone().cancelled_owned());
        Some(Self { event, held: Bytes::new(), fault: Some(fault), ended })
    }

    /// How many bytes may be sent now; pending while none.
    fn poll_allowed(&mut self, context: &mut Context<'_>, connection: &ConnectionState) -> Poll<usize> {
        match &mut self.event {
            Event::End { left: 0, ending } => {
                self.fault.take().inspect(|fault| fault.record_hit());
                connection.close_after_flush(*ending);
                Poll::Pending
            }
            Event::End { left, .. } => Poll::Ready(*left),
            _ if self.ended.as_mut().poll(context).is_ready() => Poll::Ready(usize::MAX),
            Event::Stall { left: 0 } => {
                self.fault.take().inspect(|fault| fault.record_hit());
                Poll::Pending
            }
            Event::Stall { left } => Poll::Ready(*left),
            Event::Drip { most, until, .. } => {
                self.fault.take().inspect(|fault| fault.record_hit());
                if let Some(until) = until {
                    ready!(until.as_mut().poll(context));
                }
                Poll::Ready(*most)
            }
        }
    }

    /// Takes up to `allowed` bytes of those held back.
    fn take(&mut self, allowed: usize) -> Bytes {
        let bytes = self.held.split_to(allowed.min(self.held.len()));
        match &mut self.event {
            Event::End { left, .. } | Event::Stall { left } => *left = left.saturating_sub(bytes.len()),
            Event::Drip { pause, until, .. } => *until = Some(Box::pin(sleep(*pause))),
        }
        bytes
    }
}

impl FaultBody {
    /// A body with its fault, if any.
    pub(super) fn new(body: Body, connection: Arc<ConnectionState>, body_fault: Option<BodyFault>) -> Self {
        Self { body, connection, body_fault }
    }

    fn held(&self) -> usize {
        self.body_fault.as_ref().map_or(0, |body_fault| body_fault.held.len())
    }
}

impl Drop for FaultBody {
    fn drop(&mut self) {
        self.connection.on_response_written();
    }
}

impl HttpBody for FaultBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let body = Pin::new(&mut this.body);
        let Some(body_fault) = &mut this.body_fault else { return body.poll_frame(context) };
        // A fault takes effect only if more bytes follow: a body that ends here is complete.
        if body_fault.held.is_empty() {
            match ready!(body.poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => body_fault.held = bytes,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let allowed = ready!(body_fault.poll_allowed(context, &this.connection));
        Poll::Ready(Some(Ok(Frame::data(body_fault.take(allowed)))))
    }

    fn is_end_stream(&self) -> bool {
        self.held() == 0 && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let unsent = |rest: u64| SizeHint::with_exact(rest + self.held() as u64);
        self.body.size_hint().exact().map_or_else(SizeHint::default, unsent)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http_body_util::BodyExt;

    use super::*;
    use crate::sandbox::faults::Fault;
    use crate::sandbox::options::Limits;

    /// The bytes sent of a body of unknown length, and how the connection is closed.
    async fn sent(left: usize) -> (Vec<u8>, Option<Ending>) {
        let parts = ["one ", "two"].map(|part| Ok::<_, axum::Error>(Bytes::from(part)));
        let body = Body::from_stream(futures_util::stream::iter(parts));
        let connection = Arc::new(ConnectionState::new(Ipv4Addr::LOCALHOST.into(), Limits::default()));
        let fault = Arc::new(ActiveFault::new(1, Fault::new(FaultKind::Cut { after_bytes: Some(left) })));
        let body_fault = BodyFault::new(fault);
        let mut body = FaultBody::new(body, Arc::clone(&connection), body_fault);
        let mut sent = Vec::new();
        while connection.ending().is_none() {
            let Ok(Some(frame)) = tokio::time::timeout(Duration::from_millis(50), body.frame()).await else {
                break;
            };
            sent.extend(frame.unwrap().into_data().unwrap());
        }
        (sent, connection.ending())
    }

    #[tokio::test]
    async fn a_body_is_cut_only_where_more_would_follow() {
        assert_eq!(sent(0).await, (b"".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(4).await, (b"one ".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(6).await, (b"one tw".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(7).await, (b"one two".to_vec(), None));
    }
}
