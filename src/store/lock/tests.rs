//! Locks in a store in memory: taken by one, renewed, released, taken over.

use object_store::memory::InMemory;

use super::*;
use crate::store::{Bucket, StorageOptions};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

fn object() -> Object {
    let (options, secrets) = (StorageOptions::default(), Vec::new());
    let bucket = Bucket { store: Arc::new(InMemory::new()), options, secrets, has_credentials: true };
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
    // As of a process that was killed.
    renewed.renewal.abort();
    sleep(12 * SHORT).await;
    let second = Lock::take_for(object.clone(), LONG, 10 * SHORT).await.unwrap();
    // The first one neither renews nor removes what is no longer its own.
    let first = Arc::clone(&renewed.held).renew(SHORT);
    timeout(LONG, first).await.unwrap();
    assert!(renewed.is_lost() && !second.is_lost());
    renewed.release().await;
    assert!(matches!(Lock::take_for(object, LONG, LONG).await, Err(Refusal::Held { .. })));
}
