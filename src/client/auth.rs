//! The bearer token of each request: fixed, or fetched from a source once for all calls that wait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::Shared;
use tokio::time::{Instant, timeout};

use super::Token;
use crate::error::{Error, Kind, Result};
use crate::secret::Secret;

/// How long before it expires a token is renewed; one with a short life is renewed after half of it.
const RENEWAL_MARGIN: Duration = Duration::from_secs(300);

/// Time-out of a fetch. Later calls start a new one.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

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

/// The result of a source, to be awaited.
pub type TokenFuture = Pin<Box<dyn Future<Output = Result<Grant>> + Send>>;

/// A source of tokens. Its future must not need the GIL, but a thread that it waits for may.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Fetches a token.
    fn fetch(&self) -> TokenFuture;
}

#[derive(Debug)]
pub(super) enum Auth {
    Fixed(Secret),
    Source { source: Arc<dyn TokenSource>, state: Mutex<State> },
}

/// The current token and the fetch in flight.
///
/// The fetch belongs to no caller: when one is cancelled, the others go on waiting, and the next joins them.
#[derive(Debug, Default)]
pub(super) struct State {
    current: Option<CurrentToken>,
    has_succeeded: bool,
    fetch: Option<Fetch>,
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
    pub(super) fn new(token: Token) -> Self {
        match token {
            Token::Fixed(secret) => Self::Fixed(secret),
            Token::Source(source) => Self::Source { source, state: Mutex::default() },
        }
    }

    /// The token to send. Waits for a source for at most `limit`, and fails if the source does.
    pub(super) async fn token(&self, limit: Duration) -> Result<Secret> {
        match self {
            Self::Fixed(secret) => Ok(secret.clone()),
            Self::Source { source, state } => match current(source.as_ref(), state) {
                Some(token) => Ok(token),
                None => fetch(source.as_ref(), state, limit.min(FETCH_TIMEOUT)).await,
            },
        }
    }

    /// Whether the source has ever returned a token.
    pub(super) fn has_succeeded(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Source { state, .. } => lock(state).has_succeeded,
        }
    }

    /// Drops a token that the service refused. Returns whether [`Auth::token`] may return another.
    pub(super) fn reject(&self, refused: &Secret) -> bool {
        let Self::Source { state, .. } = self else { return false };
        lock(state).current.take_if(|current| current.grant.token == *refused);
        true
    }
}

impl State {
    /// The fetch in flight, or a new one; and whether it is new.
    fn fetch(&mut self, source: &dyn TokenSource) -> (Fetch, bool) {
        if let Some(fetch) = self.fetch.as_ref().filter(|fetch| fetch.started.elapsed() < FETCH_TIMEOUT) {
            return (fetch.clone(), false);
        }
        let fetch = Fetch { result: source.fetch().shared(), started: Instant::now() };
        self.fetch = Some(fetch.clone());
        (fetch, true)
    }

    /// Stores the result of a fetch, unless another caller has. A failed renewal keeps the current token.
    fn store(&mut self, fetch: &Fetch, result: &Result<Grant>) {
        if self.fetch.take_if(|current| current.result.ptr_eq(&fetch.result)).is_none() {
            return;
        }
        match (result, &mut self.current) {
            (Ok(grant), _) => (self.current, self.has_succeeded) = (Some(CurrentToken::new(grant)), true),
            (Err(_), Some(current)) => current.renew_at = Some(SystemTime::now() + RENEWAL_RETRY),
            (Err(_), None) => {}
        }
    }
}

/// The current token, unless it has expired. Shortly before, fetches the next one in the background: no call waits
/// for a fetch while the current token is valid.
fn current(source: &dyn TokenSource, state: &Mutex<State>) -> Option<Secret> {
    let now = SystemTime::now();
    let is_past = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
    let (token, renewal) = {
        let mut state = lock(state);
        let current = state.current.as_ref().filter(|current| !is_past(current.grant.expires_at))?;
        let (token, is_due) = (current.grant.token.clone(), is_past(current.renew_at));
        (token, is_due.then(|| state.fetch(source).0))
    };
    let Some(renewal) = renewal else { return Some(token) };
    let Some(result) = renewal.result.clone().now_or_never() else { return Some(token) };
    lock(state).store(&renewal, &result);
    Some(result.map_or(token, |grant| grant.token))
}

/// Waits for the fetch in flight, or for a new one.
async fn fetch(source: &dyn TokenSource, state: &Mutex<State>, limit: Duration) -> Result<Secret> {
    loop {
        let (fetch, is_new) = lock(state).fetch(source);
        // After the time-out the fetch stays in flight for other callers.
        let Ok(result) = timeout(limit, fetch.result.clone()).await else { return Err(timed_out(limit)) };
        lock(state).store(&fetch, &result);
        let grant = result?;
        // The result of a fetch whose caller was cancelled may have waited until the token expired.
        if is_new || grant.expires_at.is_none_or(|end| end > SystemTime::now()) {
            return Ok(grant.token);
        }
    }
}

