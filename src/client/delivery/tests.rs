//! Deliveries to a consumer that the test polls by hand, on a paused clock.

use std::future::poll_fn;
use std::pin::pin;

use futures_util::poll;

use super::*;
use crate::client::Kept;

struct Rows(usize);

impl Batch for Rows {
    fn bytes(&self) -> usize {
        self.0
    }
}

const UNREAD: Duration = Duration::from_secs(4);
const STREAMED: DeliveryMode = DeliveryMode::Streamed { held: 0 };

fn delivery(index: usize, mode: DeliveryMode, budget: &Arc<BufferBudget>) -> Delivery<Rows> {
    Delivery::new(index, mode, Arc::clone(budget))
}

fn budget(limit: usize) -> Arc<BufferBudget> {
    Arc::new(BufferBudget::new(limit, UNREAD))
}

/// What the consumer gets now: the attempt and the size of a batch, or nothing.
async fn delivered(delivery: &Delivery<Rows>) -> Option<(u32, usize)> {
    match poll!(pin!(poll_fn(|context| delivery.poll(context)))) {
        Poll::Ready(Some(Delivered { attempt, batch })) => Some((attempt, batch.0)),
        Poll::Ready(None) | Poll::Pending => None,
    }
}

/// The size of the batch that the consumer gets now.
async fn taken(delivery: &Delivery<Rows>) -> Option<usize> {
    delivered(delivery).await.map(|(_, bytes)| bytes)
}

impl<B: Batch> Delivery<B> {
    /// As a request delivers a batch. Returns false if the response was dropped.
    async fn send(&self, batch: B) -> bool {
        self.push(batch).expect("no limit");
        self.wait_for_space().await
    }
}

#[tokio::test]
async fn a_failed_attempt_leaves_no_batch_to_be_taken() {
    let budget = budget(100);
    let delivery = delivery(0, STREAMED, &budget);
    assert!(delivery.send(Rows(10)).await, "space");
    assert!(delivery.suspend());
    assert_eq!((taken(&delivery).await, budget.used()), (None, 10), "it may be the last attempt");
    delivery.void();
    assert_eq!((taken(&delivery).await, budget.used()), (None, 0));
}

#[tokio::test]
async fn what_arrived_before_a_final_failure_is_taken() {
    let delivery = delivery(0, STREAMED, &budget(100));
    assert!(delivery.send(Rows(10)).await, "space");
    assert!(delivery.suspend());
    assert_eq!(taken(&delivery).await, None);
    delivery.resume();
    assert_eq!(taken(&delivery).await, Some(10));
}

#[tokio::test]
async fn no_retry_follows_a_batch_that_was_taken() {
    let budget = budget(100);
    let delivery = delivery(0, STREAMED, &budget);
    assert!(delivery.send(Rows(10)).await, "space");
    assert_eq!(taken(&delivery).await, Some(10));
    assert!(delivery.send(Rows(20)).await, "space");
    assert!(!delivery.suspend());
    assert_eq!(taken(&delivery).await, Some(20), "what arrived before the failure is good");
}

#[tokio::test]
async fn batches_that_a_retry_voids_have_another_number_than_those_after_them() {
    let delivery = delivery(0, DeliveryMode::Replaceable, &budget(100));
    let mut kept = OfAttempt::new(Vec::new());
    for (size, expected) in [(10, vec![10]), (20, vec![20]), (30, vec![20, 30])] {
        if size == 20 {
            assert!(delivery.suspend(), "taken batches are no obstacle");
            delivery.void();
            assert_eq!(delivered(&delivery).await, None);
        }
        assert!(delivery.send(Rows(size)).await);
        let (attempt, bytes) = delivered(&delivery).await.expect("a batch");
        kept.of(attempt, Vec::new).push(bytes);
        assert_eq!(*kept.of(attempt, Vec::new), expected);
    }
    assert!(delivery.suspend());
    delivery.void();
    delivery.complete();
    assert!(kept.of_last(delivery.attempt(), Vec::new).is_empty(), "the last attempt had no rows");
}

#[tokio::test]
async fn a_result_has_a_limit_over_all_its_responses_and_what_a_retry_voids_does_not_count() {
    let budget = BufferBudget::new(usize::MAX, UNREAD).of_result(25, Kept::Batches);
    let other = delivery(0, DeliveryMode::Complete, &Arc::new(budget.anew()));
    let delivery = delivery(0, DeliveryMode::Replaceable, &Arc::new(budget));
    for _ in 0..2 {
        assert!(delivery.push(Rows(20)).is_ok());
        assert!(delivery.suspend());
        delivery.void();
    }
    assert!(other.push(Rows(20)).is_ok());
    assert!(delivery.push(Rows(6)).is_err());
}

#[tokio::test]
async fn a_retry_after_no_batch_was_taken_is_the_same_attempt_for_the_consumer() {
    let delivery = delivery(0, DeliveryMode::Complete, &budget(100));
    assert!(delivery.send(Rows(10)).await);
    assert!(delivery.suspend());
    delivery.void();
    assert_eq!(delivery.attempt(), 0);
}

#[tokio::test]
async fn nothing_is_taken_before_the_response_is_complete_in_that_mode() {
    let delivery = delivery(0, DeliveryMode::Complete, &budget(1));
    for _ in 0..3 {
        assert!(delivery.send(Rows(10)).await, "the budget is for other modes");
    }
    assert_eq!(taken(&delivery).await, None);
    delivery.complete();
    assert_eq!(taken(&delivery).await, Some(10));
}

#[tokio::test(start_paused = true)]
async fn responses_that_wait_for_space_are_dropped_and_the_last_one_first() {
    let budget = budget(20);
    let [front, second, third] = [0, 1, 2].map(|index| delivery(index, STREAMED, &budget));
    budget.set_open(0, 2);
    assert!(front.send(Rows(5)).await, "the consumer waits for it");
    assert!(second.send(Rows(10)).await, "space");
    let began = Instant::now();
    let third_sending = async { (third.send(Rows(10)).await, began.elapsed()) };
    let (second_sent, (third_sent, after)) = tokio::join!(second.send(Rows(10)), third_sending);
    assert!(!third_sent && third.is_evicted());
    assert!((UNREAD..2 * UNREAD).contains(&after), "no response after it is open: {after:?}");
    assert!(!second_sent && second.is_evicted(), "it has no space without the third either");
    assert!((2 * UNREAD..3 * UNREAD).contains(&began.elapsed()));
    assert_eq!(budget.used(), 5);
    assert!(!front.is_evicted());
}

#[tokio::test(start_paused = true)]
async fn a_response_whose_turn_comes_is_kept() {
    let budget = budget(10);
    let second = delivery(1, STREAMED, &budget);
    budget.set_open(0, 1);
    assert!(second.send(Rows(1)).await, "space");
    let mut sending = pin!(second.send(Rows(10)));
    assert!(poll!(sending.as_mut()).is_pending());
    budget.set_open(1, 1);
    tokio::time::sleep(10 * UNREAD).await;
    assert!(poll!(sending.as_mut()).is_pending(), "one batch ahead of its consumer");
    assert_eq!(taken(&second).await, Some(1));
    assert!(sending.await);
}
