//! Responses in flight whose task or service the test writes.

use std::task::Waker;
use std::time::{Duration, SystemTime};

use super::*;
use crate::client::{BufferBudget, DeliveryMode};
use crate::contract::search::{Attributes, Filters, SearchBody};
use crate::decode::Envelope;
use crate::filter::Search;

struct Rows;

impl Batch for Rows {
    fn bytes(&self) -> usize {
        1
    }
}

fn any_request() -> PlannedRequest {
    let body = SearchBody {
        item_type_id: 7,
        item_type_name: "store".to_owned(),
        attrs: Attributes::Names(Arc::from(["n".to_owned()])),
        filters: Filters { or: Vec::new() },
    };
    PlannedRequest {
        search: Arc::new(Search { body, attributes: Arc::from(["n".to_owned()]), limit: None, known_row_cap: None }),
        window: None,
        name: String::new(),
    }
}

#[test]
fn a_batch_that_is_sent_as_the_task_ends_is_not_lost() {
    let budget = Arc::new(BufferBudget::new(100, Duration::from_secs(4)));
    let delivery = Arc::new(Delivery::new(0, DeliveryMode::Streamed { held: 1 }, budget));
    let sender = Arc::clone(&delivery);
    // Ends while it is polled, as a task on another thread may.
    let task = Box::pin(async move {
        let batch = BatchWithStats { batch: Rows, stats: RecordStats::default() };
        sender.push(batch).expect("no limit");
        sender.complete();
        let (elapsed, requested_at) = (Duration::ZERO, SystemTime::UNIX_EPOCH);
        Ok(Ok(Completed { envelope: Envelope::default(), attempts: 1, elapsed, requested_at, headers: None }))
    });
    let mut response = OpenResponse::new(0, any_request(), delivery, task);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(response.poll(&mut context), Poll::Ready(Arrival::Batch(Delivered { batch: Rows, .. }))));
    assert!(matches!(response.poll(&mut context), Poll::Ready(Arrival::End(Ok(_)))));
}
