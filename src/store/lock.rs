//! A lock that is an object: made if there is none, renewed while it is held, and taken over when it was not renewed.
//!
//! Each of these is a conditional put, so that of two processes one succeeds. A process that was killed cannot remove
//! its lock, which delays others until it runs out. A process that was frozen, with its machine or alone, finds by
//! its own clocks that its lock ran out, and takes it again before it goes on, unless another process has it.

use std::env;
use std::fs;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Failure, Object, ProcessCount, Reason};

/// A held lock is renewed so often.
const RENEWAL: Duration = Duration::from_secs(30);
/// A lock that was not renewed for so long may be taken over.
const EXPIRY: Duration = Duration::from_secs(120);
/// The limit of a renewal, after which the next one is sent.
const RENEWAL_LIMIT: Duration = Duration::from_secs(20);
/// How long the end of a run waits until its lock is removed. If the store is away, its removal goes on.
const RELEASE: Duration = Duration::from_secs(5);
/// The pause before a lock is removed again.
const PAUSE: Duration = Duration::from_secs(1);
/// Most bytes of a lock that are read: of a larger object, which no run has made, nobody knows the holder.
const MOST_BYTES: u64 = 4 << 10;
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Holder {
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    id: String,
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

/// How long things take.
#[derive(Clone, Copy, Debug)]
struct Times {
    renewal: Duration,
    renewal_limit: Duration,
    expiry: Duration,
    pause: Duration,
}

/// A moment on both clocks of this machine: the monotonic one stands still while the machine sleeps, the other one can be
/// set.
#[derive(Clone, Copy, Debug)]
struct Moment {
    monotonic: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self { monotonic: Instant::now(), wall: SystemTime::now() }
    }

    /// The longer of the times that the clocks say.
    fn since(self, earlier: Self) -> Duration {
        let wall = self.wall.duration_since(earlier.wall).unwrap_or_default();
        self.monotonic.saturating_duration_since(earlier.monotonic).max(wall)
    }
}

/// Whether a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// It is.
    Held,
    /// Another process has taken it over.
    TakenOver,
    /// It could not be renewed for so long that another process may have taken it over.
    RanOut,
}

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    held: Arc<Held>,
    renewal: Option<JoinHandle<()>>,
    runtime: Handle,
    is_released: AtomicBool,
}

#[derive(Debug)]
struct Held {
    object: Object,
    holder: Holder,
    times: Times,
    state: Mutex<State>,
    is_lost: AtomicBool,
    /// Whether there may be an object of this lock.
    may_exist: AtomicBool,
    /// Whether the object was seen to be of this lock.
    is_taken: AtomicBool,
}

#[derive(Debug)]
struct State {
    version: UpdateVersion,
    renewed: Moment,
    renewals: u64,
}

impl Lock {
    /// Takes the lock that an object is.
    ///
    /// # Errors
    /// Another process holds it, or a request fails.
    pub async fn take(object: Object) -> Result<Self, Refusal> {
        let options = &object.bucket.options;
        let [renewal, renewal_limit, expiry, pause] =
            [RENEWAL, RENEWAL_LIMIT, EXPIRY, PAUSE].map(|time| options.scaled(time));
        Self::take_for(object, Times { renewal, renewal_limit, expiry, pause }).await
    }

    async fn take_for(object: Object, times: Times) -> Result<Self, Refusal> {
        let held = Arc::new(Held::new(object, times)?);
        // Before the first request: what it makes is removed, however this ends.
        let mut lock = Self { held, renewal: None, runtime: Handle::current(), is_released: AtomicBool::new(false) };
        match acquire(&lock.held).await {
            Ok((version, renewed)) => {
                lock.held.renewed(version, renewed);
                lock.held.is_taken.store(true, Ordering::Relaxed);
            }
            Err(refusal) => {
                lock.release().await;
                return Err(refusal);
            }
        }
        lock.renewal = Some(lock.runtime.spawn(Arc::clone(&lock.held).renew()));
        Ok(lock)
    }

    /// Whether the lock is still held. One that ran out is renewed, unless another process has it.
    pub async fn check(&self) -> Holding {
        if !self.held.is_lost() && self.held.has_run_out() {
            self.held.renew_once().await;
        }
        match (self.held.is_lost(), self.held.has_run_out()) {
            (true, _) => Holding::TakenOver,
            (false, true) => Holding::RanOut,
            (false, false) => Holding::Held,
        }
    }

    /// Removes the lock, as far as the store can be reached. Otherwise that is tried until it runs out.
    pub async fn release(&self) {
        if let Some(removal) = self.removal() {
            _ = timeout(RELEASE, removal).await;
        }
    }

