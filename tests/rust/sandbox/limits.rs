//! Clients that are slow, silent, too many or too large, and a good one among them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dataaccess::sandbox::switches::Switches;
use dataaccess::sandbox::{Cell, Limits, Options};
use serde_json::json;

use crate::support::Controlled as _;

use super::wire::{SEARCH, Service, condition, customers, demo, items};

const SHORT: Duration = Duration::from_millis(300);

fn service(limits: Limits) -> Service {
    Service::start(Options { limits, ..demo() })
}

/// Bytes of the records of `with_much`.
const MUCH: usize = 24 * 1024 * 1024;

/// A service with customers that are more bytes than the buffers of the system hold.
fn with_much(limits: Limits) -> Service {
    let service = Service::start(Options { limits, ..Options::default() });
    let row = |number: usize| vec![Cell::from(format!("c-{number}")), "n".repeat(1024).into()];
    // In parts, none of which takes as long as a short limit.
    for part in 0..MUCH / 1024 / 512 {
        service.sandbox.load((part * 512..(part + 1) * 512).map(row)).unwrap();
    }
    service
}

/// How long the service kept a connection open, with what it said until then.
fn until_closed(stream: &mut TcpStream) -> (Duration, String) {
    let started = Instant::now();
    let mut said = Vec::new();
    // A connection that is cut off ends or is reset.
    let _ = stream.read_to_end(&mut said);
    (started.elapsed(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_client_beyond_the_limit_waits_for_its_turn() {
    let service = service(Limits { connections: 2, ..Limits::default() });
    let _delay = service.sandbox.begin(&json!({"kind": "delay", "seconds": (SHORT * 2).as_secs_f64(), "times": 2}));
    std::thread::scope(|scope| {
        let search = || service.records(&customers(&[vec![]])).len();
        let owed: Vec<_> = (0..2).map(|_| scope.spawn(search)).collect();
        // Nobody could look at the hits: both connections are taken.
        std::thread::sleep(SHORT / 2);
        let started = Instant::now();
        assert_eq!(search(), 2_025, "a third waits for its turn");
        assert!(started.elapsed() > SHORT);
        for thread in owed {
            assert_eq!(thread.join().unwrap(), 2_025);
        }
    });
}

#[test]
fn a_head_has_its_time_and_dripping_does_not_lengthen_it() {
    let service = service(Limits { head: SHORT, ..Limits::default() });
    let (waited, _) = until_closed(&mut service.connect());
    assert!((SHORT / 2..SHORT * 10).contains(&waited), "a connection that says nothing: {waited:?}");
    let mut stream = service.connect();
    stream.write_all(b"POST / HTTP/1.1\r\nX: ").unwrap();
    let started = Instant::now();
    while stream.write_all(b"y").is_ok() {
        assert!(started.elapsed() < SHORT * 20, "it drips for ever");
        std::thread::sleep(SHORT / 10);
    }
    assert!(started.elapsed() > SHORT / 2);
}

#[test]
fn a_kept_connection_has_the_time_of_a_head_for_its_next_request() {
    let service = service(Limits { head: SHORT * 2, ..Limits::default() });
    let mut stream = service.connect();
    let ask = |stream: &mut TcpStream| {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let read = stream.read(&mut [0; 4096]).unwrap();
        assert!(read > 100, "{read} bytes of a response");
    };
    for _ in 0..3 {
        ask(&mut stream);
        std::thread::sleep(SHORT);
    }
    stream.write_all(b"GET / ").unwrap();
    let (waited, _) = until_closed(&mut stream);
    assert!((SHORT / 2..SHORT * 8).contains(&waited), "the head of the next request: {waited:?}");
    let mut stream = service.connect();
    ask(&mut stream);
    let (waited, _) = until_closed(&mut stream);
    assert!((SHORT..SHORT * 10).contains(&waited), "the silence after a response: {waited:?}");
}

#[test]
fn a_body_has_its_time_and_is_reported() {
    let service = service(Limits { head: SHORT, body: SHORT, ..Limits::default() });
    let mut stream = service.connect();
    let token = &service.token;
    let head = format!("POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}");
    write!(stream, "{head}\r\nContent-Length: 10\r\n\r\n{{").unwrap();
    let (waited, said) = until_closed(&mut stream);
    assert!((SHORT / 2..SHORT * 10).contains(&waited), "{waited:?}");
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("did not arrive within 0.3 seconds"), "{said}");
}

#[test]
fn a_response_that_does_not_begin_in_time_is_given_up() {
    use dataaccess::sandbox::Clock;
    let clock = Clock::new(|| {
        if std::thread::current().name() == Some("dataaccess-sandbox-search") {
            std::thread::sleep(SHORT * 3);
        }
        std::time::SystemTime::now()
    });
    let limits = Limits { response: SHORT, ..Limits::default() };
    let service = Service::start(Options { limits, clock, ..demo() });
    let reply = service.post(SEARCH, &customers(&[vec![]]));
    reply.refuses(503, "sent no response within 0.3 seconds");
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[test]
fn configured_latency_does_not_count_towards_the_response_limit() {
    let limits = Limits { response: SHORT, ..Limits::default() };
    let switches = Switches { latency: SHORT * 2, ..Switches::default() };
    let service = Service::start(Options { limits, switches, ..demo() });
    let started = Instant::now();
    assert_eq!(service.records(&customers(&[vec![]])).len(), 2_025);
    assert!(started.elapsed() > SHORT * 2);
}

/// Sends a request whose response is more than the buffers of the system hold.
fn search_much(service: &Service) -> TcpStream {
    let body = items(-1003, "customer", &json!(["customer_id", "name"]), &[vec![]]).to_string();
    let mut stream = service.connect();
    let (token, length) = (&service.token, body.len());
    write!(
        stream,
        "POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

#[test]
fn a_slow_reader_keeps_its_response_however_long_it_takes() {
    let head = Duration::from_millis(100);
    let service = with_much(Limits { head, ..Limits::default() });
    let mut stream = search_much(&service);
    let mut read = vec![0; MUCH - 8 * 1024 * 1024];
    stream.read_exact(&mut read).expect("the first bytes");
    for _ in 0..40 {
        std::thread::sleep(head + head / 4);
        read.resize(200 * 1024, 0);
        stream.read_exact(&mut read).expect("a part, long after any time-out");
    }
    let (_, end) = until_closed(&mut stream);
    assert!(end.ends_with("}]}}\r\n0\r\n\r\n"), "{}", &end[end.len() - 40..]);
}

#[test]
fn what_comes_after_a_refusal_is_read_for_a_while_and_no_longer() {
    let service = service(Limits { head: SHORT, ..Limits::default() });
    let mut stream = service.connect();
    write!(stream, "POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n").unwrap();
    let started = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(started.elapsed() < SHORT * 20, "it is read for ever");
        std::thread::sleep(SHORT / 10);
    }
    assert!(started.elapsed() > SHORT / 2, "{:?}", started.elapsed());
}

#[test]
fn a_client_that_reads_nothing_of_its_response_is_closed() {
    let service = with_much(Limits { connections: 2, stall: SHORT, ..Limits::default() });
    let idle = [search_much(&service), search_much(&service)];
    let started = Instant::now();
    let one = customers(&[vec![condition("customer_id", "string", "matches", &json!(["c-0"]))]]);
    assert_eq!(service.records(&one).len(), 1);
    assert!((SHORT / 2..SHORT * 10).contains(&started.elapsed()), "{:?}", started.elapsed());
    std::thread::sleep(SHORT * 3);
    for mut stream in idle {
        assert!(until_closed(&mut stream).1.len() < MUCH);
    }
}

#[test]
fn a_head_may_have_a_hundred_headers_and_sixty_four_kilobytes() {
    let service = Service::demo();
    let host = format!("Host: {}", service.address());
    let status = |headers: &[String]| {
        let mut stream = service.connect();
        let head = headers.join("\r\n");
        let _ = write!(stream, "GET / HTTP/1.1\r\n{host}\r\nConnection: close\r\n{head}\r\n\r\n");
        until_closed(&mut stream).1.get(..12).map(str::to_owned)
    };
    let some = |count: usize| (0..count).map(|number| format!("X-{number}: y")).collect::<Vec<_>>();
    assert_eq!(status(&some(98)).as_deref(), Some("HTTP/1.1 404"));
    assert_eq!(status(&some(99)).as_deref(), Some("HTTP/1.1 431"));
    assert_eq!(status(&[format!("X: {}", "y".repeat(60 * 1024))]).as_deref(), Some("HTTP/1.1 404"));
    assert_eq!(status(&[format!("X: {}", "y".repeat(64 * 1024))]).as_deref(), Some("HTTP/1.1 431"));
}
