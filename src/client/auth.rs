//! The token of each request: fixed, or asked of a source once for all callers who wait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::Shared;
use tokio::time::{Instant, timeout};

use super::Token;
use crate::error::{Error, Kind, Phase, Result};
use crate::secret::Secret;

/// An expiring token is renewed so long before its end, or in the second half of a shorter life.
const MARGIN: Duration = Duration::from_secs(300);

/// For a source to answer, before it is asked anew.
const LIMIT: Duration = Duration::from_secs(60);

/// After an early renewal that failed, while the token that is held serves.
const AGAIN: Duration = Duration::from_secs(10);

/// What a source gives.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: Secret,
    /// When it ends; one without an end is kept until the service refuses it.
    pub expires_at: Option<SystemTime>,
}

/// The answer of a source, to be awaited.
pub type TokenFuture = Pin<Box<dyn Future<Output = Result<Grant>> + Send>>;

/// Gives tokens. Its future must not need the interpreter: a thread of its own may.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Asks for a token.
    fn fetch(&self) -> TokenFuture;
}

#[derive(Debug)]
pub(super) enum Auth {
    Fixed(Secret),
    Source { source: Arc<dyn TokenSource>, state: Mutex<State> },
}

/// The token that is held, and the question that is in flight.
///
/// The question belongs to nobody who waits for it: whoever is cancelled leaves it to the others, and the next
/// caller joins it instead of asking again.
#[derive(Debug, Default)]
pub(super) struct State {
    held: Option<CurrentToken>,
    has_given: bool,
    question: Option<PendingToken>,
}

#[derive(Clone, Debug)]
struct PendingToken {
    response: Shared<TokenFuture>,
    asked: Instant,
}

#[derive(Debug)]
struct CurrentToken {
    token: Secret,
    renew_at: Option<SystemTime>,
    expires_at: Option<SystemTime>,
}

impl CurrentToken {
    fn new(grant: &Grant) -> Self {
        let now = SystemTime::now();
        let renew_at = grant.expires_at.map(|end| {
            let life = end.duration_since(now).unwrap_or_default();
            end.checked_sub(MARGIN.min(life / 2)).unwrap_or(end)
        });
        Self { token: grant.token.clone(), renew_at, expires_at: grant.expires_at }
    }
}

impl Auth {
    pub(super) fn new(token: Token) -> Self {
        match token {
            Token::Fixed(secret) => Self::Fixed(secret),
            Token::Source(source) => Self::Source { source, state: Mutex::default() },
        }
    }

    /// The token to send. A source has so long to give one, however many wait for it.
    ///
    /// # Errors
    /// That of the source, unless the token that is held is still valid.
    pub(super) async fn token(&self, limit: Duration) -> Result<Secret> {
        match self {
            Self::Fixed(secret) => Ok(secret.clone()),
            Self::Source { source, state } => match valid(source.as_ref(), state) {
                Some(token) => Ok(token),
                None => ask(source.as_ref(), state, limit.min(LIMIT)).await,
            },
        }
    }

    /// Whether the source has ever given a token.
    pub(super) fn has_given(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Source { state, .. } => lock(state).has_given,
        }
    }

    /// The service has refused a token. Whether there may be another: [`Auth::token`] asks for it.
    pub(super) fn reject(&self, refused: &Secret) -> bool {
        let Self::Source { state, .. } = self else { return false };
        let held = &mut lock(state).held;
        if held.as_ref().is_some_and(|held| held.token == *refused) {
            *held = None;
        }
        true
    }
}

impl State {
    /// The question in flight, or a new one; and whether it is new.
    fn question(&mut self, source: &dyn TokenSource) -> (PendingToken, bool) {
        if let Some(question) = self.question.as_ref().filter(|question| question.asked.elapsed() < LIMIT) {
            return (question.clone(), false);
        }
        let question = PendingToken { response: source.fetch().shared(), asked: Instant::now() };
        self.question = Some(question.clone());
        (question, true)
    }

    /// The first to hear an answer keeps it for all. A failed renewal leaves what is held, and is tried again later.
    fn settle(&mut self, question: &PendingToken, response: &Result<Grant>) {
        if self.question.take_if(|current| current.response.ptr_eq(&question.response)).is_none() {
            return;
        }
        match response {
            Ok(grant) => (self.held, self.has_given) = (Some(CurrentToken::new(grant)), true),
            Err(_) => {
                if let Some(held) = &mut self.held {
                    held.renew_at = Some(SystemTime::now() + AGAIN);
                }
            }
        }
    }
}

/// The token that is held, if it has not expired. Shortly before it expires the next one is requested in the
/// background: no call waits for it while this one is valid.
fn valid(source: &dyn TokenSource, state: &Mutex<State>) -> Option<Secret> {
    let now = SystemTime::now();
    let is_over = |end: Option<SystemTime>| end.is_some_and(|end| end <= now);
    let (token, renewal) = {
        let mut state = lock(state);
        let held = state.held.as_ref().filter(|held| !is_over(held.expires_at))?;
        let (token, is_due) = (held.token.clone(), is_over(held.renew_at));
        (token, is_due.then(|| state.question(source).0))
    };
    let Some(renewal) = renewal else { return Some(token) };
    let Some(response) = renewal.response.clone().now_or_never() else { return Some(token) };
    lock(state).settle(&renewal, &response);
    Some(response.map_or(token, |grant| grant.token))
}

