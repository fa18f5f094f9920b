//! What the consumer of a response gets, and when.

/// A batch of records. A batch with another number of its attempt voids the batches before it.
#[derive(Debug)]
pub struct Delivered<B> {
    /// Number of the attempt. It changes only in [`DeliveryMode::Replaceable`], when a retry follows batches that were
    /// taken.
    pub attempt: u32,
    /// The records.
    pub batch: B,
}

impl<B> Delivered<B> {
    /// With the records in memory of their own: a channel of tokio reserves space for 32 batches at once.
    #[must_use]
    pub fn boxed(self) -> Delivered<Box<B>> {
        Delivered { attempt: self.attempt, batch: Box::new(self.batch) }
    }
}

/// What a consumer makes of the batches of one attempt.
#[derive(Debug)]
pub struct OfAttempt<T> {
    attempt: u32,
    value: T,
}

/// When the consumer can take the batches of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// As they arrive; a retry delivers all records anew and voids the batches that were taken.
    Replaceable,
    /// As they arrive; the request is not retried once a batch was taken. The first `held` batches are held back until
    /// there are more or the response is complete, so that a short response can be retried to its end.
    Streamed {
        /// Batches held back.
        held: usize,
    },
    /// Once the response is complete and reports success.
    Complete,
}

impl<T> OfAttempt<T> {
    /// A value for the first attempt.
    pub const fn new(value: T) -> Self {
        Self { attempt: 0, value }
    }

    /// The value of this attempt, which is made `anew` if the value is of an earlier one.
    pub fn of(&mut self, attempt: u32, anew: impl FnOnce() -> T) -> &mut T {
        if self.attempt != attempt {
            *self = Self { attempt, value: anew() };
        }
        &mut self.value
    }

    /// The value of the newest attempt so far.
    pub fn last(&self) -> &T {
        &self.value
    }

    /// The value of the last attempt, which may have delivered nothing.
    pub fn of_last(mut self, attempt: u32, anew: impl FnOnce() -> T) -> T {
        self.of(attempt, anew);
        self.value
    }
}
