//! A lock that is an object: made if there is none, renewed while it is held, and taken over when it was not renewed.
//!
//! Each of these is a conditional put, so that of two processes one succeeds. A process that was killed cannot remove
//! its lock, which delays others until it runs out.

use std::env;
use std::fs;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Failure, Object, ProcessCount, Reason};

/// A held lock is renewed so often.
const RENEWAL: Duration = Duration::from_secs(30);
/// A lock that was not renewed for so long may be taken over.
const EXPIRY: Duration = Duration::from_secs(120);
/// How long the end of a run waits until its lock is removed.
const RELEASE: Duration = Duration::from_secs(5);
/// How often another process may be faster before this one gives up.
const ATTEMPTS: usize = 5;

/// How many locks this process holds or is removing.
static HELD: ProcessCount = ProcessCount::new();

/// Whether a lock of this process is held or still to be removed, as after Ctrl-C. A process that ends now leaves it.
#[must_use]
pub fn is_holding_locks() -> bool {
    HELD.get() > 0
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    id: String,
}

/// What the object holds.
#[derive(Serialize, Deserialize)]
struct Content {
    #[serde(flatten)]
    holder: Holder,
    /// The version of an object may be a digest of its content, so that each renewal needs another one.
    renewals: u64,
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum Refusal {
    /// Another process has it.
    Held {
        /// Who has it, if the lock can be read.
        holder: Option<Holder>,
        /// When it runs out, unless it is renewed.
        left: Duration,
    },
    /// The store does not have conditional puts, or ignores their conditions.
    NoConditions,
    /// A request failed.
    Failed(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        if failure.reason() == Reason::Unsupported { Self::NoConditions } else { Self::Failed(failure) }
    }
}

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    held: Arc<Held>,
    renewal: JoinHandle<()>,
    runtime: Handle,
    is_released: AtomicBool,
}

#[derive(Debug)]
struct Held {
    object: Object,
    holder: Holder,
    expiry: Duration,
    state: Mutex<State>,
    is_lost: AtomicBool,
}

#[derive(Debug)]
struct State {
    version: UpdateVersion,
    renewed: Instant,
    renewals: u64,
}

impl Lock {
    /// Takes the lock that an object is.
    ///
    /// # Errors
    /// Another process holds it, or a request fails.
    pub async fn take(object: Object) -> Result<Self, Refusal> {
        let options = &object.bucket.options;
        let (renewal, expiry) = (options.scaled(RENEWAL), options.scaled(EXPIRY));
        Self::take_for(object, renewal, expiry).await
    }

    async fn take_for(object: Object, renewal: Duration, expiry: Duration) -> Result<Self, Refusal> {
        let id = format!("{:016x}", getrandom::u64().unwrap_or_default());
        let holder = Holder { host: host(), pid: process::id(), id };
        let renewed = Instant::now();
        let version = acquire(&object, &holder, expiry).await?;
        let state = Mutex::new(State { version, renewed, renewals: 0 });
        HELD.add();
        let held = Arc::new(Held { object, holder, expiry, state, is_lost: AtomicBool::new(false) });
        let runtime = Handle::current();
        let renewal = runtime.spawn(Arc::clone(&held).renew(renewal));
        Ok(Self { held, renewal, runtime, is_released: AtomicBool::new(false) })
    }

    /// Whether another process took the lock over, because this one could not renew it in time.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.held.is_lost.load(Ordering::Relaxed)
    }

    /// Removes the lock, as far as the store can be reached. Otherwise it runs out.
    pub async fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            self.renewal.abort();
            _ = timeout(RELEASE, Arc::clone(&self.held).remove()).await;
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // In a forked child no thread runs the runtime, and the lock is its parent's.
        if self.held.holder.pid == process::id() && !self.is_released.load(Ordering::Relaxed) {
            self.renewal.abort();
            self.runtime.spawn(timeout(RELEASE, Arc::clone(&self.held).remove()));
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.holder.pid == process::id() {
            HELD.remove();
        }
    }
}

impl Held {
    async fn renew(self: Arc<Self>, every: Duration) {
        loop {
            sleep(every).await;
            let begun = Instant::now();
            let (version, renewals) = self.next();
            match put(&self.object, &self.holder, renewals, PutMode::Update(version)).await {
                Ok(version) => self.renewed(version, begun),
                // A renewal whose response was lost, or another process.
                Err(failure) if is_outdated(&failure) => match read(&self.object).await {
                    Ok((Some(holder), version, _)) if holder == self.holder => self.renewed(version, begun),
                    Err(failure) if failure.reason() != Reason::Missing => {}
                    _ => return self.is_lost.store(true, Ordering::Relaxed),
                },
                // The version shows later whether another process took it meanwhile.
                Err(_) => {}
            }
        }
    }