/// Joins the question in flight, or asks.
async fn ask(source: &dyn TokenSource, state: &Mutex<State>, limit: Duration) -> Result<Secret> {
    loop {
        let (question, is_new) = lock(state).question(source);
        // A question that is given up stays for the others, until it is too old.
        let Ok(response) = timeout(limit, question.response.clone()).await else { return Err(late(limit)) };
        lock(state).settle(&question, &response);
        let grant = response?;
        // It may have waited for somebody to fetch it since its first caller went away.
        if is_new || grant.expires_at.is_none_or(|end| end > SystemTime::now()) {
            return Ok(grant.token);
        }
    }
}

fn late(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("the token callable gave no token within {seconds} s"))
        .with(|details| details.phase = Some(Phase::Token))
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

    /// Gives tokens of some life after a pause, or what else a test asks for; counts how often it is asked.
    #[derive(Debug)]
    struct Counting {
        asked: AtomicUsize,
        life: Option<Duration>,
        /// The first question that fails, and the first that is never answered.
        fails: usize,
        hangs: usize,
    }

    impl TokenSource for Counting {
        fn fetch(&self) -> TokenFuture {
            let number = self.asked.fetch_add(1, Ordering::SeqCst);
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

    fn auth(life: Option<Duration>) -> (Auth, Arc<Counting>) {
        auth_of(Counting { asked: AtomicUsize::new(0), life, fails: usize::MAX, hangs: usize::MAX })
    }

    fn auth_of(source: Counting) -> (Auth, Arc<Counting>) {
        let source = Arc::new(source);
        (Auth::new(Token::Source(source.clone())), source)
    }

    async fn given(auth: &Auth) -> String {
        auth.token(LONG).await.expect("a token").expose().to_owned()
    }

    /// The time of tokens is that of the system, which no test turns.
    async fn pause(milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    #[tokio::test]
    async fn many_callers_ask_once_even_for_a_token_of_a_short_life() {
        let (auth, source) = auth(Some(Duration::from_millis(200)));
        let tokens = futures_util::future::join_all((0..16).map(|_| given(&auth))).await;
        assert!(tokens.iter().all(|token| token == "tok-0"));
        assert_eq!(given(&auth).await, "tok-0");
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_token_serves_to_its_end_while_the_next_is_asked_for() {
        let (auth, source) = auth(Some(Duration::from_millis(400)));
        assert_eq!(given(&auth).await, "tok-0");
        pause(220).await;
        assert_eq!(given(&auth).await, "tok-0", "nobody waits for a renewal");
        pause(40).await;
        assert_eq!(given(&auth).await, "tok-1");
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_renewal_that_fails_or_hangs_costs_no_valid_token() {
        for (fails, hangs) in [(1, usize::MAX), (usize::MAX, 1)] {
            let life = Some(Duration::from_millis(400));
            let (auth, source) = auth_of(Counting { asked: AtomicUsize::new(0), life, fails, hangs });
            assert_eq!(given(&auth).await, "tok-0");
            pause(220).await;
            for _ in 0..3 {
                assert_eq!(given(&auth).await, "tok-0");
                pause(30).await;
            }
            assert_eq!(source.asked.load(Ordering::SeqCst), 2);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_hangs_has_a_minute_and_is_asked_anew() {
        let hanging = Counting { asked: AtomicUsize::new(0), life: None, fails: usize::MAX, hangs: 0 };
        let (auth, source) = auth_of(hanging);
        let began = Instant::now();
        let error = auth.token(LONG).await.expect_err("no answer");
        assert_eq!((error.kind(), error.is_retryable()), (Kind::RequestTimeout, true));
        assert_eq!(began.elapsed(), LIMIT);
        assert_eq!(given(&auth).await, "tok-1");
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_less_time_leaves_the_question_to_the_others() {
        let hanging = Counting { asked: AtomicUsize::new(0), life: None, fails: usize::MAX, hangs: 0 };
        let (auth, source) = auth_of(hanging);
        let began = Instant::now();
        assert!(auth.token(Duration::from_secs(5)).await.is_err());
        assert_eq!(began.elapsed(), Duration::from_secs(5));
        assert!(auth.token(Duration::from_secs(5)).await.is_err());
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_caller_who_goes_away_leaves_the_question_to_the_next() {
        let (auth, source) = auth(None);
        assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
        assert_eq!(given(&auth).await, "tok-0");
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_token_that_came_for_nobody_and_expired_is_not_sent() {
        let (auth, source) = auth(Some(Duration::from_millis(100)));
        assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
        pause(150).await;
        assert_eq!(given(&auth).await, "tok-1");
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_refused_token_is_renewed_once_for_all_who_hold_it() {
        let (auth, source) = auth(None);
        let refused = auth.token(LONG).await.expect("a token");
        let renewed = futures_util::future::join_all((0..4).map(|_| async {
            assert!(auth.reject(&refused));
            given(&auth).await
        }));
        assert!(renewed.await.iter().all(|token| token == "tok-1"));
        assert!(auth.reject(&refused), "long after");
        assert_eq!(given(&auth).await, "tok-1");
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }
}
