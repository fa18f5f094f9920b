//! A lock that is an object. It is advisory: it tells a second run at once that another one is at work.
//!
//! That a run replaces nothing of another one follows from the conditions of its uploads. The lock is made if there is
//! none, renewed while it is held, and may be taken over two minutes after the last renewal, as of a process that was
//! killed. It is compared before each upload, so that a run that was frozen meanwhile ends.

use std::env;
use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::{GetOptions, PutMode, PutPayload, UpdateVersion};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Failure, Object, Reason};
use crate::time::scaled;

/// A held lock is renewed so often.
const RENEWAL: Duration = Duration::from_secs(30);
/// A lock that was not renewed for so long may be taken over.
const EXPIRY: Duration = Duration::from_secs(120);
/// How long the end of a run waits until its lock is removed.
const RELEASE: Duration = Duration::from_secs(5);
/// Most bytes of a lock that are read: of a larger object, which no run has made, nobody knows the holder.
const MOST_BYTES: u64 = 4 << 10;
/// How often another process may be faster before this one gives up.
const ATTEMPTS: usize = 5;

static HELD: AtomicUsize = AtomicUsize::new(0);

/// How many locks are held or still to be removed, as after Ctrl-C. A process that ends now leaves them.
pub fn locks() -> usize {
    HELD.load(Ordering::Acquire)
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

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    own: Arc<Own>,
    renewal: Option<JoinHandle<()>>,
    runtime: Handle,
    is_released: AtomicBool,
}

/// The lock of one process.
#[derive(Debug)]
struct Own {
    object: Object,
    holder: Holder,
    renewal: Duration,
    expiry: Duration,
}

impl Lock {
    /// Takes the lock that an object is.
    ///
    /// # Errors
    /// Another process holds it, or a request fails.
    pub async fn take(object: Object) -> Result<Self, Refusal> {
        let [renewal, expiry] = [RENEWAL, EXPIRY].map(scaled);
        Self::take_for(object, renewal, expiry).await
    }

    async fn take_for(object: Object, renewal: Duration, expiry: Duration) -> Result<Self, Refusal> {
        let own = Arc::new(Own::new(object, renewal, expiry)?);
        // Before the first request: what it makes is removed, however this ends.
        let mut lock = Self { own, renewal: None, runtime: Handle::current(), is_released: AtomicBool::new(false) };
        match lock.own.acquire().await {
            Ok(version) => lock.renewal = Some(lock.runtime.spawn(Arc::clone(&lock.own).renew(version))),
            Err(refusal) => {
                lock.release().await;
                return Err(refusal);
            }
        }
        Ok(lock)
    }

