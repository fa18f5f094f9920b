//! Response bodies that a fault cuts off, stalls or slows down.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::http::header;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{StreamExt, unfold};
use tokio::time::{sleep, timeout};

use super::connections::{Connection, Ending};
use super::faults::{ActiveFault, FaultKind};

/// Time for the client to receive what was sent: a reset discards what is still in flight.
const BEFORE_END: Duration = Duration::from_millis(100);

/// The response with the effect of the fault on its body, if it has any.
pub(super) fn with_fault(response: Response, fault: Arc<ActiveFault>, connection: Arc<Connection>) -> Response {
    let left = match fault.fault.kind {
        FaultKind::Reset { after_bytes: Some(left) }
        | FaultKind::Cut { after_bytes: Some(left) }
        | FaultKind::Stall { after_bytes: Some(left) } => left,
        FaultKind::Drip { .. } => usize::MAX,
        _ => return response,
    };
    if response.body().is_end_stream() {
        return response;
    }
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.insert(header::CONTENT_LENGTH, length.into());
    }
    let pieces =
        Pieces { body: body.into_data_stream(), held: Bytes::new(), left, has_dripped: false, fault, connection };
    Response::from_parts(head, Body::from_stream(unfold(pieces, Pieces::next)))
}

/// The pieces of a body that a fault affects.
struct Pieces {
    body: BodyDataStream,
    /// Bytes read from the body and not yet sent.
    held: Bytes,
    /// Bytes until the fault takes effect.
    left: usize,
    has_dripped: bool,
    fault: Arc<ActiveFault>,
    connection: Arc<Connection>,
}

impl Pieces {
    async fn next(mut self) -> Option<(Result<Bytes, axum::Error>, Self)> {
        // A fault takes effect only if more bytes follow: a body that ends here is complete.
        while self.held.is_empty() {
            match self.body.next().await? {
                Ok(bytes) => self.held = bytes,
                failure => return Some((failure, self)),
            }
        }
        let size = self.allowed().await.min(self.held.len());
        self.left -= size;
        Some((Ok(self.held.split_to(size)), self))
    }

    /// Waits until more may be sent, and returns how many bytes.
    async fn allowed(&mut self) -> usize {
        let (fault, ended) = (&self.fault, self.fault.ended());
        match fault.fault.kind {
            FaultKind::Drip { chunk_bytes, pause } if !ended.is_cancelled() => {
                if self.has_dripped {
                    // Ending the fault ends the pause.
                    let _ = timeout(pause, ended.cancelled()).await;
                } else {
                    fault.record_hit();
                    self.has_dripped = true;
                }
                return chunk_bytes;
            }
            FaultKind::Stall { .. } if ended.is_cancelled() => self.left = usize::MAX,
            _ if self.left > 0 => {}
            FaultKind::Stall { .. } => {
                fault.record_hit();
                ended.cancelled().await;
                self.left = usize::MAX;
            }
            ref kind => {
                fault.record_hit();
                sleep(BEFORE_END).await;
                let is_reset = matches!(kind, FaultKind::Reset { .. });
                self.connection.end(if is_reset { Ending::Reset } else { Ending::Close }).await;
            }
        }
        self.left
    }
}
