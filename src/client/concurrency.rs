//! Limits the requests of a client in flight to `concurrency=`.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::delivery::Delivery;
use crate::decode::Batch;
use crate::error::Result;

/// The places for requests in flight.
#[derive(Debug)]
pub(super) struct Concurrency(Option<Semaphore>);

/// The place of a request in flight; free again once it is dropped.
pub(super) struct Slot<'a> {
    places: &'a Concurrency,
    permit: Option<SemaphorePermit<'a>>,
}

impl Concurrency {
    /// So many places; without a number there is no limit.
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self(limit.map(|limit| Semaphore::new(limit.max(1) as usize)))
    }

    /// Waits for a free place.
    pub(super) async fn slot(&self) -> Slot<'_> {
        Slot { places: self, permit: self.permit().await }
    }

    async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.as_ref()?.acquire().await.ok()
    }
}

impl Slot<'_> {
    /// Delivers a batch and waits for space for the next. The place is free meanwhile: the consumer may need it for a
    /// request of its own before it takes the next batch.
    pub(super) async fn deliver<B: Batch>(&mut self, delivery: &Delivery<B>, batch: B) -> Result<()> {
        delivery.push(batch)?;
        if !delivery.has_space() {
            self.permit = None;
            delivery.wait_for_space().await?;
            self.permit = self.places.permit().await;
        }
        Ok(())
    }
}
