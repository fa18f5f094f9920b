//! What a client sends to a service that is down, and when it ends: on a paused clock, at several concurrencies.

use futures_util::stream::{self, StreamExt as _};

use super::*;
use crate::observe::{Observer, observed};

const CONCURRENCIES: [i64; 4] = [1, 8, 16, 64];
const MINUTE: Duration = Duration::from_secs(60);

/// How a service fails.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Unavailable,
    Refused,
    EnvelopeCode,
    LateCode,
    Cut,
    SlowDown,
    Asked(u64),
}

impl Fault {
    /// Each fault, at each concurrency.
    fn all() -> impl Iterator<Item = (Self, i64)> {
        use Fault::{Asked, Cut, EnvelopeCode, LateCode, Refused, SlowDown, Unavailable};
        let all = [Unavailable, Refused, EnvelopeCode, LateCode, Cut, SlowDown, Asked(1)];
        all.into_iter().flat_map(|fault| CONCURRENCIES.map(move |concurrency| (fault, concurrency)))
    }

    fn reply(self) -> Result<Reply> {
        let rows = r#"{"code": 200, "data": {"status": true, "data": [{"n": "1"},"#;
        match self {
            Self::Unavailable => Ok(Reply::status(503)),
            Self::Refused => Err(Error::new(Kind::Connect, "test failure").retryable()),
            Self::EnvelopeCode => Ok(Reply::ok(r#"{"code": 500, "message": "broken"}"#)),
            Self::LateCode => Ok(Reply::ok(r#"{"data": {"status": true, "data": [{"n": "1"}]}, "code": 500}"#)),
            Self::Cut => Ok(Reply { body: vec![Step::Bytes(rows.into()), Step::Lost], ..Reply::status(200) }),
            Self::SlowDown => Ok(Reply::status(429)),
            Self::Asked(seconds) => Ok(Reply { retry_after: Some(seconds), ..Reply::status(503) }),
        }
    }
}

/// What came of a run.
#[derive(Debug)]
struct Seen {
    /// When each request came that failed, and each that succeeded.
    failed: Vec<Duration>,
    good: Vec<Duration>,
    lines: usize,
    ended: Duration,
    errors: Vec<Error>,
}

impl Seen {
    /// Most requests that failed within a time of this length.
    fn most_within(&self, time: Duration) -> usize {
        let from = |first: &Duration| self.failed.iter().filter(|at| *at >= first && **at < *first + time).count();
        self.failed.iter().map(from).max().unwrap_or(0)
    }
}

/// Runs `tasks` requests of one run, `concurrency` at a time, until one fails for all. The service fails in a time.
async fn run(fault: Fault, concurrency: i64, retry_for: Duration, tasks: usize, down: [Duration; 2]) -> Seen {
    let began = Instant::now();
    let seen = Arc::new(std::sync::Mutex::new([Vec::new(), Vec::new()]));
    let all = Arc::clone(&seen);
    let respond: Respond = Arc::new(move |_: Bytes| {
        let all = Arc::clone(&all);
        async move {
            let at = began.elapsed();
            let is_down = (down[0]..down[1]).contains(&at);
            all.lock().unwrap()[usize::from(!is_down)].push(at);
            // A service takes a little while.
            tokio::time::sleep(SECOND / 50).await;
            if is_down { fault.reply() } else { Ok(Reply::ok(OK)) }
        }
        .boxed()
    });
    let set = |arguments: &mut Arguments| {
        (arguments.concurrency, arguments.retry_for) = (Some(concurrency), retry_for.as_secs_f64());
    };
    let client = client(respond, set);
    let (observer, mut lines) = Observer::new(false, false);
    let one = |_| {
        let searching = Searching::new(Arc::clone(&client), DeliveryMode::Complete, 0, &budget(usize::MAX));
        let mode = SearchMode { scope: TimeoutScope::EachToFirstRow(began), ..searching.mode };
        async move { Searching { mode, ..searching }.run().await }
    };
    let mut errors = Vec::new();
    let running = async {
        let width = usize::try_from(concurrency).unwrap();
        let mut outcomes = stream::iter(0..tasks).map(one).buffer_unordered(width);
        while let Some(outcome) = outcomes.next().await {
            let Err(error) = outcome else { continue };
            let ends = error.is_of_all();
            errors.push(error);
            if ends {
                break;
            }
        }
    };
    let reading = async {
        let mut count = 0;
        while lines.recv().await.is_some() {
            count += 1;
        }
        count
    };
    let ((), lines) = tokio::join!(observed(Some(observer), running), reading);
    let [failed, good] = std::mem::take(&mut *seen.lock().unwrap());
    Seen { failed, good, lines, ended: began.elapsed(), errors }
}

#[tokio::test(start_paused = true)]
async fn twenty_minutes_of_outage_cost_few_requests_and_lines() {
    for (fault, concurrency) in Fault::all() {
        let outage = 20 * MINUTE;
        let seen = run(fault, concurrency, 30 * MINUTE, 100, [Duration::ZERO, outage]).await;
        let [five, minute] = [5, 60].map(|seconds| seen.most_within(SECOND * seconds));
        assert!(seen.errors.is_empty() && seen.good.len() == 100, "{fault:?} at {concurrency}: {seen:?}");
        let is_quiet = seen.failed.len() <= 60 && seen.lines <= seen.failed.len();
        assert!(is_quiet, "{fault:?} at {concurrency}: {seen:?}");
        let back = seen.good.first().map(|first| first.saturating_sub(outage));
        assert!(back <= Some(30 * SECOND), "{fault:?} at {concurrency}: {back:?}");
        assert!(concurrency > 1 || five <= 8 && minute <= 15, "{fault:?}: {five} in 5 s, {minute} in 60 s");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_in_the_middle_costs_those_in_flight_and_few_more() {
    for (fault, concurrency) in Fault::all() {
        let down = [SECOND, SECOND + 20 * MINUTE];
        let in_flight = usize::try_from(concurrency).unwrap();
        let seen = run(fault, concurrency, 30 * MINUTE, in_flight * 100, down).await;
        assert!(seen.errors.is_empty(), "{fault:?} at {concurrency}: {:?}", seen.errors.first());
        assert!(seen.failed.len() <= in_flight + 60, "{fault:?} at {concurrency}: {:?}", seen.failed);
        let back = seen.good.iter().find(|at| **at >= down[1]).map(|first| first.saturating_sub(down[1]));
        assert!(back.is_some_and(|back| back <= 30 * SECOND), "{fault:?} at {concurrency}: {back:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_once_when_the_service_has_failed_for_retry_for() {
    for (fault, concurrency) in Fault::all() {
        for down in [Duration::ZERO, SECOND] {
            let tasks = usize::try_from(concurrency).unwrap() * 100;
            let seen = run(fault, concurrency, 5 * SECOND, tasks, [down, 600 * MINUTE]).await;
            let took = seen.ended.saturating_sub(down);
            assert!(seen.errors.last().is_some_and(Error::is_of_all), "{fault:?} at {concurrency}: {:?}", seen.errors);
            assert!(took >= 4 * SECOND && took < 7 * SECOND, "{fault:?} at {concurrency}, down at {down:?}: {took:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_longer_than_retry_for_ends_a_run_at_once() {
    for concurrency in CONCURRENCIES {
        let seen = run(Fault::Asked(300), concurrency, MINUTE, 365, [Duration::ZERO, 600 * MINUTE]).await;
        assert!(seen.errors.last().is_some_and(Error::is_of_all));
        assert!(seen.failed.len() <= 8 && seen.ended < SECOND, "{:?}", seen.failed);
    }
}