fn timed_out(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("the token callable returned no token within {seconds} s"))
        .with("phase", "token")
        .retryable()
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(300);

    /// Returns tokens after a pause and counts the fetches. The fetches with the numbers `fails` and `hangs` do so.
    #[derive(Debug)]
    struct Counting {
        fetches: AtomicUsize,
        life: Option<Duration>,
        fails: usize,
        hangs: usize,
    }

    impl TokenSource for Counting {
        fn fetch(&self) -> TokenFuture {
            let number = self.fetches.fetch_add(1, Ordering::SeqCst);
            let expires_at = self.life.map(|life| SystemTime::now() + life);
            let (fails, hangs) = (number == self.fails, number == self.hangs);
            Box::pin(async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                if fails {
                    return Err(Error::new(Kind::Config, "made up").retryable());
                }
                Ok(Grant { token: Secret::try_new(format!("tok-{number}"))?, expires_at })
            })
        }
    }

    /// No fetch has this number.
    const NONE: usize = usize::MAX;

    fn auth_that(life: Option<u64>, fails: usize, hangs: usize) -> (Auth, Arc<Counting>) {
        let life = life.map(Duration::from_millis);
        let source = Arc::new(Counting { fetches: AtomicUsize::new(0), life, fails, hangs });
        (Auth::new(Token::Source(source.clone())), source)
    }

    fn auth(life: Option<u64>) -> (Auth, Arc<Counting>) {
        auth_that(life, NONE, NONE)
    }

    async fn token(auth: &Auth) -> String {
        auth.token(LONG).await.expect("a token").expose().to_owned()
    }

    /// Tokens expire by the system clock, which tests cannot pause.
    async fn pause(milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    #[tokio::test]
    async fn many_callers_share_one_fetch_even_of_a_short_lived_token() {
        let (auth, source) = auth(Some(200));
        let tokens = futures_util::future::join_all((0..16).map(|_| token(&auth))).await;
        assert!(tokens.iter().all(|token| token == "tok-0"));
        assert_eq!(token(&auth).await, "tok-0");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_token_is_used_until_it_expires_while_the_next_is_fetched() {
        let (auth, source) = auth(Some(400));
        assert_eq!(token(&auth).await, "tok-0");
        pause(220).await;
        assert_eq!(token(&auth).await, "tok-0", "no call waits for a renewal");
        pause(40).await;
        assert_eq!(token(&auth).await, "tok-1");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_renewal_that_fails_or_hangs_costs_no_valid_token() {
        for (fails, hangs) in [(1, NONE), (NONE, 1)] {
            let (auth, source) = auth_that(Some(400), fails, hangs);
            assert_eq!(token(&auth).await, "tok-0");
            pause(220).await;
            for _ in 0..3 {
                assert_eq!(token(&auth).await, "tok-0");
                pause(30).await;
            }
            assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_that_hangs_times_out_after_a_minute_and_a_new_one_starts() {
        let (auth, source) = auth_that(None, NONE, 0);
        let began = Instant::now();
        let error = auth.token(LONG).await.expect_err("a time-out");
        assert_eq!((error.kind(), error.is_retryable()), (Kind::RequestTimeout, true));
        assert_eq!(began.elapsed(), FETCH_TIMEOUT);
        assert_eq!(token(&auth).await, "tok-1");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_goes_on_after_a_caller_with_a_shorter_limit() {
        let (auth, source) = auth_that(None, NONE, 0);
        let began = Instant::now();
        assert!(auth.token(Duration::from_secs(5)).await.is_err());
        assert_eq!(began.elapsed(), Duration::from_secs(5));
        assert!(auth.token(Duration::from_secs(5)).await.is_err());
        assert_eq!(source.fetches.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_fetch_goes_on_after_its_caller_is_cancelled() {
        let (auth, source) = auth(None);
        assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
        assert_eq!(token(&auth).await, "tok-0");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_token_that_expired_before_anyone_took_it_is_not_sent() {
        let (auth, source) = auth(Some(100));
        assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
        pause(150).await;
        assert_eq!(token(&auth).await, "tok-1");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_refused_token_is_renewed_once_for_all_calls() {
        let (auth, source) = auth(None);
        let refused = auth.token(LONG).await.expect("a token");
        let renewed = futures_util::future::join_all((0..4).map(|_| async {
            assert!(auth.reject(&refused));
            token(&auth).await
        }));
        assert!(renewed.await.iter().all(|token| token == "tok-1"));
        assert!(auth.reject(&refused), "long after");
        assert_eq!(token(&auth).await, "tok-1");
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
    }
}
