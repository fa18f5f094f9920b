//! Locks in a store in memory: taken by one, renewed, released, taken over.

use object_store::memory::InMemory;

use super::*;
use crate::store::{Bucket, StorageOptions};

mod faults;
mod faulty_store;

use faulty_store::{Fault, FaultyStore};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

fn times(renewal: Duration, expiry: Duration) -> Times {
    Times { renewal, renewal_limit: renewal, expiry, pause: SHORT }
}

fn object() -> Object {
    object_of(Arc::new(InMemory::new()))
}

fn object_of(store: Arc<dyn ObjectStore>) -> Object {
    let bucket = Bucket { store, options: StorageOptions::default(), secrets: Vec::new(), has_credentials: true };
    Object { bucket: Arc::new(bucket), url: "s3://bucket/lock".to_owned(), path: Path::from("lock") }
}

#[tokio::test]
async fn one_of_many_takes_it_and_the_next_when_it_is_released() {
    let object = object();
    let takes = (0..8).map(|_| tokio::spawn(Lock::take_for(object.clone(), times(LONG, LONG))));
    let mut locks = Vec::new();
    for take in takes.collect::<Vec<_>>() {
        match take.await.unwrap() {
            Ok(lock) => locks.push(lock),
            Err(Refusal::Held { holder, left }) => {
                assert_eq!(holder.map(|holder| holder.pid), Some(process::id()));
                assert!(left <= LONG);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(locks.len(), 1);
    locks.pop().unwrap().release().await;
    let lock = Lock::take_for(object.clone(), times(LONG, LONG)).await.unwrap();
    drop(lock);
    tokio::task::yield_now().await;
    Lock::take_for(object, times(LONG, LONG)).await.unwrap();
}

#[tokio::test]
async fn a_lock_is_held_while_it_is_renewed_and_taken_over_after() {
    let object = object();
    let renewed = Lock::take_for(object.clone(), times(SHORT, 10 * SHORT)).await.unwrap();
    sleep(20 * SHORT).await;
    assert!(matches!(Lock::take_for(object.clone(), times(LONG, 10 * SHORT)).await, Err(Refusal::Held { .. })));
    // As of a process that was killed.
    renewed.renewal.as_ref().unwrap().abort();
    sleep(12 * SHORT).await;
    let second = Lock::take_for(object.clone(), times(LONG, 10 * SHORT)).await.unwrap();
    // The first one neither renews nor removes what is no longer its own.
    assert_eq!(renewed.check().await, Holding::TakenOver);
    assert_eq!(second.check().await, Holding::Held);
    renewed.release().await;
    assert!(matches!(Lock::take_for(object, times(LONG, LONG)).await, Err(Refusal::Held { .. })));
}

#[tokio::test]
async fn a_frozen_process_renews_a_lock_that_nobody_took() {
    let object = object();
    let lock = Lock::take_for(object.clone(), times(LONG, 2 * LONG)).await.unwrap();
    let day = Duration::from_secs(86_400);
    // The clocks as after a night: the monotonic one stood still.
    lock.held.state().renewed.wall -= day;
    assert!(lock.held.has_run_out());
    assert_eq!(lock.check().await, Holding::Held);
    assert!(!lock.held.has_run_out());
    // Nor is it removed by who cannot know whose it is.
    lock.held.state().renewed.wall -= day;
    object.bucket.store.delete(&object.path).await.unwrap();
    assert_eq!(lock.check().await, Holding::TakenOver);
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_made_after_it_was_given_up_is_removed() {
    let object = object();
    let held = Arc::new(Held::new(object.clone(), times(LONG, LONG)).expect("an id"));
    // As after Ctrl-C: the request to make it was sent, and its response is not waited for.
    let removal = tokio::spawn(Arc::clone(&held).remove());
    sleep(SHORT / 2).await;
    put(&object, &held.holder, 0, PutMode::Create).await.unwrap();
    removal.await.unwrap();
    assert_eq!(object.head().await.unwrap_err().reason(), Reason::Missing);
}

#[test]
fn both_clocks_count() {
    let [second, minute] = [1, 60].map(Duration::from_secs);
    let then = Moment::now();
    let now = Moment { monotonic: then.monotonic + second, wall: then.wall + minute };
    assert_eq!(now.since(then), minute);
    let set_back = Moment { monotonic: then.monotonic + minute, wall: then.wall - minute };
    assert_eq!(set_back.since(then), minute);
    assert_eq!(then.since(now), Duration::ZERO);
}

#[tokio::test]
async fn a_lock_that_no_run_has_made_is_not_read_and_runs_out() {
    let object = object();
    let holder = json!({ "host": "a", "pid": 1, "id": "b", "more": "x".repeat(1 << 20) }).to_string();
    object.bucket.store.put(&object.path, holder.into()).await.unwrap();
    let taken = Lock::take_for(object.clone(), times(LONG, 10 * SHORT)).await;
    assert!(matches!(taken, Err(Refusal::Held { holder: None, .. })), "{taken:?}");
    sleep(12 * SHORT).await;
    Lock::take_for(object, times(LONG, 10 * SHORT)).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_has_not_run_out_is_not_asked_for_and_is_removed_once() {
    let object = object();
    let lock = Lock::take_for(object.clone(), times(LONG, LONG)).await.unwrap();
    object.bucket.store.delete(&object.path).await.unwrap();
    assert_eq!(lock.check().await, Holding::Held);
    lock.release().await;
    assert!(lock.removal().is_none());
}

#[tokio::test]
async fn a_lock_of_the_most_bytes_is_read() {
    let object = object();
    let most = usize::try_from(MOST_BYTES).unwrap();
    for (bytes, is_read) in [(most, true), (most + 1, false)] {
        let text = |more: usize| json!({ "host": "a", "pid": 1, "id": "b", "more": "x".repeat(more) }).to_string();
        let content = text(bytes - text(0).len());
        assert_eq!(content.len(), bytes);
        object.bucket.store.put(&object.path, content.into()).await.unwrap();
        assert_eq!(read(&object).await.unwrap().0.is_some(), is_read);
    }
}
