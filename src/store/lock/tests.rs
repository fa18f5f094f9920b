//! Locks in a store in memory: taken by one, renewed, released, taken over.

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::store::{Bucket, StorageOptions};

mod faults;
mod faulty_store;

use faulty_store::{Fault, FaultyStore};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

fn object() -> Object {
    object_of(Arc::new(InMemory::new()))
}

fn object_of(store: Arc<dyn ObjectStore>) -> Object {
    let (options, secrets) = (StorageOptions::default(), Vec::new());
    let bucket = Bucket { store, options, secrets, has_credentials: true, is_local: false };
    Object { bucket: Arc::new(bucket), url: "s3://bucket/lock".to_owned(), path: Path::from("lock") }
}

#[tokio::test]
async fn one_of_many_takes_it_and_the_next_when_it_is_released() {
    let object = object();
    let takes = (0..8).map(|_| tokio::spawn(Lock::take_for(object.clone(), LONG, LONG)));
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
    let lock = Lock::take_for(object.clone(), LONG, LONG).await.unwrap();
    drop(lock);
    tokio::task::yield_now().await;
    Lock::take_for(object, LONG, LONG).await.unwrap();
}

#[tokio::test]
async fn a_lock_is_held_while_it_is_renewed_and_taken_over_after() {
    let object = object();
    let renewed = Lock::take_for(object.clone(), SHORT, 10 * SHORT).await.unwrap();
    sleep(20 * SHORT).await;
    assert!(matches!(Lock::take_for(object.clone(), LONG, 10 * SHORT).await, Err(Refusal::Held { .. })));
    // As of a process that was frozen: a lock that nobody took is still its own.
    renewed.renewal.as_ref().unwrap().abort();
    sleep(12 * SHORT).await;
    assert!(renewed.is_held().await.unwrap());
    let second = Lock::take_for(object.clone(), LONG, 10 * SHORT).await.unwrap();
    // The first one neither renews nor removes what is no longer its own.
    assert!(!renewed.is_held().await.unwrap());
    assert!(second.is_held().await.unwrap());
    renewed.release().await;
    assert!(matches!(Lock::take_for(object, LONG, LONG).await, Err(Refusal::Held { .. })));
}

#[tokio::test]
async fn a_lock_that_no_run_has_made_is_not_read_and_runs_out() {
    let object = object();
    let holder = json!({ "host": "a", "pid": 1, "id": "b", "more": "x".repeat(1 << 20) }).to_string();
    object.bucket.store.put(&object.path, holder.into()).await.unwrap();
    let taken = Lock::take_for(object.clone(), LONG, 10 * SHORT).await;
    assert!(matches!(taken, Err(Refusal::Held { holder: None, .. })), "{taken:?}");
    sleep(12 * SHORT).await;
    Lock::take_for(object, LONG, 10 * SHORT).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_is_gone_is_not_held_and_is_removed_once() {
    let object = object();
    let lock = Lock::take_for(object.clone(), LONG, LONG).await.unwrap();
    object.bucket.store.delete(&object.path).await.unwrap();
    assert!(!lock.is_held().await.unwrap());
    lock.release().await;
    assert!(lock.removal().is_none());
    assert!(lock.renewal.as_ref().unwrap().is_finished());
}

#[tokio::test]
async fn a_lock_of_the_most_bytes_is_read() {
    let own = Own::new(object(), LONG, LONG).expect("an id");
    let most = usize::try_from(MOST_BYTES).unwrap();
    for (bytes, is_read) in [(most, true), (most + 1, false)] {
        let text = |more: usize| json!({ "host": "a", "pid": 1, "id": "b", "more": "x".repeat(more) }).to_string();
        let content = text(bytes - text(0).len());
        assert_eq!(content.len(), bytes);
        own.object.bucket.store.put(&own.object.path, content.into()).await.unwrap();
        assert_eq!(own.read().await.unwrap().0.is_some(), is_read);
    }
}
