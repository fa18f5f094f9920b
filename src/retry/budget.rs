//! What all calls of a client may spend on sending again, so that they do not beat down a service that is down.
//!
//! The figures are those of the AWS clients, but for a capacity that grows with the number of requests in flight.

/// A bucket of tokens, full at first.
#[derive(Debug)]
pub struct RetryBudget {
    capacity: u32,
    left: u32,
}

impl RetryBudget {
    /// What sending again costs after a lost connection or a failing service,
    pub const TRANSIENT: u32 = 14;
    /// and what after the service asked to slow down, which spares it already.
    pub const THROTTLED: u32 = 5;
    const LEAST: u32 = 500;
    /// Two attempts more for each request in flight.
    const EACH: u32 = 2 * Self::TRANSIENT;

    /// A full bucket for so many requests at a time.
    #[must_use]
    pub fn new(concurrency: u32) -> Self {
        let capacity = Self::capacity(concurrency);
        Self { capacity, left: capacity }
    }

    fn capacity(concurrency: u32) -> u32 {
        concurrency.saturating_mul(Self::EACH).max(Self::LEAST)
    }

    /// Makes room for so many requests at a time, if there is less.
    pub fn widen(&mut self, concurrency: u32) {
        let more = Self::capacity(concurrency).saturating_sub(self.capacity);
        self.capacity += more;
        self.left += more;
    }

    /// Takes so many tokens, or none and says so.
    #[must_use]
    pub fn take(&mut self, cost: u32) -> bool {
        let left = self.left.checked_sub(cost);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// A call ended well: what its last attempt cost is given back; one that needed none adds one.
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
        assert!(budget.take(RetryBudget::TRANSIENT));
        assert!(budget.take(RetryBudget::THROTTLED));
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
        assert_eq!((0..40).filter(|_| budget.take(RetryBudget::TRANSIENT)).count(), 35);
        assert_eq!(budget.left(), 10);
        assert!(budget.take(RetryBudget::THROTTLED));
    }

    #[test]
    fn the_capacity_follows_the_requests_in_flight() {
        assert_eq!(RetryBudget::new(256).left(), 7_168);
        let mut budget = RetryBudget::new(8);
        assert!(budget.take(RetryBudget::TRANSIENT));
        budget.widen(4);
        assert_eq!(budget.left(), 486);
        budget.widen(20);
        assert_eq!(budget.left(), 546);
    }
}
