//! Responses that look capped, and their parts.

use super::*;

#[tokio::test(start_paused = true)]
async fn responses_that_look_capped_are_replaced_by_their_parts() {
    let (client, requests) = capped(30);
    let collected = scan(3).splitting(true).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!(found(&collected).len(), 3 * 3 * 30);
    assert_eq!(requests.lock().unwrap().len(), 3 + 3 * 3);
    assert_eq!(collected.stats.figures.split, Some(Vec::new()));
    assert_eq!(collected.stats.requests, 12, "all cost something");
}

#[tokio::test(start_paused = true)]
async fn parts_with_fewer_rows_replace_nothing() {
    let (client, _) = capped(10);
    let collected = scan(3).splitting(true).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!(found(&collected).len(), 3 * 40);
    let reason = &collected.stats.reasons[0];
    assert!(reason.contains(" 30 ") && reason.contains(" 40"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_cannot_be_split_is_kept_and_named() {
    let (client, _) = capped(40);
    let collected = scan(3).splitting(true).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!(found(&collected).len(), 3 * 3 * 40);
    let reasons = &collected.stats.reasons;
    assert!(reasons.iter().any(|reason| reason.contains("40 rows")), "{reasons:?}");
    assert!(reasons.last().is_some_and(|reason| reason.contains("6 more")), "{reasons:?}");
}

#[tokio::test(start_paused = true)]
async fn without_splitting_a_suspicion_is_a_warning() {
    let (client, requests) = capped(30);
    let collected = scan(3).collect(&client, ROW_BY_ROW).await.unwrap();
    assert_eq!((found(&collected).len(), requests.lock().unwrap().len()), (120, 3));
    assert_eq!(collected.stats.warnings[0].kind, DataWarningKind::Incomplete);
}
