//! Memory that is used again: the buffers of a batch come back when the batch is dropped, so that the next batch needs
//! no new pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Buffers that are kept. One is filled while the consumer has a second, and a third waits between them.
const MAX_KEPT: usize = 3;

/// Buffers of dropped batches, for the next ones.
#[derive(Debug)]
pub struct BufferPool<T>(Arc<Mutex<Vec<T>>>);

/// The way back to a pool. It does not keep the pool.
#[derive(Debug)]
pub struct PoolHandle<T>(Weak<Mutex<Vec<T>>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> BufferPool<T> {
    /// A buffer of a dropped batch, with what it had.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        lock(&self.0).pop()
    }

    /// The way back for a buffer.
    #[must_use]
    pub fn handle(&self) -> PoolHandle<T> {
        PoolHandle(Arc::downgrade(&self.0))
    }
}

impl<T> PoolHandle<T> {
    /// Gives a buffer back, unless the pool is full or was dropped.
    pub fn give_back(&self, buffer: impl FnOnce() -> Option<T>) {
        let Some(pool) = self.0.upgrade() else { return };
        let Some(buffer) = buffer() else { return };
        let mut kept = lock(&pool);
        if kept.len() < MAX_KEPT {
            kept.push(buffer);
        }
    }
}

fn lock<T>(buffers: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_buffers_are_kept_and_none_without_the_pool() {
        let pool = BufferPool::default();
        let handle = pool.handle();
        (0..9).for_each(|number| handle.give_back(|| Some(number)));
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), MAX_KEPT);
        drop(pool);
        let mut is_asked = false;
        handle.give_back(|| {
            is_asked = true;
            None
        });
        assert!(!is_asked);
    }
}