    /// Whether the lock is still that of this process.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub async fn is_held(&self) -> Result<bool, Failure> {
        match self.own.object.tried(|| self.own.read()).await {
            Ok((holder, ..)) => Ok(holder.as_ref() == Some(&self.own.holder)),
            Err(failure) if failure.reason() == Reason::Missing => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Removes the lock. If the store is away, that goes on for a while.
    pub async fn release(&self) {
        if let Some(removal) = self.removal() {
            _ = timeout(RELEASE, removal).await;
        }
    }

    /// Removes the lock once.
    fn removal(&self) -> Option<JoinHandle<()>> {
        // In a forked child no thread runs the runtime, and the lock is its parent's.
        if self.own.holder.pid != process::id() || self.is_released.swap(true, Ordering::Relaxed) {
            return None;
        }
        if let Some(renewal) = &self.renewal {
            renewal.abort();
        }
        Some(self.runtime.spawn(Arc::clone(&self.own).remove()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        _ = self.removal();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if self.holder.pid == process::id() {
            HELD.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Own {
    fn new(object: Object, renewal: Duration, expiry: Duration) -> Result<Self, Failure> {
        let id = getrandom::u64().map_err(|cause| Failure::of_system(&cause))?;
        let holder = Holder { host: host(), pid: process::id(), id: format!("{id:016x}") };
        HELD.fetch_add(1, Ordering::Release);
        Ok(Self { object, holder, renewal, expiry })
    }

    /// Makes the lock, or takes it over. Returns its version.
    async fn acquire(&self) -> Result<UpdateVersion, Refusal> {
        let mut seen = None;
        for _ in 0..ATTEMPTS {
            match self.put(0, PutMode::Create).await {
                Ok(version) => {
                    // A store that ignores conditions accepts this, and would accept it of another process.
                    return match self.put(0, PutMode::Create).await {
                        Err(failure) if failure.reason() == Reason::Conflict => Ok(version),
                        Err(failure) => Err(failure.into()),
                        Ok(_) => Err(Refusal::NoConditions),
                    };
                }
                Err(failure) if failure.reason() == Reason::Conflict => {}
                Err(failure) => return Err(failure.into()),
            }
            let (other, version, renewed) = match self.read().await {
                Err(failure) if failure.reason() == Reason::Missing => continue,
                found => found?,
            };
            if other.as_ref() == Some(&self.holder) {
                // The response to the put was lost.
                return Ok(version);
            }
            let age = SystemTime::now().duration_since(renewed).unwrap_or_default();
            if let Some(left) = self.expiry.checked_sub(age).filter(|left| !left.is_zero()) {
                return Err(Refusal::Held { holder: other, left });
            }
            match self.put(0, PutMode::Update(version)).await {
                Err(failure) if failure.is_conflict() => seen = other,
                taken => return Ok(taken?),
            }
        }
        Err(Refusal::Held { holder: seen, left: self.expiry })
    }

    /// Renews a version until the lock is of another process. A renewal that fails is tried again at the next time.
    async fn renew(self: Arc<Self>, mut version: UpdateVersion) {
        for number in 1.. {
            sleep(self.renewal).await;
            match timeout(self.renewal, self.put(number, PutMode::Update(version.clone()))).await {
                Ok(Ok(renewed)) => version = renewed,
                // A renewal whose response was lost, or another process.
                Ok(Err(failure)) if failure.is_conflict() => match self.read().await {
                    Ok((Some(holder), renewed, _)) if holder == self.holder => version = renewed,
                    Err(failure) if failure.reason() != Reason::Missing => {}
                    _ => return,
                },
                _ => {}
            }
        }
    }

    /// Removes the object if it is of this lock.
    async fn remove(self: Arc<Self>) {
        let remove = || async {
            match self.read().await?.0 {
                Some(holder) if holder == self.holder => self.object.delete().await,
                _ => Ok(()),
            }
        };
        _ = self.object.tried(remove).await;
    }

    async fn put(&self, renewals: u64, mode: PutMode) -> Result<UpdateVersion, Failure> {
        let Holder { host, pid, id } = &self.holder;
        // The version of an object may be a digest of its content, so that each renewal needs another one.
        let content = json!({ "host": host, "pid": pid, "id": id, "renewals": renewals });
        let content = PutPayload::from(content.to_string());
        let put = self.object.bucket.store.put_opts(&self.object.path, content, mode.into());
        self.object.sent(put).await.map(UpdateVersion::from)
    }

    /// Who holds the lock, its version, and when it was renewed on the clock of the store.
    async fn read(&self) -> Result<(Option<Holder>, UpdateVersion, SystemTime), Failure> {
        let read = async {
            let found = self.object.bucket.store.get_opts(&self.object.path, GetOptions::default()).await?;
            let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
            let renewed = SystemTime::from(found.meta.last_modified);
            let body = if found.meta.size > MOST_BYTES { Bytes::new() } else { found.bytes().await? };
            Ok((serde_json::from_slice(&body).ok(), version, renewed))
        };
        self.object.sent(read).await
    }
}

/// The name of this machine.
fn host() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| env::var("HOSTNAME").ok()).or_else(|| env::var("COMPUTERNAME").ok());
    named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "a machine".to_owned())
}

#[cfg(test)]
mod tests;
