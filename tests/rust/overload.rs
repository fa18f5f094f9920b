//! Many callers and one service on a clock that only the test turns: what the client's loop of attempts comes to when many
//! calls share a client.
//!
//! Chance is seeded, so a run is always the same.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use dataaccess::client::Client;
use dataaccess::secret::Secret;
use dataaccess::transport::Reply;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);
const LATENCY: Duration = Duration::from_millis(20);

/// The service's response: success, or a status with a `Retry-After`.
type Response = Result<(), (u16, Option<Duration>)>;

/// Uniform in 0 to 1 (splitmix64).
struct Dice(AtomicU64);

impl Dice {
    fn throw(&self) -> f64 {
        let mut mixed = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
        let fraction = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        fraction
    }
}

/// A request or the beginning of a call, at a time since the start.
#[derive(Clone, Copy)]
enum Seen {
    Call(Duration),
    Request(Duration, bool),
}

struct World {
    start: Instant,
    client: Arc<Client>,
    dice: Dice,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl World {
    fn new(concurrency: usize, service: impl FnMut(Duration) -> Response + Send + 'static) -> Self {
        let (start, service) = (Instant::now(), Arc::new(Mutex::new(service)));
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let all = Arc::clone(&seen);
        let respond = move |_: Bytes| {
            let (service, seen) = (Arc::clone(&service), Arc::clone(&all));
            let replying = async move {
                sleep(LATENCY).await;
                let at = start.elapsed();
                let response = (service.lock().unwrap())(at);
                seen.lock().unwrap().push(Seen::Request(at, response.is_ok()));
                Ok(match response {
                    Ok(()) => Reply::ok(r#"{"code": 200, "data": {"status": true}}"#),
                    Err((status, asked)) => {
                        Reply { retry_after: asked.map(|asked| asked.as_secs()), ..Reply::status(status) }
                    }
                })
            };
            Box::pin(replying) as _
        };
        let token = Arc::new(Secret::try_new("tok-overload".to_owned()).unwrap());
        let limit = i64::try_from(concurrency).unwrap();
        let client = Client::of_service(Arc::new(respond), token, |arguments| arguments.concurrency = Some(limit));
        Self { start, client: client.unwrap(), dice: Dice(AtomicU64::new(7)), seen }
    }

    /// Runs `callers`, who call again and again with thoughts between, until the time is over.
    async fn run(self, callers: usize, thought: Duration, time: Duration) -> Self {
        let world = Arc::new(self);
        let mut tasks = JoinSet::new();
        for _ in 0..callers {
            let world = world.clone();
            tasks.spawn(async move {
                while world.start.elapsed() < time {
                    sleep(thought.mul_f64(world.dice.throw())).await;
                    world.seen.lock().unwrap().push(Seen::Call(world.start.elapsed()));
                    // A call that gives up is seen by its requests.
                    drop(world.client.post("/call", Bytes::from_static(b"{}"), true, None).await);
                }
            });
        }
        tasks.join_all().await;
        Arc::into_inner(world).unwrap()
    }

    /// Calls begun, requests accepted and requests refused within a time.
    fn between(&self, from: Duration, to: Duration) -> (u32, u32, u32) {
        let (mut calls, mut good, mut bad) = (0, 0, 0);
        for seen in self.seen.lock().unwrap().iter() {
            match seen {
                Seen::Call(at) if (from..to).contains(at) => calls += 1,
                Seen::Request(at, true) if (from..to).contains(at) => good += 1,
                Seen::Request(at, false) if (from..to).contains(at) => bad += 1,
                _ => {}
            }
        }
        (calls, good, bad)
    }
}

/// Down from the tenth to the fortieth second.
fn outage(status: u16) -> impl FnMut(Duration) -> Response {
    move |at| if (10 * SECOND..40 * SECOND).contains(&at) { Err((status, None)) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_not_made_worse_and_its_end_is_no_storm() {
    for (status, concurrency) in [(503, 8), (503, 64), (500, 8), (500, 64)] {
        let world = World::new(concurrency, outage(status)).run(256, SECOND, 90 * SECOND).await;
        let (_, _, bad) = world.between(SECOND, 10 * SECOND);
        assert_eq!(bad, 0);

        // Those in flight, and then one at a time.
        let (_, _, bad) = world.between(10 * SECOND, 12 * SECOND);
        assert!(bad as usize <= concurrency + 8, "{bad} requests at the beginning of the outage");
        let (_, good, bad) = world.between(12 * SECOND, 40 * SECOND);
        assert!(good == 0 && (1..=10).contains(&bad), "{bad} requests during the outage");

        // The service takes `concurrency` requests at a time, each for `LATENCY`, as before the outage.
        for tenth in 400..600 {
            let (_, good, _) = world.between(tenth * SECOND / 10, (tenth + 1) * SECOND / 10);
            assert!(good as usize <= concurrency * 5, "{good} requests in a tenth of a second after it");
        }
        let (calls, good, bad) = world.between(60 * SECOND, 90 * SECOND);
        assert!(bad == 0 && good.abs_diff(calls) <= 256, "{good} of {calls} calls went well after it");
        assert!(good > 5_000, "{good} calls went well after it");
    }
}

#[tokio::test(start_paused = true)]
async fn a_few_failures_among_many_calls_hold_up_none() {
    let mut number = 0_u32;
    let fifth = move |_| {
        number += 1;
        if number.is_multiple_of(5) { Err((500, None)) } else { Ok(()) }
    };
    let world = World::new(256, fifth).run(256, SECOND / 10, 60 * SECOND).await;
    let (calls, good, _) = world.between(Duration::ZERO, 600 * SECOND);
    assert_eq!(good, calls);
    assert!(calls > 70_000, "{calls} calls");
}

/// Takes 20 requests a second: from a bucket of so many, or as many within each second of the clock.
fn limited(from_bucket: bool, asked: Option<Duration>) -> impl FnMut(Duration) -> Response {
    let (mut left, mut last) = (20.0, Duration::ZERO);
    move |at| {
        if from_bucket {
            left = f64::min(20.0, left + 20.0 * at.saturating_sub(last).as_secs_f64());
        } else if at.as_secs() != last.as_secs() {
            left = 20.0;
        }
        last = at;
        if left < 1.0 {
            return Err((429, asked));
        }
        left -= 1.0;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn many_tasks_find_the_rate_that_a_service_allows() {
    for from_bucket in [true, false] {
        for asked in [None, Some(Duration::ZERO), Some(SECOND)] {
            let world = World::new(64, limited(from_bucket, asked)).run(64, Duration::ZERO, 70 * SECOND).await;
            let (_, good, bad) = world.between(10 * SECOND, 70 * SECOND);
            let share = f64::from(bad) / f64::from(good + bad);
            let counts = format!("bucket: {from_bucket}, asked: {asked:?}: {good} good, {bad} bad");
            assert!(share < 0.05, "{counts}");
            assert!(f64::from(good) > 0.7 * 20.0 * 60.0, "{counts}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_no_longer_objects_gets_what_is_asked_of_it() {
    let mut before = limited(true, None);
    let service = move |at: Duration| if at < 20 * SECOND { before(at) } else { Ok(()) };
    let world = World::new(64, service).run(64, Duration::ZERO, 120 * SECOND).await;
    let rate = |from: u32| world.between(from * SECOND, (from + 10) * SECOND).1 / 10;
    let rates: Vec<u32> = [20, 50, 80, 110].map(rate).to_vec();
    assert!(rates.is_sorted(), "{rates:?}");
    assert!(rates[3] > 80, "{rates:?}");
}
