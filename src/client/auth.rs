//! The bearer token of each request, fetched from a source once for all calls that wait.

use std::fmt;
use std::future::{self, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::{Either, Shared, select_ok};
use tokio::time::{Instant, timeout};

use crate::error::{Error, Kind, Phase, Result};
use crate::secret::Secret;

/// How long before it expires a token is renewed; one with a short life is renewed after half of it.
const RENEWAL_MARGIN: Duration = Duration::from_secs(300);

/// Time-out of a fetch. Later calls start a new one.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// A fetch is slow if a call stopped waiting for it after this time. The next call starts another one beside it.
const SLOW_FETCH: Duration = Duration::from_secs(1);

/// Most fetches in flight: a source that hangs keeps a thread for each.
const MAX_FETCHES: usize = 4;

/// Delay after a failed renewal, while the current token is still valid.
const RENEWAL_RETRY: Duration = Duration::from_secs(10);

/// What a source returns.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: Secret,
    /// When the token expires. One without is used until the service refuses it.
    pub expires_at: Option<SystemTime>,
}

/// How long the calls of a scan wait for a token. It can be limited while they are in flight.
#[derive(Debug, Default)]
pub struct TokenWait(OnceLock<(Duration, &'static str)>);

impl TokenWait {
    /// Limits the wait for each token from now on. `hint` is what the user can do if it is over.
    pub fn set(&self, limit: Duration, hint: &'static str) {
        // The first limit holds.
        _ = self.0.set((limit, hint));
    }

    pub(super) fn limit(&self) -> Option<(Duration, &'static str)> {
        self.0.get().copied()
    }
}

/// The result of a source, to be awaited.
pub type TokenFuture = Pin<Box<dyn Future<Output = Result<Grant>> + Send>>;

/// A source of tokens. Its future must not block; a thread that it waits for may.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Fetches a token.
    fn fetch(&self) -> TokenFuture;
}

/// A token that never changes.
impl TokenSource for Secret {
    fn fetch(&self) -> TokenFuture {
        let grant = Grant { token: self.clone(), expires_at: None };
        Box::pin(future::ready(Ok(grant)))
    }
}

#[derive(Debug)]
pub(super) struct Auth {
    source: Arc<dyn TokenSource>,
    state: Mutex<State>,
}

/// The current token and the fetches in flight, the newest last. More than one only while the source is slow.
///
/// A fetch belongs to no caller: when one is cancelled, the others go on waiting, and the next joins them.
#[derive(Debug, Default)]
struct State {
    current: Option<CurrentToken>,
    fetches: Vec<Fetch>,
}

#[derive(Debug)]
struct CurrentToken {
    grant: Grant,
    renew_at: Option<SystemTime>,
}

#[derive(Clone, Debug)]
struct Fetch {
    result: Shared<TokenFuture>,
    started: Instant,
    is_slow: bool,
}

/// A call that waits for a fetch. Dropped before the fetch has ended, it has given up.
struct Waiting<'a> {
    auth: &'a Auth,
    fetch: Fetch,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.auth.state();
        let given_up = state.fetches.iter_mut().find(|fetch| fetch.is(&self.fetch));
        if let Some(fetch) = given_up.filter(|fetch| fetch.started.elapsed() >= SLOW_FETCH) {
            fetch.is_slow = true;
        }
    }
}

impl Fetch {
    fn is(&self, other: &Self) -> bool {
        self.result.ptr_eq(&other.result)
    }
}

impl CurrentToken {
    fn new(grant: &Grant) -> Self {
        let renew_at = grant.expires_at.map(|end| {
            let life = end.duration_since(SystemTime::now()).unwrap_or_default();
            end.checked_sub(RENEWAL_MARGIN.min(life / 2)).unwrap_or(end)
        });
        Self { grant: grant.clone(), renew_at }
    }
}

