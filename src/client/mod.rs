//! The operations, each an `async fn`: search, download, post. They block nothing and spawn nothing.

mod auth;
mod budget;
mod call;
mod classify;
mod deadline;
mod delivery;
mod rng;
mod shared_limits;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use auth::{Grant, TakeGrant, TokenSource, TokenWait};
pub use budget::{BufferBudget, Kept};
pub use deadline::TimeoutScope;
pub use delivery::{Delivered, Delivery, DeliveryMode, OfAttempt};

pub use crate::transport::{Headers, Meter};

use crate::cells::Cells;
use crate::config::Settings;
use crate::contract::export::DownloadBody;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::decode::{BatchSink, DecodePlan, Envelope, Limits, Member, json_size};
use crate::error::{Context, Error, Kind, Result};
use crate::filter::Search;
use crate::retry::Policy;
use crate::transport::Transport;
use auth::Auth;
use budget::result_too_large;
use call::Call;
use classify::{entries, records};
use deadline::Deadline;
use rng::Rng;
use shared_limits::{RateLimiter, SharedLimits};

/// Most characters of a path: servers accept no more.
const MAX_PATH: usize = 8 * 1024;
/// What a value of JSON takes as an object of the caller, approximately.
const VALUE_BYTES: usize = 64;
/// Enough for most requests.
const BODY_BYTES: usize = 1_024;

/// A response that is complete and reports success.
#[derive(Debug)]
pub struct Completed {
    /// The envelope without the records.
    pub envelope: Envelope,
    /// Requests sent.
    pub attempts: u32,
    /// Time since the call began.
    pub elapsed: Duration,
    /// When the request was sent that succeeded, by the clock of this machine or of the service: the earlier one.
    pub requested_at: SystemTime,
    /// Headers of the response; none in a test.
    pub headers: Option<Headers>,
}

/// How a search is carried out.
#[derive(Clone, Debug)]
pub struct SearchMode {
    /// Public name of the operation.
    pub operation: &'static str,
    /// When the consumer can take the batches.
    pub delivery: DeliveryMode,
    /// What `timeout=` limits.
    pub scope: TimeoutScope,
    /// In place of the client's `timeout=`.
    pub timeout: Option<Duration>,
    /// Whether the first contact is retried for `retry_for=` too.
    pub is_patient: bool,
    /// How long the request waits for a token, if that can be limited while it is in flight.
    pub token_wait: Option<Arc<TokenWait>>,
}

/// A client of one service in one process.
#[derive(Debug)]
pub struct Client {
    settings: Settings,
    policy: Policy,
    transport: Transport,
    shared_limits: Arc<SharedLimits>,
    auth: Auth,
    rate_limiter: RateLimiter,
    /// Of requests in flight: `concurrency=`.
    places: Semaphore,
    /// The id of the next call: consecutive from a random number on, as a forked process has clients of its own.
    next_call: AtomicU64,
    rng: Rng,
    closed: CancellationToken,
}

impl Client {
    /// How long failed requests are retried; zero if none is.
    pub fn retry_for(&self) -> Duration {
        self.policy.retry_for
    }

    /// Prepares a client; does not connect. Shares the connections of `like` if the settings allow it.
    ///
    /// # Errors
    /// `Config` for CA certificates that cannot be read.
    pub fn try_new(settings: Settings, token: Arc<dyn TokenSource>, like: Option<&Self>) -> Result<Self> {
        let (transport, shared_limits) = match like.filter(|like| like.settings.connection == settings.connection) {
            Some(like) => (like.transport.clone(), like.shared_limits.clone()),
            None => (Transport::try_new(&settings.connection)?, Arc::default()),
        };
        let policy = Policy::new(settings.retry_for);
        let policy = if settings.is_retry_for_given { policy.patient_at_first() } else { policy };
        Ok(Self {
            policy,
            transport,
            shared_limits,
            auth: Auth::new(token),
            rate_limiter: RateLimiter::new(settings.interval),
            places: Semaphore::new(settings.concurrency.map_or(Semaphore::MAX_PERMITS, |limit| limit.max(1) as usize)),
            next_call: AtomicU64::new(Rng::System.random()),
            rng: Rng::System,
            closed: CancellationToken::new(),
            settings,
        })
    }

