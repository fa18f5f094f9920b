//! Responses in flight whose task or service the test writes.

use std::task::Waker;
use std::time::{Duration, SystemTime};

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::*;
use crate::client::testing::any_search;
use crate::client::{BufferBudget, DeliveryMode};
use crate::decode::Envelope;

#[test]
fn a_batch_that_is_sent_as_the_task_ends_is_not_lost() {
    let budget = Arc::new(BufferBudget::new(100, Duration::from_secs(4)));
    let delivery = Arc::new(Delivery::new(0, DeliveryMode::Streamed { held: 1 }, budget));
    let sender = Arc::clone(&delivery);
    let request = PlannedRequest { search: Arc::new(any_search()), window: None, name: String::new() };
    // Ends while it is polled, as a task on another thread may.
    let task = Box::pin(async move {
        let batch = RecordBatch::new_empty(Schema::empty().into());
        sender.push(BatchWithStats { batch, stats: RecordStats::default() }).expect("no limit");
        sender.complete();
        let (elapsed, requested_at) = (Duration::ZERO, SystemTime::UNIX_EPOCH);
        Ok(Ok(Completed { envelope: Envelope::default(), attempts: 1, elapsed, requested_at, headers: None }))
    });
    let mut response = OpenResponse::new(0, request, delivery, task);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(response.poll(&mut context), Poll::Ready(Arrival::Batch(_))));
    assert!(matches!(response.poll(&mut context), Poll::Ready(Arrival::End(Ok(_)))));
}
