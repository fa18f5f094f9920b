//! What the consumer of a response gets, and when.

/// What the consumer of a response gets.
#[derive(Debug)]
pub enum Event<B> {
    /// The next records.
    Batch(B),
    /// The request is retried: all records of this response so far are void. Only in [`DeliveryMode::Provisional`].
    Restart,
}

impl<B> Event<B> {
    /// With the records in memory of their own: a channel of tokio reserves space for 32 events at once.
    #[must_use]
    pub fn boxed(self) -> Event<Box<B>> {
        match self {
            Self::Batch(batch) => Event::Batch(Box::new(batch)),
            Self::Restart => Event::Restart,
        }
    }
}

/// When the consumer can take the batches of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// As they arrive; a retry voids those that were taken.
    Provisional,
    /// As they arrive; the request is not retried once a batch was taken. The first `held` batches are held back until
    /// there are more or the response is complete, so that a short response can be retried to its end.
    Streamed {
        /// Batches held back.
        held: usize,
    },
    /// Once the response is complete and reports success.
    Complete,
}
