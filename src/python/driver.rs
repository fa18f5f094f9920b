//! The runtime of small synchronous calls, driven by the thread that waits for one: the call switches to no other thread.
//!
//! The connections of these calls live in it. While no call drives it, a thread of ours does, so that idle connections
//! are seen to close and dropped ones do close. The same thread runs the calls that turn out to be long, and awaited
//! calls of one request.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};

use super::bridge::no_thread;
use super::process::PerProcess;
use crate::error::Result;
use crate::scan::panicked;

/// How long no call runs before the watcher drives.
const SILENCE: Duration = Duration::from_millis(50);

static DRIVER: PerProcess<Driver> = PerProcess::empty();

/// The runtime, and who drives it.
#[derive(Debug)]
pub(super) struct Driver {
    runtime: Runtime,
    has_watcher: AtomicBool,
    watcher: ArcSwapOption<Thread>,
    /// Threads that drive, or wait for another one that does.
    callers: AtomicUsize,
    /// How many have left.
    left: AtomicU64,
    /// Whether the watcher drives for want of a caller.
    is_idle: AtomicBool,
    /// Asks the watcher to leave.
    wanted: Notify,
    /// Calls that the watcher runs.
    long_calls: AtomicUsize,
}

/// Counts a thread as a caller until it is dropped.
struct Caller<'a>(&'a Driver);

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::SeqCst);
        self.0.left.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts a long call until it is dropped.
struct LongCall(Arc<Driver>);

impl Drop for LongCall {
    fn drop(&mut self) {
        if self.0.long_calls.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.wanted.notify_one();
        }
    }
}

impl Driver {
    /// The one of this process, with its watcher.
    pub(super) fn of_process() -> Result<Arc<Self>> {
        let driver = DRIVER.get_or_try_make(|| {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(no_thread)?;
            Ok(Self {
                runtime,
                has_watcher: AtomicBool::new(false),
                watcher: ArcSwapOption::empty(),
                callers: AtomicUsize::new(0),
                left: AtomicU64::new(0),
                is_idle: AtomicBool::new(false),
                wanted: Notify::new(),
                long_calls: AtomicUsize::new(0),
            })
        })?;
        if !driver.has_watcher.load(Ordering::Relaxed) && !driver.has_watcher.swap(true, Ordering::Relaxed) {
            let shared = Arc::clone(&driver);
            match thread::Builder::new().name("dataaccess-idle".to_owned()).spawn(move || shared.watch()) {
                Ok(watcher) => driver.watcher.store(Some(Arc::new(watcher.thread().clone()))),
                Err(cause) => {
                    driver.has_watcher.store(false, Ordering::Relaxed);
                    return Err(no_thread(cause));
                }
            }
        }
        Ok(driver)
    }

    /// Runs a future on this thread until it ends.
    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.callers.fetch_add(1, Ordering::SeqCst);
        let _caller = Caller(self);
        if self.is_idle.load(Ordering::SeqCst) {
            self.wanted.notify_one();
        }
        self.runtime.block_on(future)
    }

    /// Has the watcher run a future: a long call, or an awaited one.
    pub(super) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let is_first = self.long_calls.fetch_add(1, Ordering::SeqCst) == 0;
        let long_call = LongCall(Arc::clone(self));
        let task = self.runtime.spawn(async move {
            let _long_call = long_call;
            settle().await;
            future.await
        });
        if let Some(watcher) = self.watcher.load().as_ref().filter(|_| is_first) {
            watcher.unpark();
        }
        task
    }

    /// Drives the runtime while there are long calls, and whenever no call did for a while.
    fn watch(&self) {
        let mut left_before = None;
        loop {
            if self.long_calls.load(Ordering::SeqCst) > 0 {
                self.runtime.block_on(async {
                    while self.long_calls.load(Ordering::SeqCst) > 0 {
                        self.wanted.notified().await;
                    }
                    settle().await;
                });
            }
            thread::park_timeout(SILENCE);
            let left = self.left.load(Ordering::Relaxed);
            if left_before.replace(left) == Some(left) {
                self.is_idle.store(true, Ordering::SeqCst);
                // After the store: a caller that comes now sees it, or is seen here.
                if self.callers.load(Ordering::SeqCst) == 0 {
                    self.runtime.block_on(self.wanted.notified());
                }
                self.is_idle.store(false, Ordering::SeqCst);
            }
        }
    }
}

/// A call, to be run by [`Driver::run`]. A panic is an error.
pub(super) async fn small_call<T>(call: impl Future<Output = Result<T>>) -> Result<T> {
    let call = async {
        settle().await;
        let outcome = call.await;
        if outcome.is_err() {
            settle().await;
        }
        outcome
    };
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
}

/// Looks at the sockets, and lets the connections act on what is there: one that the service has closed is not used,
/// and that of a call that failed is closed.
async fn settle() {
    yield_now().await;
    yield_now().await;
}
