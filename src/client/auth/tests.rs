//! Tokens of a source that counts its fetches.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::error::Kind;

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(300);

/// Returns tokens with numbers after a pause, and counts the fetches. Those with these numbers fail or do not end.
#[derive(Debug)]
struct Source {
    fetches: AtomicUsize,
    pause: Duration,
    life: Option<Duration>,
    fails: Range<usize>,
    hangs: Range<usize>,
}

fn usual() -> Source {
    Source { fetches: AtomicUsize::new(0), pause: Duration::from_millis(20), life: None, fails: 0..0, hangs: 0..0 }
}

impl TokenSource for Source {
    fn fetch(&self, take: TakeGrant) -> Result<()> {
        let number = self.fetches.fetch_add(1, Ordering::SeqCst);
        let expires_at = self.life.map(|life| SystemTime::now() + life);
        let (pause, fails) = (self.pause, self.fails.contains(&number));
        if self.hangs.contains(&number) {
            return Ok(());
        }
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let token = Secret::try_new(format!("tok-{number}")).expect("a token");
            let failure = || Error::new(Kind::Config, "test failure").retryable();
            take(if fails { Err(failure()) } else { Ok(Grant { token, expires_at }) });
        });
        Ok(())
    }
}

fn auth_of(source: Source) -> (Auth, Arc<Source>) {
    let source = Arc::new(source);
    (Auth::new(source.clone()), source)
}

fn auth(life: Option<Duration>) -> (Auth, Arc<Source>) {
    auth_of(Source { life, ..usual() })
}

async fn token(auth: &Auth) -> String {
    auth.token(LONG).await.expect("a token").expose().to_owned()
}

/// Brings the times of the current token nearer, which are of the system clock, and lets a fetch end.
async fn pass(auth: &Auth, time: Duration) {
    {
        let mut state = lock(&auth.state);
        state.renew_at = state.renew_at.map(|at| at - time);
        state.current.iter_mut().for_each(|grant| grant.expires_at = grant.expires_at.map(|at| at - time));
    }
    tokio::time::sleep(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one_fetch_even_of_a_short_lived_token() {
    let (auth, source) = auth(Some(30 * SECOND));
    let tokens = futures_util::future::join_all((0..16).map(|_| token(&auth))).await;
    assert!(tokens.iter().all(|token| token == "tok-0"));
    assert_eq!(token(&auth).await, "tok-0");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_used_until_it_expires_while_the_next_is_fetched() {
    let (auth, source) = auth(Some(LONG));
    assert_eq!(token(&auth).await, "tok-0");
    pass(&auth, LONG / 2).await;
    assert_eq!(token(&auth).await, "tok-0", "no call waits for a renewal");
    pass(&auth, Duration::ZERO).await;
    assert_eq!(token(&auth).await, "tok-1");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_fails_or_hangs_costs_no_valid_token() {
    for (fails, hangs) in [(1..2, 0..0), (0..0, 1..2)] {
        let (auth, source) = auth_of(Source { life: Some(LONG), fails, hangs, ..usual() });
        assert_eq!(token(&auth).await, "tok-0");
        pass(&auth, LONG / 2).await;
        for _ in 0..3 {
            assert_eq!(token(&auth).await, "tok-0");
            pass(&auth, SECOND).await;
        }
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_hangs_times_out_after_a_minute_and_a_new_one_starts() {
    let (auth, source) = auth_of(Source { hangs: 0..1, ..usual() });
    let began = Instant::now();
    let error = auth.token(LONG).await.expect_err("a time-out");
    assert_eq!((error.kind(), error.is_retryable()), (Kind::RequestTimeout, true));
    assert_eq!(began.elapsed(), FETCH_TIMEOUT);
    assert_eq!(token(&auth).await, "tok-1");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gave_up_lets_the_next_one_fetch_anew() {
    let (auth, source) = auth_of(Source { hangs: 0..1, ..usual() });
    let began = Instant::now();
    assert!(auth.token(3 * SECOND).await.is_err());
    assert_eq!(began.elapsed(), 3 * SECOND);
    assert_eq!(token(&auth).await, "tok-1");
    assert!(began.elapsed() < 4 * SECOND);
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_gives_up_too() {
    let (auth, source) = auth_of(Source { hangs: 0..1, ..usual() });
    assert!(timeout(3 * SECOND, auth.token(LONG)).await.is_err());
    assert_eq!(token(&auth).await, "tok-1");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_source_serves_the_call_after_one_that_gave_up() {
    for (fails, expected, seconds) in [(0..0, "tok-0", 5), (0..1, "tok-1", 8)] {
        let (auth, source) = auth_of(Source { pause: 5 * SECOND, fails, ..usual() });
        let began = Instant::now();
        assert!(auth.token(3 * SECOND).await.is_err());
        assert_eq!(token(&auth).await, expected);
        assert_eq!(began.elapsed().as_secs(), seconds);
        assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
        assert_eq!(token(&auth).await, expected, "it is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_is_called_at_most_four_times_a_minute() {
    let (auth, source) = auth_of(Source { hangs: 0..usize::MAX, ..usual() });
    for _ in 0..19 {
        assert!(auth.token(3 * SECOND).await.is_err());
    }
    assert_eq!(source.fetches.load(Ordering::SeqCst), MAX_FETCHES);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_goes_on_after_its_caller_is_cancelled() {
    let (auth, source) = auth(None);
    assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
    assert_eq!(token(&auth).await, "tok-0");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_expired_before_anyone_took_it_is_not_sent() {
    let (auth, source) = auth(Some(LONG));
    assert!(timeout(Duration::from_millis(5), auth.token(LONG)).await.is_err());
    pass(&auth, Duration::ZERO).await;
    pass(&auth, LONG).await;
    assert_eq!(token(&auth).await, "tok-1");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_renewed_once_for_all_calls() {
    let (auth, source) = auth(None);
    let refused = auth.token(LONG).await.expect("a token");
    let renewed = futures_util::future::join_all((0..4).map(|_| async {
        auth.reject(&refused);
        token(&auth).await
    }));
    assert!(renewed.await.iter().all(|token| token == "tok-1"));
    auth.reject(&refused);
    assert_eq!(token(&auth).await, "tok-1");
    assert_eq!(source.fetches.load(Ordering::SeqCst), 2);
}