    /// Searches items. The records go into a sink of `new_sink`, and from there in batches to `delivery`. Fails
    /// if the response was dropped because the buffer is full, as `delivery` then says: it must be requested again.
    ///
    /// # Examples
    #[cfg_attr(feature = "sandbox", doc = "```")]
    #[cfg_attr(not(feature = "sandbox"), doc = "```ignore")]
    /// use std::future::poll_fn;
    /// use std::sync::Arc;
    ///
    /// use dataaccess::cells::Cells;
    /// use dataaccess::client::{Client, Delivered, Delivery, DeliveryMode, SearchMode, TimeoutScope};
    /// use dataaccess::config::{Arguments, Settings};
    /// use dataaccess::filter::{Comparison, InputValue, Method, codes};
    /// use dataaccess::sandbox::{Access, Options, Sandbox, demo::Demo};
    /// use dataaccess::secret::Secret;
    /// use dataaccess::time::Calendar;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let demo = Some(Demo::until("2024-02-29")?);
    /// let access = Access { token: Some("a-token-of-the-docs".to_owned()), ..Access::default() };
    /// let sandbox = Sandbox::start(Options { access, demo, ..Options::default() })?;
    /// let token = Secret::try_new("a-token-of-the-docs".to_owned())?;
    /// let arguments = Arguments { base_url: Some(sandbox.base_url().to_owned()), ..Arguments::default() };
    /// let client = Client::try_new(Settings::resolve(arguments, |_| None)?, Arc::new(token), None)?;
    ///
    /// let day = Comparison::new(Method::On, InputValue::text("2024-01-15"));
    /// let arguments = codes::CodesArguments {
    ///     attrs: InputValue::List(vec![InputValue::text("id"), InputValue::text("code_status")]),
    ///     allocated_time: InputValue::Comparison(Box::new(day)),
    ///     ..codes::CodesArguments::default()
    /// };
    /// let search = codes::check(arguments, &Calendar::default())?;
    ///
    /// let mode = SearchMode {
    ///     operation: "search_codes",
    ///     delivery: DeliveryMode::Complete,
    ///     scope: TimeoutScope::whole(),
    ///     timeout: None,
    ///     is_patient: false,
    ///     token_wait: None,
    /// };
    /// let delivery = Delivery::new(0, mode.delivery, Arc::new(client.buffer()));
    /// let completed = client.search(mode, &search, &|| Cells::new(search.attributes.len()), &delivery).await?;
    ///
    /// let Some(Delivered { batch, .. }) = poll_fn(|context| delivery.poll(context)).await else { unreachable!() };
    /// assert_eq!(batch.rows() as u64, completed.envelope.records);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn search<G: BatchSink>(
        &self,
        mode: SearchMode,
        search: &Search,
        new_sink: &(dyn Fn() -> G + Send + Sync),
        delivery: &Delivery<G::Batch>,
    ) -> Result<Completed> {
        let plan =
            DecodePlan { columns: Some(search.attributes.clone()), max_records: search.limit, ..DecodePlan::default() };
        let call = Call {
            operation: mode.operation,
            path: SEARCH_PATH,
            body: json(&search.body)?,
            plan,
            check: records,
            idempotent: true,
            policy: if mode.is_patient { self.policy.patient_at_first() } else { self.policy },
            deadline: Deadline { timeout: mode.timeout.unwrap_or(self.settings.timeout), scope: mode.scope },
            token_wait: mode.token_wait,
            new_sink,
            delivery,
        };
        self.run(&call).await
    }

    /// Most requests in flight.
    pub fn concurrency(&self) -> usize {
        self.settings.concurrency.map_or(usize::MAX, |limit| limit.max(1) as usize)
    }

    /// The buffer of a use of a scan whose consumer keeps at most a batch.
    pub fn buffer(&self) -> BufferBudget {
        BufferBudget::new(self.settings.buffered_bytes, self.settings.connection.timeouts.unread)
    }

    /// Bytes of memory that a result may take.
    pub fn max_result_bytes(&self) -> u64 {
        self.settings.max_result_bytes
    }

    /// The buffer of responses that are all kept in a result that is collected now, as `kept` measures their batches.
    pub fn result_buffer(&self, kept: Kept) -> BufferBudget {
        let buffer = BufferBudget::new(usize::MAX, self.settings.connection.timeouts.unread);
        buffer.of_result(self.settings.max_result_bytes, kept)
    }

    /// Downloads the status entries of an export. `timeout` replaces the timeout of the client. A request of a wait
    /// `polls`: it has no more time than any other, and retries the first contact as a run does.
    pub async fn download(&self, export: DownloadBody, timeout: Option<Duration>, polls: bool) -> Result<Envelope> {
        let (body, all) = (json(&export)?, self.settings.timeout);
        let (operation, policy, timeout) = if polls {
            ("wait_for_segment", self.policy.patient_at_first(), timeout.map_or(all, |timeout| timeout.min(all)))
        } else {
            ("download_segment", self.policy, timeout.unwrap_or(all))
        };
        self.whole(policy, operation, DOWNLOAD_PATH, body, entries, true, timeout).await
    }

    /// Waits between two requests of a wait for an export.
    pub async fn pause(&self, pause: Duration) -> Result<()> {
        self.closed.run_until_cancelled(tokio::time::sleep(pause)).await.ok_or_else(|| {
            let context = Context { operation: Some("wait_for_segment"), ..Context::default() };
            Self::closed_error().with_context(context)
        })
    }

    /// The error of a client that is closed.
    pub fn closed_error() -> Error {
        Error::new(Kind::ClientClosed, "the client is closed").with_hint("create a new client")
    }

    /// POSTs a body, which is JSON, to a path below the base URL, and returns the whole envelope. `timeout` is in place
    /// of the client's.
    pub async fn post(&self, path: &str, body: Bytes, idempotent: bool, timeout: Option<Duration>) -> Result<Envelope> {
        check_path(path)?;
        let timeout = timeout.unwrap_or(self.settings.timeout);
        self.whole(self.policy, "post", path, body, |_| Ok(()), idempotent, timeout).await
    }

    /// Runs a call whose envelope is kept whole, without a consumer.
    #[expect(clippy::too_many_arguments, reason = "each is a part of the call")]
    async fn whole(
        &self,
        policy: Policy,
        operation: &'static str,
        path: &str,
        body: Bytes,
        check: fn(&Envelope) -> Result<()>,
        idempotent: bool,
        timeout: Duration,
    ) -> Result<Envelope> {
        // The whole body is kept as text first.
        let limits = match self.settings.max_result_bytes {
            body if body < Limits::default().body => {
                Limits { body, body_setting: Some("max_result_bytes"), ..Limits::default() }
            }
            _ => Limits::default(),
        };
        let plan = DecodePlan { columns: None, max_records: None, limits };
        let deadline = Deadline { timeout, scope: TimeoutScope::whole() };
        let budget = Arc::new(BufferBudget::new(usize::MAX, Duration::MAX));
        let (token_wait, new_sink) = (None, &|| Cells::new(0));
        let delivery = &Delivery::new(0, DeliveryMode::Complete, budget);
        let call =
            Call { operation, path, body, plan, check, idempotent, policy, deadline, token_wait, new_sink, delivery };
        let completed = self.run(&call).await?;
        let (members, limit) = (&completed.envelope.members, self.settings.max_result_bytes);
        if memory(members, &most_bytes) as u64 > limit && memory(members, &bytes) as u64 > limit {
            let (attempts, elapsed) = (completed.attempts, completed.elapsed.as_secs_f64());
            let of_call = Context { operation: Some(operation), attempts, elapsed, ..Context::default() };
            return Err(result_too_large(self.settings.max_result_bytes).with_context(of_call));
        }
        Ok(completed.envelope)
    }

    /// The counters of all calls over the same connections.
    pub fn stats(&self) -> &Meter {
        self.transport.meter()
    }

    /// Whether the headers of any response have arrived over the same connections.
    pub fn was_reached(&self) -> bool {
        self.shared_limits.gate().was_reached
    }

    /// Whether a response over the same connections came from the sandbox.
    pub fn has_met_sandbox(&self) -> bool {
        self.stats().is_sandbox.load(Ordering::Relaxed)
    }

    /// Ends every call in flight and refuses later ones.
    pub fn close(&self) {
        self.closed.cancel();
    }
}

