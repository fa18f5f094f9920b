//! Responses in flight: their order, their number, and what is dropped and requested again.

use std::sync::atomic::Ordering;

use tokio::time::{Instant, sleep};

use super::*;
use crate::error::Kind;

#[tokio::test(start_paused = true)]
async fn rows_come_in_the_order_of_the_plan_and_no_more_are_in_flight_than_allowed() {
    let (client, requests) = client(|arguments| arguments.concurrency = Some(2), |asked| slow_rows(asked.day, 2));
    let began = Instant::now();
    let collected = scan(6).collect(&client, ROW_BY_ROW).await.unwrap();
    let expected: Vec<String> = (0..6).flat_map(|day| ids(&day.to_string(), 2)).collect();
    assert_eq!(found(&collected), expected);
    assert_eq!(days(&requests), [0, 1, 2, 3, 4, 5]);
    // Three pairs, one after the other.
    assert!(began.elapsed() >= 3 * Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((collected.stats.figures.rows, collected.stats.requests), (12, 6));
}

#[tokio::test(start_paused = true)]
async fn a_response_that_waits_for_memory_too_long_is_dropped_and_requested_again() {
    let (client, requests) =
        client(|arguments| arguments.buffered_bytes = 1, |asked| rows(asked.day, &ids(&asked.day.to_string(), 4)));
    let stream = scan(2).stream(&client, ROW_BY_ROW, LastStats::default());
    let mut rows = 0;
    loop {
        match stream.take().unwrap() {
            Next::Batch(batch) => {
                rows += batch.num_rows();
                // A consumer that is busy for longer than a proxy waits.
                sleep(Duration::from_secs(60)).await;
            }
            Next::NotYet => stream.wait().await,
            Next::End => break,
        }
    }
    assert_eq!(rows, 8);
    assert_eq!(days(&requests).iter().filter(|day| **day == 0).count(), 1, "its rows were taken");
    assert_eq!(stream.stats().unwrap().figures.rows, 8);
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_the_requests() {
    let (client, requests) = service(|asked| rows(asked.day, &ids(&asked.day.to_string(), 4)));
    let collected = scan(6).limited(Some(6)).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!(found(&collected).len(), 6);
    assert_eq!(days(&requests), [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_scan_warns_of_no_rows_unless_it_is_a_task_whose_scan_may_have_some() {
    for (scan, warned) in [(scan(2), vec![DataWarningKind::EmptyResult]), (scan(2).as_task(), vec![])] {
        let (client, _) = service(|asked| rows(asked.day, &[]));
        let collected = scan.collect(&client, ROW_BY_ROW).await.unwrap();
        assert_eq!(collected.stats.warnings.iter().map(|warning| warning.kind).collect::<Vec<_>>(), warned);
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_response_names_its_request_and_ends_the_others() {
    let (client, _) = service(|asked| match asked.day {
        1 => Reply::status(400),
        day => slow_rows(day, 5),
    });
    let error = scan(3).collect(&client, ROW_BY_ROW).await.unwrap_err();
    assert_eq!(error.kind(), Kind::RequestRejected);
    assert!(error.message().starts_with("request 2 of 3 (2024-01-02): "), "{error}");
    tokio::task::yield_now().await;
    assert_eq!(client.stats().in_flight.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_retry_voids_the_rows_of_a_single_response() {
    let (client, _) = service(|asked| match asked.before {
        0 => {
            let mut reply = slow_rows(0, 9);
            reply.body.truncate(6);
            reply.body.push(Step::Lost);
            reply
        }
        _ => rows(0, &ids("new", 2)),
    });
    let collected = scan(1).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!(found(&collected), ids("new", 2));
    assert_eq!((collected.stats.figures.rows, collected.stats.figures.attempts), (2, 2));
}
