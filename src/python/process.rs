//! State of one process, made again after a fork.

use std::convert::Infallible;
use std::mem;
use std::process;
use std::sync::Arc;

use arc_swap::ArcSwapOption;

/// A value with the id of the process that made it.
#[derive(Debug)]
struct Stamped<T> {
    process: u32,
    value: Arc<T>,
}

/// Holds one value per process.
///
/// A forked child must neither wait for a lock that a thread of its parent held, nor drop a value of its parent, which
/// would close shared sockets. So there is no lock, and an inherited value is leaked.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    slot: ArcSwapOption<Stamped<T>>,
}

impl<T> PerProcess<T> {
    /// Without a value.
    pub(super) const fn empty() -> Self {
        Self { slot: ArcSwapOption::const_empty() }
    }

    /// With a value of this process.
    pub(super) fn holding(value: T) -> Self {
        let this = Self::empty();
        this.slot.store(Some(Arc::new(Stamped { process: process::id(), value: Arc::new(value) })));
        this
    }

    /// The value of this process, if it has one.
    pub(super) fn get(&self) -> Option<Arc<T>> {
        let current = self.slot.load_full()?;
        if current.process == process::id() {
            return Some(Arc::clone(&current.value));
        }
        mem::forget(current);
        None
    }

    /// The value of this process, made now if it has none.
    pub(super) fn get_or_make(&self, produce: impl FnOnce() -> T) -> Arc<T> {
        let made: Result<_, Infallible> = self.get_or_try_make(|| Ok(produce()));
        let Ok(value) = made;
        value
    }

    /// As [`PerProcess::get_or_make`], for a value whose making may fail.
    pub(super) fn get_or_try_make<E>(&self, produce: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let current = self.slot.load_full();
        if let Some(stamped) = current.as_ref().filter(|stamped| stamped.process == process::id()) {
            return Ok(Arc::clone(&stamped.value));
        }
        let made = Arc::new(Stamped { process: process::id(), value: Arc::new(produce()?) });
        let previous = self.slot.compare_and_swap(&current, Some(Arc::clone(&made)));
        mem::forget(current);
        match previous.as_ref().filter(|stamped| stamped.process == process::id()) {
            // Another thread was quicker.
            Some(stamped) => Ok(Arc::clone(&stamped.value)),
            None => Ok(Arc::clone(&made.value)),
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if let Some(inherited) = self.slot.swap(None).filter(|stamped| stamped.process != process::id()) {
            mem::forget(inherited);
        }
    }
}
