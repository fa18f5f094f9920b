//! Calls of a client whose service is a function, on a paused clock.

mod outages;

use std::future::{pending, poll_fn, ready};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use futures_util::future::join_all;
use futures_util::{FutureExt, poll};

use super::*;
use crate::cells::Cells;
use crate::client::testing::{any_search, token};
use crate::client::{
    BufferBudget, Delivered, DeliveryMode, Grant, SearchMode, TakeGrant, TimeoutScope, TokenSource, TokenWait,
};
use crate::config::{Arguments, Settings};
use crate::contract::export::DownloadBody;
use crate::transport::{Reply, Respond, Step};

const SECOND: Duration = Duration::from_secs(1);
const OK: &str = r#"{"code": 200, "data": {"status": true, "data": []}}"#;

/// When each request arrived, since the test began.
type Arrivals = Arc<Mutex<Vec<Duration>>>;

/// A service whose reply follows from the number of the request, and the arrivals of its requests.
fn service(reply: impl Fn(usize) -> Result<Reply> + Send + Sync + 'static) -> (Respond, Arrivals) {
    let (began, arrivals) = (Instant::now(), Arrivals::default());
    let seen = Arc::clone(&arrivals);
    let respond = move |_: Bytes| {
        let mut seen = seen.lock().unwrap();
        seen.push(began.elapsed());
        ready(reply(seen.len() - 1)).boxed()
    };
    (Arc::new(respond), arrivals)
}

fn client(respond: Respond, set: impl FnOnce(&mut Arguments)) -> Arc<Client> {
    Client::of_service(respond, token().unwrap(), set).unwrap()
}

async fn post(client: &Client) -> Result<()> {
    client.post("/call", Bytes::from_static(b"{}"), true, None).await.map(drop)
}

fn seconds(arrivals: &Arrivals) -> Vec<u64> {
    arrivals.lock().unwrap().iter().map(Duration::as_secs).collect()
}

/// A connection that cannot be opened.
fn refused() -> Result<Reply> {
    Err(Error::new(Kind::Connect, "test failure").retryable())
}

#[tokio::test(start_paused = true)]
async fn a_request_is_retried_until_it_succeeds_or_its_time_is_over() {
    let (respond, arrivals) = service(|number| Ok(if number < 3 { Reply::status(500) } else { Reply::ok(OK) }));
    post(&client(respond, |_| {})).await.unwrap();
    assert_eq!(arrivals.lock().unwrap().len(), 4);

    let (respond, arrivals) = service(|_| Ok(Reply::status(500)));
    let error = post(&client(respond, |_| {})).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Server);
    assert_eq!(error.context().attempts as usize, arrivals.lock().unwrap().len());
    assert_eq!(error.context().history.len(), arrivals.lock().unwrap().len());
    assert_eq!(arrivals.lock().unwrap().last().map(Duration::as_secs), Some(60), "once more at the end");
    assert!(!error.is_of_all(), "one request may be to blame for a 500");
}

