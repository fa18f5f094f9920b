//! An answer on its way out: it passes as it is, or a fault cuts it, holds it up or lets it drip.
//!
//! It deals in bytes of a body; which fault it is and what stands in the body was decided before.

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
use super::faults::InForce;

/// A body that tells its line when it is through.
pub(super) struct Outgoing {
    body: Body,
    line: Arc<ConnectionState>,
    mishap: Option<Mishap>,
}

/// What happens to a body on its way.
pub(super) struct Mishap {
    event: Event,
    /// Bytes that were taken from the body and not sent.
    held: Bytes,
    /// The fault until it has changed this answer.
    fault: Option<Arc<InForce>>,
    /// The end of the fault, after which the rest passes.
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

enum Event {
    /// After so many bytes the connection ends.
    End { left: usize, ending: Ending },
    /// After so many bytes nothing is sent.
    Stall { left: usize },
    /// Pieces of so many bytes are sent with a pause between them.
    Drip { most: usize, pause: Duration, until: Option<Pin<Box<Sleep>>> },
}

impl Mishap {
    fn new(event: Event, fault: Arc<InForce>) -> Self {
        let ended = Box::pin(fault.ended().clone().cancelled_owned());
        Self { event, held: Bytes::new(), fault: Some(fault), ended }
    }

    /// The connection ends after so many bytes.
    pub(super) fn end(left: usize, ending: Ending, fault: Arc<InForce>) -> Self {
        Self::new(Event::End { left, ending }, fault)
    }

    /// Nothing is sent after so many bytes.
    pub(super) fn stall(left: usize, fault: Arc<InForce>) -> Self {
        Self::new(Event::Stall { left }, fault)
    }

    /// Pieces of at most so many bytes are sent with a pause between them.
    pub(super) fn drip(most: usize, pause: Duration, fault: Arc<InForce>) -> Self {
        Self::new(Event::Drip { most, pause, until: None }, fault)
    }

    /// How many bytes may be sent now; pending while none may.
    fn poll_allowance(&mut self, context: &mut Context<'_>, line: &ConnectionState) -> Poll<usize> {
        match &mut self.event {
            Event::End { left: 0, ending } => {
                self.fault.take().inspect(|fault| fault.has_changed_one());
                line.end_when_sent(*ending);
                Poll::Pending
            }
            Event::End { left, .. } => Poll::Ready(*left),
            _ if self.ended.as_mut().poll(context).is_ready() => Poll::Ready(usize::MAX),
            Event::Stall { left: 0 } => {
                self.fault.take().inspect(|fault| fault.has_changed_one());
                Poll::Pending
            }
            Event::Stall { left } => Poll::Ready(*left),
            Event::Drip { most, until, .. } => {
                self.fault.take().inspect(|fault| fault.has_changed_one());
                if let Some(until) = until {
                    ready!(until.as_mut().poll(context));
                }
                Poll::Ready(*most)
            }
        }
    }

    /// Takes what may be sent from what is held back.
    fn part(&mut self, allowed: usize) -> Bytes {
        let bytes = self.held.split_to(allowed.min(self.held.len()));
        match &mut self.event {
            Event::End { left, .. } | Event::Stall { left } => *left = left.saturating_sub(bytes.len()),
            Event::Drip { pause, until, .. } => *until = Some(Box::pin(sleep(*pause))),
        }
        bytes
    }
}

impl Outgoing {
    /// A body with what happens to it.
    pub(super) fn new(body: Body, line: Arc<ConnectionState>, mishap: Option<Mishap>) -> Self {
        Self { body, line, mishap }
    }

    fn held(&self) -> usize {
        self.mishap.as_ref().map_or(0, |mishap| mishap.held.len())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.line.has_answered();
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let body = Pin::new(&mut this.body);
        let Some(mishap) = &mut this.mishap else { return body.poll_frame(context) };
        // Only who has more to send can be kept from it: a body that ends here has passed whole.
        if mishap.held.is_empty() {
            match ready!(body.poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => mishap.held = bytes,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let allowed = ready!(mishap.poll_allowance(context, &this.line));
        Poll::Ready(Some(Ok(Frame::data(mishap.part(allowed)))))
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
    use crate::sandbox::faults::{Fault, FaultKind};
    use crate::sandbox::limits::Limits;

    /// What is sent of a body that does not know its length, and whether the connection was to end.
    async fn sent(left: usize) -> (Vec<u8>, Option<Ending>) {
        let parts = ["one ", "two"].map(|part| Ok::<_, axum::Error>(Bytes::from(part)));
        let body = Body::from_stream(futures_util::stream::iter(parts));
        let line = Arc::new(ConnectionState::new(Ipv4Addr::LOCALHOST.into(), Limits::default()));
        let fault = Arc::new(InForce::new(Fault::new(FaultKind::Cut { after_bytes: Some(left) })));
        let mishap = Mishap::end(left, Ending::Close, Arc::clone(&fault));
        let mut outgoing = Outgoing::new(body, Arc::clone(&line), Some(mishap));
        let mut sent = Vec::new();
        while line.ending().is_none() {
            let Ok(Some(frame)) = tokio::time::timeout(Duration::from_millis(50), outgoing.frame()).await else {
                break;
            };
            sent.extend(frame.unwrap().into_data().unwrap());
        }
        (sent, line.ending())
    }

    #[tokio::test]
    async fn a_body_is_cut_only_where_more_would_follow() {
        assert_eq!(sent(0).await, (b"".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(4).await, (b"one ".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(6).await, (b"one tw".to_vec(), Some(Ending::Close)));
        assert_eq!(sent(7).await, (b"one two".to_vec(), None));
    }
}
