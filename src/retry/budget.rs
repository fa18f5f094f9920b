//! The retry budget that all calls over the same connections share. It keeps them from flooding a service that is
//! down with retries.
//!
//! The costs are those of the AWS SDKs; the capacity grows with the number of requests in flight.

/// A token bucket, full at first.
#[derive(Debug)]
pub struct RetryBudget {
    capacity: u32,
    left: u32,
}

impl RetryBudget {
    /// Cost of a retry after a lost connection or a server error.
    pub const TRANSIENT: u32 = 14;
    /// Cost of a retry after a 429 or `Retry-After`: less, as its pause spares the service already.
    pub const THROTTLED: u32 = 5;
    const MIN_CAPACITY: u32 = 500;
    /// Two retries for each request in flight.
    const PER_REQUEST: u32 = 2 * Self::TRANSIENT;

    /// A full bucket for `concurrency` requests at a time.
    #[must_use]
    pub fn new(concurrency: u32) -> Self {
        let capacity = Self::capacity(concurrency);
        Self { capacity, left: capacity }
    }

    fn capacity(concurrency: u32) -> u32 {
        concurrency.saturating_mul(Self::PER_REQUEST).max(Self::MIN_CAPACITY)
    }

    /// Raises the capacity to that of `concurrency` requests at a time, if it is lower.
    pub fn grow_for(&mut self, concurrency: u32) {
        let more = Self::capacity(concurrency).saturating_sub(self.capacity);
        self.capacity += more;
        self.left += more;
    }

    /// Takes `cost` tokens and returns true, or takes none and returns false.
    #[must_use]
    pub fn try_spend(&mut self, cost: u32) -> bool {
        let left = self.left.checked_sub(cost);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Refunds the cost of a successful call's last retry. A call without a retry adds one token.
    pub fn succeeded(&mut self, cost: Option<u32>) {
        self.left = self.left.saturating_add(cost.unwrap_or(1)).min(self.capacity);
    }

    /// Tokens left.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_costs_and_success_gives_the_last_one_back() {
        let mut budget = RetryBudget::new(8);
        assert_eq!(budget.left(), 500);
        assert!(budget.try_spend(RetryBudget::TRANSIENT));
        assert!(budget.try_spend(RetryBudget::THROTTLED));
        assert_eq!(budget.left(), 481);
        budget.succeeded(Some(RetryBudget::THROTTLED));
        budget.succeeded(None);
        assert_eq!(budget.left(), 487);
        for _ in 0..100 {
            budget.succeeded(None);
        }
        assert_eq!(budget.left(), 500);
    }

    #[test]
    fn an_empty_bucket_gives_nothing_and_stays_as_it_is() {
        let mut budget = RetryBudget::new(1);
        assert_eq!((0..40).filter(|_| budget.try_spend(RetryBudget::TRANSIENT)).count(), 35);
        assert_eq!(budget.left(), 10);
        assert!(budget.try_spend(RetryBudget::THROTTLED));
    }

    #[test]
    fn the_capacity_follows_the_requests_in_flight() {
        assert_eq!(RetryBudget::new(256).left(), 7_168);
        let mut budget = RetryBudget::new(8);
        assert!(budget.try_spend(RetryBudget::TRANSIENT));
        budget.grow_for(4);
        assert_eq!(budget.left(), 486);
        budget.grow_for(20);
        assert_eq!(budget.left(), 546);
    }
}
