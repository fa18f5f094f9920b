//! Locks in a store whose requests fail, or whose responses are lost.

use super::Fault::{Busy, Conflict, LostResponse, NoCondition, Unsupported};
use super::*;

/// A lock of a store that serves the first requests for it like this.
async fn taken(faults: impl IntoIterator<Item = Fault>) -> (Arc<FaultyStore>, Object, Result<Lock, Refusal>) {
    let store = Arc::new(FaultyStore::default());
    let object = object_of(Arc::clone(&store) as Arc<dyn ObjectStore>);
    store.script(faults);
    let lock = Lock::take_for(object.clone(), LONG, LONG).await;
    (store, object, lock)
}

async fn is_missing(object: &Object) -> bool {
    matches!(object.head().await, Err(failure) if failure.reason() == Reason::Missing)
}

#[tokio::test(start_paused = true)]
async fn a_lock_whose_response_was_lost_is_held() {
    let (_, object, lock) = taken([LostResponse]).await;
    let lock = lock.expect("a lock");
    assert!(lock.is_held().await.unwrap());
    lock.release().await;
    assert!(is_missing(&object).await);
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_was_removed_meanwhile_is_taken() {
    // Refused by a lock that is gone when it is read.
    assert!(taken([Conflict]).await.2.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_store_without_conditions_is_refused_and_left_clean() {
    // It ignores them, or says so at the first or at the second request.
    for faults in [[Fault::None, NoCondition], [Unsupported, Fault::None], [Fault::None, Unsupported]] {
        let (_, object, lock) = taken(faults).await;
        assert!(matches!(lock, Err(Refusal::NoConditions)), "{faults:?}");
        assert!(is_missing(&object).await, "{faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_reported_and_left_clean() {
    for faults in [[Busy, Fault::None], [Fault::None, Busy]] {
        let (_, object, lock) = taken(faults).await;
        assert!(matches!(lock, Err(Refusal::Failed(failure)) if failure.is_transient()), "{faults:?}");
        assert!(is_missing(&object).await, "{faults:?}");
    }
    assert!(matches!(taken([Conflict, Busy]).await.2, Err(Refusal::Failed(_))), "when the other lock is read");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_ran_out_is_taken_unless_others_are_faster() {
    for (faster, is_taken) in [(0, true), (1, true), (ATTEMPTS, false)] {
        let (store, object, lock) = taken([]).await;
        // As of a process that was killed.
        lock.as_ref().expect("a lock").renewal.as_ref().expect("a task").abort();
        // Each attempt: a put, a read, and a put that is refused.
        for _ in 0..faster {
            store.script([Fault::None, Fault::None, Conflict]);
        }
        match Lock::take_for(object, LONG, Duration::ZERO).await {
            Ok(_) => assert!(is_taken, "{faster}"),
            Err(Refusal::Held { holder, left }) => {
                assert_eq!((is_taken, left), (false, Duration::ZERO));
                assert_eq!(holder.as_ref(), Some(&lock.expect("a lock").own.holder));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_ran_out_is_not_taken_if_the_store_fails() {
    let (store, object, lock) = taken([]).await;
    store.script([Fault::None, Fault::None, Busy]);
    assert!(matches!(Lock::take_for(object, LONG, Duration::ZERO).await, Err(Refusal::Failed(_))));
    assert!(lock.expect("a lock").is_held().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_lock_of_another_process_is_not_removed() {
    let (_, object, lock) = taken([]).await;
    let other = Own::new(object, LONG, LONG).expect("an id");
    let (_, version, _) = other.read().await.expect("a lock");
    other.put(0, PutMode::Update(version)).await.expect("taken over");
    lock.expect("a lock").release().await;
    assert_eq!(other.read().await.expect("the other lock").0, Some(other.holder.clone()));
}

/// The version may be a digest of the content.
#[tokio::test(start_paused = true)]
async fn each_renewal_has_another_content() {
    let (_, object, lock) = taken([]).await;
    let lock = lock.expect("a lock");
    let mut contents = Vec::new();
    for _ in 0..3 {
        sleep(LONG + SHORT).await;
        contents.push(object.read(4096).await.expect("the lock"));
    }
    contents.dedup();
    assert_eq!(contents.len(), 3);
    assert!(lock.is_held().await.unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_holder_is_named_by_its_machine() {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(host(), name.trim());
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_fails_is_tried_again() {
    for faults in [vec![LostResponse], vec![Busy], vec![Conflict, Busy]] {
        let (store, object, lock) = taken([]).await;
        let lock = lock.expect("a lock");
        store.script(faults.clone());
        let content = || async { object.read(4096).await.expect("the lock") };
        sleep(LONG + SHORT).await;
        let first = content().await;
        // The next renewal is of the version that is there.
        sleep(LONG).await;
        assert_ne!(content().await, first, "{faults:?}");
        assert!(lock.is_held().await.unwrap(), "{faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_a_store_that_is_away_is_not_known_to_be_lost() {
    let (store, _, lock) = taken([]).await;
    store.script([Busy, Busy]);
    assert!(lock.expect("a lock").is_held().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_removed_once_its_store_is_back() {
    let (store, object, lock) = taken([]).await;
    let lock = lock.expect("a lock");
    store.script([Busy, Busy, Fault::None, Busy]);
    lock.release().await;
    assert!(is_missing(&object).await);
}

#[tokio::test]
async fn a_process_holds_locks_until_they_are_removed() {
    let (_, _, lock) = taken([]).await;
    assert!(locks() > 0);
    lock.expect("a lock").release().await;
}