/// What JSON takes as text, and as objects of the caller beside it.
fn bytes(json: &str) -> usize {
    let size = json_size(json);
    json.len() + size.text + size.values * VALUE_BYTES
}

/// At least as many as [`bytes`], without a look at the text: a character may take four bytes, and be a value.
fn most_bytes(json: &str) -> usize {
    json.len() * (1 + 4 + VALUE_BYTES)
}

/// What members take in memory, if each value takes what `of_json` returns.
fn memory(members: &[(String, Member)], of_json: &dyn Fn(&str) -> usize) -> usize {
    let of_member = |(name, member): &(String, Member)| {
        let member = match member {
            Member::Json(json) => of_json(json),
            Member::Object(members) => memory(members, of_json),
            Member::Records => 0,
        };
        2 * name.len() + VALUE_BYTES + member
    };
    members.iter().map(of_member).sum()
}

/// The lock, also after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn json(body: &(impl Serialize + ?Sized)) -> Result<Bytes> {
    let mut text = Vec::with_capacity(BODY_BYTES);
    serde_json::to_writer(&mut text, body)
        .map(|()| Bytes::from(text))
        .map_err(|error| Error::new(Kind::Internal, "the request cannot be serialized as JSON").with_source(error))
}

/// Refuses a path that would leave the base URL, or has a query or fragment.
fn check_path(path: &str) -> Result<()> {
    let is_dots = |segment: &str| matches!(segment, "." | "..");
    let problem = if !path.starts_with('/') || path.starts_with("//") {
        "must begin with a single slash".to_owned()
    } else if path.len() > MAX_PATH {
        format!("may have at most {MAX_PATH} characters, not {}", path.len())
    } else if path.split('/').any(is_dots) || path.to_ascii_lowercase().contains("%2e") {
        "may not contain a segment . or .., or an encoded dot".to_owned()
    } else if !path.bytes().all(|byte| byte.is_ascii_graphic()) || path.contains(['?', '#', '\\']) {
        "may contain only visible ASCII, and no ?, # or backslash".to_owned()
    } else {
        return Ok(());
    };
    let error = Error::new(Kind::Config, format!("path {problem}"));
    Err(error.with_hint("write the part after base_url, such as /access/api/…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_the_base_url() {
        let paths = r"access //evil.example.com/x /a/../b /a/./b /a/.. /a/%2e%2e/b /a/.%2E/b /a?b /a#b /a\b /ä";
        for path in paths.split_whitespace().chain(["", "/a b", &"/a".repeat(MAX_PATH)]) {
            assert_eq!(check_path(path).expect_err(path).kind(), Kind::Config);
        }
        for path in ["/access/api/item/search", "/x..y", "/a/b.c/", "/a;v=1/b", "/.a/..b;v=1", "/100%25", "/a%20b"] {
            assert!(check_path(path).is_ok(), "{path}");
        }
    }
}