    async fn remove(self: Arc<Self>) {
        let is_ours = if self.is_lost.load(Ordering::Relaxed) {
            false
        } else if self.state().renewed.elapsed() < self.expiry / 2 {
            true
        } else {
            matches!(read(&self.object).await, Ok((Some(holder), _, _)) if holder == self.holder)
        };
        if is_ours {
            _ = self.object.bucket.store.delete(&self.object.path).await;
        }
    }

    /// The version to renew, and the number of the renewal.
    fn next(&self) -> (UpdateVersion, u64) {
        let mut state = self.state();
        state.renewals += 1;
        (state.version.clone(), state.renewals)
    }

    fn renewed(&self, version: UpdateVersion, renewed: Instant) {
        let mut state = self.state();
        (state.version, state.renewed) = (version, renewed);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the lock, or takes it over.
async fn acquire(object: &Object, holder: &Holder, expiry: Duration) -> Result<UpdateVersion, Refusal> {
    let mut seen = None;
    for _ in 0..ATTEMPTS {
        match put(object, holder, 0, PutMode::Create).await {
            Ok(version) => {
                // A store that ignores conditions accepts this, and would accept it of another process.
                return match put(object, holder, 0, PutMode::Create).await {
                    Err(failure) if failure.reason() == Reason::Exists => Ok(version),
                    Err(failure) => Err(failure.into()),
                    Ok(_) => {
                        _ = object.bucket.store.delete(&object.path).await;
                        Err(Refusal::NoConditions)
                    }
                };
            }
            Err(failure) if failure.reason() == Reason::Exists => {}
            Err(failure) => return Err(failure.into()),
        }
        let (other, version, renewed) = match read(object).await {
            Err(failure) if failure.reason() == Reason::Missing => continue,
            found => found?,
        };
        if other.as_ref() == Some(holder) {
            // The response to the put was lost.
            return Ok(version);
        }
        let age = store_time(object, holder).await?.duration_since(renewed).unwrap_or_default();
        if let Some(left) = expiry.checked_sub(age).filter(|left| !left.is_zero()) {
            return Err(Refusal::Held { holder: other, left });
        }
        match put(object, holder, 0, PutMode::Update(version)).await {
            Err(failure) if is_outdated(&failure) => seen = other,
            taken => return taken.map_err(Refusal::from),
        }
    }
    Err(Refusal::Held { holder: seen, left: expiry })
}

/// Whether the lock is not of the version that was to be replaced. Stores say so in different ways.
fn is_outdated(failure: &Failure) -> bool {
    matches!(failure.reason(), Reason::Changed | Reason::Exists | Reason::Missing)
}

async fn put(object: &Object, holder: &Holder, renewals: u64, mode: PutMode) -> Result<UpdateVersion, Failure> {
    let content = Content { holder: holder.clone(), renewals };
    let content = PutPayload::from(serde_json::to_vec(&content).unwrap_or_default());
    let put = object.bucket.store.put_opts(&object.path, content, mode.into()).await;
    put.map(UpdateVersion::from).map_err(|cause| object.failure(&cause))
}

/// Who holds the lock, its version, and when it was renewed on the clock of the store.
async fn read(object: &Object) -> Result<(Option<Holder>, UpdateVersion, SystemTime), Failure> {
    let read = async {
        let found = object.bucket.store.get_opts(&object.path, GetOptions::default()).await?;
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let renewed = SystemTime::from(found.meta.last_modified);
        Ok((found.bytes().await?, version, renewed))
    };
    let (body, version, renewed) = read.await.map_err(|cause| object.failure(&cause))?;
    let content: Option<Content> = serde_json::from_slice(&body).ok();
    Ok((content.map(|content| content.holder), version, renewed))
}

/// The time on the clock of the store, from which that of this machine may differ: the time of a new object beside the
/// lock.
async fn store_time(object: &Object, holder: &Holder) -> Result<SystemTime, Failure> {
    let (store, path) = (&object.bucket.store, Path::from(format!("{}.{}", object.path, holder.id)));
    let read = async {
        store.put(&path, PutPayload::new()).await?;
        let found = store.head(&path).await;
        _ = store.delete(&path).await;
        found
    };
    read.await.map(|found| found.last_modified.into()).map_err(|cause| object.failure(&cause))
}

/// The name of this machine.
fn host() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| env::var("HOSTNAME").ok()).or_else(|| env::var("COMPUTERNAME").ok());
    named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "a machine".to_owned())
}

#[cfg(test)]
mod tests;