#[tokio::test(start_paused = true)]
async fn a_service_without_connections_fails_all() {
    let (respond, _) = service(|_| refused());
    let error = post(&client(respond, |arguments| arguments.retry_for = 2.0)).await.unwrap_err();
    assert!(error.is_of_all(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_cannot_be_reached_fails_soon_unless_it_responded_before() {
    let is_up = Arc::<AtomicBool>::default();
    let up = Arc::clone(&is_up);
    let (respond, _) = service(move |_| if up.load(Ordering::SeqCst) { Ok(Reply::ok(OK)) } else { refused() });
    let client = client(respond, |_| {});
    let began = Instant::now();
    let error = post(&client).await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 4);
    assert!(error.hint().unwrap().contains("base_url"), "{error:?}");

    is_up.store(true, Ordering::SeqCst);
    post(&client).await.unwrap();
    is_up.store(false, Ordering::SeqCst);
    let began = Instant::now();
    let error = post(&client).await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 60, "an outage");
    assert!(error.hint().unwrap().contains("retry_for (60 s)"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_poll_of_an_export_retries_the_first_contact_as_a_run_does() {
    let (respond, arrivals) = service(|_| refused());
    let export = DownloadBody { scope: "download", export_id: 1 };
    let error = client(respond, |_| {}).download(export, Some(600 * SECOND), true).await.unwrap_err();
    assert_eq!((error.kind(), seconds(&arrivals).last()), (Kind::Connect, Some(&60)));
}

#[tokio::test(start_paused = true)]
async fn any_response_is_a_first_contact() {
    let (respond, arrivals) = service(|number| if number == 0 { Ok(Reply::status(500)) } else { refused() });
    assert!(post(&client(respond, |_| {})).await.is_err());
    assert_eq!(seconds(&arrivals).last(), Some(&60));
}

#[tokio::test(start_paused = true)]
async fn a_given_retry_for_holds_for_the_first_contact() {
    let (respond, arrivals) = service(|_| refused());
    let set = |arguments: &mut Arguments| {
        arguments.retry_for = 30.0;
        arguments.sources.insert("retry_for".to_owned(), String::new());
    };
    assert!(post(&client(respond, set)).await.is_err());
    assert_eq!(seconds(&arrivals).last(), Some(&30));
}

#[tokio::test(start_paused = true)]
async fn no_request_starts_in_the_pause_that_one_was_asked_for() {
    let of_status = || Reply { retry_after: Some(30), ..Reply::status(429) };
    // The failure that an envelope reports with HTTP status 200 means the same.
    let of_envelope = || Reply { retry_after: Some(30), ..Reply::ok(r#"{"code": 429, "message": "slow down"}"#) };
    for slow_down in [of_status as fn() -> Reply, of_envelope] {
        let (respond, arrivals) = service(move |number| Ok(if number == 0 { slow_down() } else { Reply::ok(OK) }));
        let client = client(respond, |arguments| arguments.concurrency = Some(2));
        for outcome in join_all((0..20).map(|_| post(&client))).await {
            outcome.unwrap();
        }
        let seconds = seconds(&arrivals);
        assert_eq!(seconds.len(), 21);
        // The second was in flight.
        assert!(seconds.iter().filter(|second| **second < 30).count() <= 2, "{seconds:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_outwait_the_pause_of_another_fails_unsent_with_the_same_error() {
    let (respond, arrivals) = service(|_| Ok(Reply { retry_after: Some(600), ..Reply::status(429) }));
    let client = client(respond, |_| {});
    for attempts in [1, 0] {
        let error = post(&client).await.unwrap_err();
        assert_eq!((error.kind(), error.context().attempts), (Kind::Throttled, attempts));
    }
    assert_eq!(seconds(&arrivals), [0]);
}

#[tokio::test(start_paused = true)]
async fn starts_keep_their_distance_though_requests_wait_for_a_place() {
    let slow = || Reply { body: vec![Step::Wait(3 * SECOND), Step::Bytes(OK.into())], ..Reply::status(200) };
    let (respond, arrivals) = service(move |number| Ok(if number == 0 { slow() } else { Reply::ok(OK) }));
    let set = |arguments: &mut Arguments| {
        (arguments.concurrency, arguments.requests_per_second) = (Some(1), Some(2.0));
    };
    let client = client(respond, set);
    for outcome in join_all((0..4).map(|_| post(&client))).await {
        outcome.unwrap();
    }
    let arrivals = arrivals.lock().unwrap().clone();
    assert!(arrivals.windows(2).all(|pair| pair[1] >= pair[0] + SECOND / 2), "{arrivals:?}");
}

#[tokio::test(start_paused = true)]
async fn an_envelope_counts_as_what_it_takes_in_memory() {
    for (limit, field) in [(1 << 20, Some("result")), (2 << 20, None)] {
        let body = format!(r#"{{"code": 200, "data": [{}0]}}"#, "0,".repeat(20_000));
        let (respond, _) = service(move |_| Ok(Reply::ok(body.clone())));
        let outcome = post(&client(respond, |arguments| arguments.max_result_bytes = Some(limit))).await;
        assert_eq!(outcome.err().and_then(|error| error.details().field.clone()).as_deref(), field);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_may_have_arrived_is_sent_once_unless_it_is_idempotent() {
    let lost = || Error::new(Kind::ConnectionLost, "test failure").retryable();
    let (respond, arrivals) = service(move |_| Err(lost()));
    let client = client(respond, |_| {});
    assert!(client.post("/call", Bytes::from_static(b"{}"), false, None).await.is_err());
    assert_eq!(arrivals.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_timeout_names_what_was_waited_for() {
    // In a back-off, and while the next attempt waits for its turn.
    for requests_per_second in [None, Some(0.1)] {
        let (respond, _) = service(|_| Ok(Reply::status(500)));
        let set = |arguments: &mut Arguments| {
            (arguments.timeout, arguments.requests_per_second) = (5.0, requests_per_second);
        };
        let error = post(&client(respond, set)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Server, "the last failure");
        assert!(error.hint().unwrap().contains("timeout (5 s)"), "{error:?}");
    }

    let respond: Respond = Arc::new(|_| pending().boxed());
    let client = client(respond, |arguments| (arguments.timeout, arguments.concurrency) = (5.0, Some(1)));
    let timeouts = [5, 3].map(|timeout| Some(timeout * SECOND));
    let posts = timeouts.map(|timeout| client.post("/call", Bytes::from_static(b"{}"), true, timeout));
    let errors: Vec<Error> = join_all(posts).await.into_iter().map(Result::unwrap_err).collect();
    assert_eq!(errors[0].details().phase, Some(Phase::Headers));
    assert!(errors[0].message().ends_with("5 s") && errors[1].message().ends_with("(concurrency)"), "{errors:?}");
}

/// Gives another token each time; the token with the number `hangs` never comes, and from the number `fails` on none can
/// be fetched.
#[derive(Debug, Default)]
struct Tokens {
    given: AtomicUsize,
    hangs: Option<usize>,
    fails: Option<usize>,
}

impl TokenSource for Tokens {
    fn fetch(&self, take: TakeGrant) -> Result<()> {
        let number = self.given.fetch_add(1, Ordering::SeqCst);
        if self.fails.is_some_and(|fails| number >= fails) {
            return Err(Error::new(Kind::Config, "test failure"));
        }
        if self.hangs != Some(number) {
            take(Secret::try_new(format!("tok-{number}")).map(|token| Grant { token, expires_at: None }));
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_retried_by_its_status_and_by_how_much_of_its_body_arrived() {
    const MANY: u32 = 3;
    let begun = r#"{"code": 200, "data": {"#;
    // The attempts of a first call, and of one after a success.
    for (status, body, is_lost, kind, attempts) in [
        (200, "", false, Kind::TruncatedResponse, [2, MANY]),
        (200, "<html>", false, Kind::NotJson, [1, MANY]),
        (200, begun, false, Kind::TruncatedResponse, [MANY; 2]),
        (403, begun, true, Kind::TruncatedResponse, [MANY; 2]),
        (404, begun, true, Kind::RequestRejected, [1; 2]),
    ] {
        for (succeeded, attempts) in attempts.into_iter().enumerate() {
            let reply = move || {
                let steps = [Some(Step::Bytes(body.into())), is_lost.then_some(Step::Lost)];
                Reply { body: steps.into_iter().flatten().collect(), ..Reply::status(status) }
            };
            let (respond, _) = service(move |number| Ok(if number < succeeded { Reply::ok(OK) } else { reply() }));
            let client = client(respond, |_| {});
            for _ in 0..succeeded {
                post(&client).await.unwrap();
            }
            let error = post(&client).await.unwrap_err();
            assert_eq!((error.kind(), error.context().attempts.min(MANY)), (kind, attempts), "{status} {body}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_renewed_once() {
    for (refusals, requests) in [(1, 2), (9, 2)] {
        let (respond, arrivals) =
            service(move |number| Ok(if number < refusals { Reply::status(401) } else { Reply::ok(OK) }));
        let client = Client::of_service(respond, Arc::new(Tokens::default()), |_| {}).unwrap();
        let outcome = post(&client).await;
        assert_eq!(arrivals.lock().unwrap().len(), requests);
        match outcome {
            Ok(()) => assert_eq!(refusals, 1),
            Err(error) => assert!(error.kind() == Kind::PermissionDenied && error.is_of_all(), "{error:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_token_was_refused_while_it_waited_is_not_sent_without_another() {
    let (respond, arrivals) = service(|_| Ok(Reply::status(401)));
    let set = |arguments: &mut Arguments| arguments.requests_per_second = Some(1.0);
    let tokens = Tokens { fails: Some(1), ..Tokens::default() };
    let client = Client::of_service(respond, Arc::new(tokens), set).unwrap();
    for outcome in join_all([post(&client), post(&client)]).await {
        assert_eq!(outcome.unwrap_err().kind(), Kind::Config);
    }
    assert_eq!(seconds(&arrivals), [0]);
}

/// A search with its delivery, whose batches have a megabyte of text.
struct Searching {
    client: Arc<Client>,
    mode: SearchMode,
    delivery: Delivery<crate::cells::Block>,
}

impl Searching {
    fn new(client: Arc<Client>, mode: DeliveryMode, index: usize, budget: &Arc<BufferBudget>) -> Self {
        let scope = TimeoutScope::EachToFirstRow(Instant::now());
        let (timeout, is_patient, token_wait) = (None, true, None);
        let mode = SearchMode { operation: "search", delivery: mode, scope, timeout, is_patient, token_wait };
        let delivery = Delivery::new(index, mode.delivery, Arc::clone(budget));
        Self { client, mode, delivery }
    }

    async fn run(&self) -> Result<Completed> {
        self.client.search(self.mode.clone(), &any_search(), &|| Cells::new(1), &self.delivery).await
    }

    /// The number of the attempt of the next batch.
    async fn next(&self) -> Option<u32> {
        poll_fn(|context| self.delivery.poll(context)).await.map(|Delivered { attempt, .. }| attempt)
    }
}

/// The parts of a response with this number of batches, and a little more.
fn batches(count: usize) -> Vec<Step> {
    let record = format!(r#"{{"n": "{}"}},"#, "x".repeat(1 << 20));
    let mut body = vec![Step::Bytes(r#"{"code": 200, "data": {"status": true, "data": ["#.into())];
    body.extend((0..count).map(|_| Step::Bytes(record.clone().into())));
    body
}

fn whole(count: usize) -> Reply {
    let mut body = batches(count);
    body.push(Step::Bytes(r#"{"n": "last"}]}}"#.into()));
    Reply { body, ..Reply::status(200) }
}

fn cut_off(count: usize) -> Reply {
    let mut body = batches(count);
    // So that the consumer takes what has arrived.
    body.extend([Step::Wait(SECOND), Step::Lost]);
    Reply { body, ..Reply::status(200) }
}

fn budget(limit: usize) -> Arc<BufferBudget> {
    Arc::new(BufferBudget::new(limit, 4 * SECOND))
}

#[tokio::test(start_paused = true)]
async fn a_retry_numbers_its_batches_anew() {
    let (respond, _) = service(|number| Ok(if number == 0 { cut_off(2) } else { whole(1) }));
    let searching = Searching::new(client(respond, |_| {}), DeliveryMode::Replaceable, 0, &budget(usize::MAX));
    let consume = async {
        let mut attempts = Vec::new();
        while let Some(attempt) = searching.next().await {
            attempts.push(attempt);
        }
        attempts
    };
    let (completed, attempts) = tokio::join!(searching.run(), consume);
    assert_eq!(completed.unwrap().attempts, 2);
    assert_eq!(attempts, [0, 0, 1, 1]);
    assert_eq!(searching.delivery.attempt(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_response_whose_batch_was_taken_is_not_retried_where_rows_are_final() {
    let (respond, arrivals) = service(|_| Ok(cut_off(2)));
    let searching = Searching::new(client(respond, |_| {}), DeliveryMode::Streamed { held: 0 }, 0, &budget(usize::MAX));
    let consume = async {
        searching.next().await;
        pending::<()>().await;
    };
    let error = tokio::select! {
        outcome = searching.run() => outcome.unwrap_err(),
        () = consume => unreachable!(),
    };
    assert_eq!(error.kind(), Kind::TruncatedResponse);
    assert_eq!(arrivals.lock().unwrap().len(), 1);
    assert_eq!(searching.next().now_or_never(), Some(Some(0)), "what arrived before the failure is good");
}

#[tokio::test(start_paused = true)]
async fn rows_that_arrive_end_a_timeout_unless_it_is_of_the_whole_call() {
    let now = Instant::now();
    for (scope, expected) in [
        (TimeoutScope::WholeSince(now), Err("no complete response within 5 s")),
        (TimeoutScope::ToFirstRow, Ok(())),
        (TimeoutScope::EachToFirstRow(now), Ok(())),
    ] {
        let slow = |mut reply: Reply| {
            reply.body.insert(2, Step::Wait(9 * SECOND));
            reply
        };
        let (respond, _) = service(move |_| Ok(slow(whole(1))));
        let searching = Searching::new(client(respond, |_| {}), DeliveryMode::Complete, 0, &budget(usize::MAX));
        let mode = SearchMode { scope, timeout: Some(5 * SECOND), ..searching.mode };
        let outcome = Searching { mode, ..searching }.run().await;
        assert_eq!(outcome.as_ref().map(drop).map_err(Error::message), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_ends_in_flight_names_the_failure_before() {
    let hangs = || Reply { body: vec![Step::Wait(9 * SECOND)], ..Reply::status(200) };
    let (respond, _) = service(move |number| Ok(if number == 0 { Reply::status(500) } else { hangs() }));
    let searching = Searching::new(client(respond, |_| {}), DeliveryMode::Complete, 0, &budget(usize::MAX));
    let mode = SearchMode { timeout: Some(5 * SECOND), ..searching.mode };
    let error = Searching { mode, ..searching }.run().await.unwrap_err();
    assert_eq!((error.kind(), error.context().attempts), (Kind::RequestTimeout, 2));
    assert!(error.hint().unwrap().contains("ServerError: "), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_dropped_for_space_is_no_failure() {
    let (respond, arrivals) = service(|_| Ok(whole(3)));
    let full = budget(1);
    full.set_open(0, 1);
    let searching = Searching::new(client(respond, |_| {}), DeliveryMode::Streamed { held: 0 }, 1, &full);
    assert!(searching.run().await.is_err() && searching.delivery.is_evicted());
    assert!(searching.client.shared_limits.gate().failing_since().is_none());
    assert_eq!((arrivals.lock().unwrap().len(), full.used()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_response_whose_consumer_is_slow_gives_up_its_place() {
    let (respond, _) = service(|_| Ok(whole(3)));
    let client = client(respond, |arguments| arguments.concurrency = Some(1));
    let searching = Searching::new(client, DeliveryMode::Streamed { held: 0 }, 0, &budget(usize::MAX));
    let mut run = pin!(searching.run());
    while poll!(run.as_mut()).is_pending() && searching.delivery.total_bytes() < 2 << 20 {
        tokio::task::yield_now().await;
    }
    assert!(poll!(run.as_mut()).is_pending(), "it waits for its consumer");
    post(&searching.client).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_token_is_limited_while_the_call_is_in_flight() {
    let (respond, _) = service(|_| Ok(Reply::status(401)));
    let tokens = Tokens { hangs: Some(1), ..Tokens::default() };
    let token_wait = Arc::<TokenWait>::default();
    let client = Client::of_service(respond, Arc::new(tokens), |_| {}).unwrap();
    let searching = Searching::new(client, DeliveryMode::Complete, 0, &budget(usize::MAX));
    let mode = SearchMode { token_wait: Some(Arc::clone(&token_wait)), ..searching.mode };
    let searching = Searching { mode, ..searching };
    token_wait.set(5 * SECOND, "take it otherwise");
    let began = Instant::now();
    let error = searching.run().await.unwrap_err();
    assert_eq!((error.hint(), began.elapsed()), (Some("take it otherwise"), 5 * SECOND));
}

/// What a service sends that closes its connections.
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 35\r\n\r\n{\"code\":200,\"message\":\"\",\"data\":{}}";

#[tokio::test]
async fn a_request_that_must_not_be_repeated_uses_no_connection_that_closed_while_the_runtime_was_busy() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", server.local_addr().expect("its address"));
    thread::spawn(move || {
        for connection in server.incoming() {
            let mut connection = connection.expect("a connection");
            assert!(connection.read(&mut [0; 4096]).expect("a request") > 0);
            connection.write_all(RESPONSE).expect("a client that reads");
            thread::sleep(Duration::from_millis(20));
        }
    });
    let arguments = Arguments { base_url: Some(address), ..crate::config::tests::arguments() };
    let settings = Settings::resolve(arguments, |_| None).expect("settings");
    let token = Arc::new(Secret::try_new("tok".to_owned()).expect("a token"));
    let client = Client::try_new(settings, token, None).expect("a client");
    for _ in 0..5 {
        client.post("/any", "{}".into(), false, None).await.expect("a response");
        // Blocks the runtime while the service closes the connection.
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(client.stats().connections_opened.load(Ordering::SeqCst), 5);
}