impl Auth {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source, state: Mutex::default() }
    }

    /// The token to send. Waits for the source for at most `limit`, and fails if the source does.
    pub(super) async fn token(&self, limit: Duration) -> Result<Secret> {
        match self.current() {
            Some(token) => Ok(token),
            None => self.fetch(limit.min(FETCH_TIMEOUT)).await,
        }
    }

    /// Drops a token that the service refused: [`Auth::token`] fetches again.
    pub(super) fn reject(&self, refused: &Secret) {
        self.state().current.take_if(|current| current.grant.token == *refused);
    }

    /// The current token, unless it has expired. Shortly before, fetches the next one in the background: no call waits
    /// for a fetch while the current token is valid.
    fn current(&self) -> Option<Secret> {
        let now = SystemTime::now();
        let is_past = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
        let (token, renewal) = {
            let mut state = self.state();
            let current = state.current.as_ref().filter(|current| !is_past(current.grant.expires_at))?;
            let (token, is_due) = (current.grant.token.clone(), is_past(current.renew_at));
            (token, is_due.then(|| state.fetch(&*self.source).0))
        };
        let Some(renewal) = renewal else { return Some(token) };
        let Some(result) = renewal.result.clone().now_or_never() else { return Some(token) };
        self.state().store(&renewal, &result);
        Some(result.map_or(token, |grant| grant.token))
    }

    /// Waits for the newest fetch in flight, or for a new one. If an earlier one ends before it with a token, that counts.
    async fn fetch(&self, limit: Duration) -> Result<Secret> {
        loop {
            let (fetch, is_new) = self.state().fetch(&*self.source);
            let earlier: Vec<Fetch> = self.state().fetches.iter().filter(|other| !other.is(&fetch)).cloned().collect();
            let waiting = Waiting { auth: self, fetch };
            let result = timeout(limit, first(&waiting.fetch, &earlier)).await.map_err(|_| timed_out(limit))?;
            self.state().store(&waiting.fetch, &result);
            let grant = result?;
            // The result of a fetch whose caller was cancelled may have waited until the token expired.
            if is_new || grant.expires_at.is_none_or(|end| end > SystemTime::now()) {
                return Ok(grant.token);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The newest fetch in flight, or a new one; and whether it is new.
    fn fetch(&mut self, source: &dyn TokenSource) -> (Fetch, bool) {
        self.fetches.retain(|fetch| fetch.started.elapsed() < FETCH_TIMEOUT);
        let is_full = self.fetches.len() >= MAX_FETCHES;
        if let Some(fetch) = self.fetches.last().filter(|fetch| !fetch.is_slow || is_full) {
            return (fetch.clone(), false);
        }
        let fetch = Fetch { result: source.fetch().shared(), started: Instant::now(), is_slow: false };
        self.fetches.push(fetch.clone());
        (fetch, true)
    }

    /// Stores what came of a fetch or of an earlier one, unless another caller has. A failed renewal keeps the current
    /// token.
    fn store(&mut self, fetch: &Fetch, result: &Result<Grant>) {
        if !self.fetches.iter().any(|known| known.is(fetch)) {
            return;
        }
        match result {
            Ok(_) => self.fetches.clear(),
            Err(_) => self.fetches.retain(|known| !known.is(fetch)),
        }
        match (result, &mut self.current) {
            (Ok(grant), _) => self.current = Some(CurrentToken::new(grant)),
            (Err(_), Some(current)) => current.renew_at = Some(SystemTime::now() + RENEWAL_RETRY),
            (Err(_), None) => {}
        }
    }
}

/// The result of a fetch, or the token of an earlier one that ends before it.
async fn first(fetch: &Fetch, earlier: &[Fetch]) -> Result<Grant> {
    if earlier.is_empty() {
        return fetch.result.clone().await;
    }
    let earlier = select_ok(earlier.iter().map(|fetch| fetch.result.clone()));
    match futures_util::future::select(fetch.result.clone(), earlier).await {
        Either::Left((result, _)) => result,
        Either::Right((Ok((grant, _)), _)) => Ok(grant),
        Either::Right((Err(_), fetch)) => fetch.await,
    }
}

fn timed_out(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("the token callable returned no token within {seconds} s"))
        .with(|details| details.phase = Some(Phase::Token))
        .retryable()
}

#[cfg(test)]
mod tests;
