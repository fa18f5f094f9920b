//! The token of each request: fixed, or asked of a source once for all callers who wait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::Shared;

use super::Token;
use crate::error::Result;
use crate::secret::Secret;

/// An expiring token is renewed so long before its end, or in the second half of a shorter life.
const MARGIN: Duration = Duration::from_secs(300);

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

/// The token that is held, and the question that is under way.
///
/// The question belongs to nobody who waits for it: whoever is cancelled leaves it to the others, and the next
/// caller joins it instead of asking again.
#[derive(Debug, Default)]
pub(super) struct State {
    held: Option<Held>,
    question: Option<Shared<TokenFuture>>,
}

#[derive(Debug)]
struct Held {
    token: Secret,
    renew_at: Option<SystemTime>,
}

impl Held {
    fn new(grant: &Grant) -> Self {
        let now = SystemTime::now();
        let renew_at = grant.expires_at.map(|end| {
            let life = end.duration_since(now).unwrap_or_default();
            end.checked_sub(MARGIN.min(life / 2)).unwrap_or(end)
        });
        Self { token: grant.token.clone(), renew_at }
    }

    fn is_fresh(&self) -> bool {
        self.renew_at.is_none_or(|renew_at| SystemTime::now() < renew_at)
    }
}

impl Auth {
    pub(super) fn new(token: Token) -> Self {
        match token {
            Token::Fixed(secret) => Self::Fixed(secret),
            Token::Source(source) => Self::Source { source, state: Mutex::default() },
        }
    }

    /// The token to send.
    pub(super) async fn token(&self) -> Result<Secret> {
        match self {
            Self::Fixed(secret) => Ok(secret.clone()),
            Self::Source { source, state } => {
                if let Some(held) = lock(state).held.as_ref().filter(|held| held.is_fresh()) {
                    return Ok(held.token.clone());
                }
                ask(source.as_ref(), state).await
            }
        }
    }

    /// After `refused` was refused: whether there is another token now.
    pub(super) async fn renew(&self, refused: &Secret) -> Result<bool> {
        let Self::Source { source, state } = self else { return Ok(false) };
        if lock(state).held.as_ref().is_some_and(|held| held.token != *refused) {
            return Ok(true);
        }
        Ok(ask(source.as_ref(), state).await? != *refused)
    }
}

/// Joins the question under way, or asks.
async fn ask(source: &dyn TokenSource, state: &Mutex<State>) -> Result<Secret> {
    let question = lock(state).question.get_or_insert_with(|| source.fetch().shared()).clone();
    let answer = question.clone().await;
    let mut state = lock(state);
    // The first to hear the answer keeps it for all.
    if state.question.as_ref().is_some_and(|current| current.ptr_eq(&question)) {
        state.question = None;
        state.held = answer.as_ref().ok().map(Held::new);
    }
    answer.map(|grant| grant.token)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts how often it is asked, answers after a pause, and gives tokens of some life.
    #[derive(Debug)]
    struct Counting {
        asked: AtomicUsize,
        life: Option<Duration>,
    }

    impl TokenSource for Counting {
        fn fetch(&self) -> TokenFuture {
            let number = self.asked.fetch_add(1, Ordering::SeqCst);
            let expires_at = self.life.map(|life| SystemTime::now() + life);
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(Grant { token: Secret::try_new(format!("tok-{number}"))?, expires_at })
            })
        }
    }

    fn auth(life: Option<Duration>) -> (Auth, Arc<Counting>) {
        let source = Arc::new(Counting { asked: AtomicUsize::new(0), life });
        (Auth::new(Token::Source(source.clone())), source)
    }

    #[tokio::test]
    async fn many_callers_ask_once_even_for_a_token_of_a_short_life() {
        let (auth, source) = auth(Some(Duration::from_millis(200)));
        let tokens = futures_util::future::join_all((0..16).map(|_| auth.token())).await;
        assert!(tokens.iter().all(|token| token.as_ref().expect("a token").expose() == "tok-0"));
        assert_eq!(auth.token().await.expect("a token").expose(), "tok-0");
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
        tokio::time::sleep(Duration::from_millis(120)).await;
        assert_eq!(auth.token().await.expect("a token").expose(), "tok-1");
    }

    #[tokio::test]
    async fn a_caller_who_goes_away_leaves_the_question_to_the_next() {
        let (auth, source) = auth(None);
        assert!(tokio::time::timeout(Duration::from_millis(5), auth.token()).await.is_err());
        assert_eq!(auth.token().await.expect("a token").expose(), "tok-0");
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_refused_token_is_renewed_once_for_all_who_hold_it() {
        let (auth, source) = auth(None);
        let refused = auth.token().await.expect("a token");
        let renewed = futures_util::future::join_all((0..4).map(|_| auth.renew(&refused))).await;
        assert!(renewed.into_iter().all(|renewed| renewed.expect("an answer")));
        assert!(auth.renew(&refused).await.expect("an answer"));
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }
}