    /// Removes the lock once.
    fn removal(&self) -> Option<JoinHandle<()>> {
        // In a forked child no thread runs the runtime, and the lock is its parent's.
        if self.held.holder.pid != process::id() || self.is_released.swap(true, Ordering::Relaxed) {
            return None;
        }
        if let Some(renewal) = &self.renewal {
            renewal.abort();
        }
        let may_exist = self.held.may_exist.load(Ordering::Relaxed);
        may_exist.then(|| self.runtime.spawn(Arc::clone(&self.held).remove()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        _ = self.removal();
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
    fn new(object: Object, times: Times) -> Result<Self, Failure> {
        let id = getrandom::u64().map_err(|cause| Failure::of_system(&cause))?;
        let id = format!("{id:016x}");
        HELD.add();
        let no_version = UpdateVersion { e_tag: None, version: None };
        Ok(Self {
            object,
            holder: Holder { host: host(), pid: process::id(), id },
            times,
            state: Mutex::new(State { version: no_version, renewed: Moment::now(), renewals: 0 }),
            is_lost: AtomicBool::new(false),
            may_exist: AtomicBool::new(false),
            is_taken: AtomicBool::new(false),
        })
    }

    async fn renew(self: Arc<Self>) {
        while !self.is_lost() {
            sleep(self.times.renewal).await;
            self.renew_once().await;
        }
    }

    async fn renew_once(&self) {
        let begun = Moment::now();
        let (version, renewals) = self.next();
        let renewal = async {
            match put(&self.object, &self.holder, renewals, PutMode::Update(version)).await {
                Ok(version) => self.renewed(version, begun),
                // A renewal whose response was lost, or another process.
                Err(failure) if failure.is_conflict() => match read(&self.object).await {
                    Ok((Some(holder), version, _)) if holder == self.holder => self.renewed(version, begun),
                    Err(failure) if failure.reason() != Reason::Missing => {}
                    _ => self.is_lost.store(true, Ordering::Relaxed),
                },
                // The version shows later whether another process took it meanwhile.
                Err(_) => {}
            }
        };
        _ = timeout(self.times.renewal_limit, renewal).await;
    }

    /// Removes the object if it is of this lock, as soon as the store can be reached, until it runs out. A request to make
    /// it that was cancelled may still arrive, so that a missing object is looked for once more.
    async fn remove(self: Arc<Self>) {
        let mut may_arrive = !self.is_taken.load(Ordering::Relaxed);
        while !self.is_lost() && !self.has_run_out() {
            let removed = async {
                match read(&self.object).await?.0 {
                    Some(holder) if holder == self.holder => self.object.delete().await,
                    _ => Ok(()),
                }
            };
            match removed.await {
                Err(failure) if failure.is_transient() => {}
                Err(failure) if failure.reason() == Reason::Missing && may_arrive => may_arrive = false,
                _ => return,
            }
            sleep(self.times.pause).await;
        }
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Whether another process may have taken it over.
    fn has_run_out(&self) -> bool {
        Moment::now().since(self.state().renewed) >= self.times.expiry
    }

    /// The version to renew, and the number of the renewal.
    fn next(&self) -> (UpdateVersion, u64) {
        let mut state = self.state();
        state.renewals += 1;
        (state.version.clone(), state.renewals)
    }

    fn renewed(&self, version: UpdateVersion, renewed: Moment) {
        let mut state = self.state();
        (state.version, state.renewed) = (version, renewed);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the lock, or takes it over. Returns its version, and since when it is held.
async fn acquire(held: &Held) -> Result<(UpdateVersion, Moment), Refusal> {
    let Held { object, holder, times: Times { expiry, .. }, .. } = held;
    let mut seen = None;
    for _ in 0..ATTEMPTS {
        held.may_exist.store(true, Ordering::Relaxed);
        let begun = Moment::now();
        match put(object, holder, 0, PutMode::Create).await {
            Ok(version) => {
                // A store that ignores conditions accepts this, and would accept it of another process.
                return match put(object, holder, 0, PutMode::Create).await {
                    Err(failure) if failure.reason() == Reason::Exists => Ok((version, begun)),
                    Err(failure) => Err(failure.into()),
                    Ok(_) => Err(Refusal::NoConditions),
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
            return Ok((version, begun));
        }
        held.may_exist.store(false, Ordering::Relaxed);
        let age = store_time(object, holder).await?.duration_since(renewed).unwrap_or_default();
        if let Some(left) = expiry.checked_sub(age).filter(|left| !left.is_zero()) {
            return Err(Refusal::Held { holder: other, left });
        }
        held.may_exist.store(true, Ordering::Relaxed);
        let begun = Moment::now();
        match put(object, holder, 0, PutMode::Update(version)).await {
            Err(failure) if failure.is_conflict() => seen = other,
            taken => return Ok((taken?, begun)),
        }
    }
    Err(Refusal::Held { holder: seen, left: *expiry })
}

async fn put(object: &Object, holder: &Holder, renewals: u64, mode: PutMode) -> Result<UpdateVersion, Failure> {
    let Holder { host, pid, id } = holder;
    // The version of an object may be a digest of its content, so that each renewal needs another one.
    let content = json!({ "host": host, "pid": pid, "id": id, "renewals": renewals });
    let content = PutPayload::from(content.to_string());
    let put = object.bucket.store.put_opts(&object.path, content, mode.into()).await;
    put.map(UpdateVersion::from).map_err(|cause| object.failure(&cause))
}

/// Who holds the lock, its version, and when it was renewed on the clock of the store.
async fn read(object: &Object) -> Result<(Option<Holder>, UpdateVersion, SystemTime), Failure> {
    let read = async {
        let found = object.bucket.store.get_opts(&object.path, GetOptions::default()).await?;
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let renewed = SystemTime::from(found.meta.last_modified);
        let body = if found.meta.size > MOST_BYTES { Bytes::new() } else { found.bytes().await? };
        Ok((body, version, renewed))
    };
    let (body, version, renewed) = read.await.map_err(|cause| object.failure(&cause))?;
    Ok((serde_json::from_slice(&body).ok(), version, renewed))
}

/// The time on the clock of the store, as the time of a new object beside the lock. The clock of this machine may differ.
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
