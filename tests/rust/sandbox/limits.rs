//! Clients that are slow, silent, too many or too large, and a good one among them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dataaccess::sandbox::switches::Switches;
use dataaccess::sandbox::{Fault, FaultKind, Limits, Options};
use serde_json::{Value, json};

use super::wire::{SEARCH, Service, allocated_time, codes, condition, customers, demo, matches};

const SHORT: Duration = Duration::from_millis(300);

fn service(limits: Limits) -> Service {
    Service::start(Options { limits, ..demo() })
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
fn sockets_that_drip_do_not_keep_a_good_client_out() {
    // Twice the limit, none of which ever completes a request.
    let service = service(Limits { connections: 16, ..Limits::default() });
    let mut slow: Vec<TcpStream> = (0..32).map(|_| service.connect()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        let head = format!("POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\n");
        let half_a_body = format!("{head}Content-Length: 100\r\n\r\n{{");
        let _ = stream.write_all(if number % 2 == 0 { head.as_bytes() } else { half_a_body.as_bytes() });
    }
    for _ in 0..5 {
        for stream in &mut slow {
            let _ = stream.write_all(b"x");
        }
        let started = Instant::now();
        assert_eq!(service.records(&customers(&[vec![]])).len(), 2_025);
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
    let mut first = slow.swap_remove(0);
    let (waited, _) = until_closed(&mut first);
    assert!(waited < Duration::from_secs(1), "the first to come was the first to go, not after {waited:?}");
}

#[test]
fn a_connection_that_awaits_a_response_is_not_replaced() {
    let service = service(Limits { connections: 2, ..Limits::default() });
    let delay = service.sandbox.inject(Fault::new(FaultKind::Delay(SHORT * 2)).times(2)).unwrap();
    std::thread::scope(|scope| {
        let search = || service.records(&customers(&[vec![]])).len();
        let owed: Vec<_> = (0..2).map(|_| scope.spawn(search)).collect();
        while delay.hits() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
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
fn a_kept_connection_may_be_silent_for_longer_than_a_head_may_take() {
    let service = service(Limits { head: SHORT, keep_alive: SHORT * 4, ..Limits::default() });
    let mut stream = service.connect();
    let ask = |stream: &mut TcpStream| {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let read = stream.read(&mut [0; 4096]).unwrap();
        assert!(read > 100, "{read} bytes of a response");
    };
    ask(&mut stream);
    std::thread::sleep(SHORT * 2);
    ask(&mut stream);
    stream.write_all(b"GET / ").unwrap();
    let (waited, _) = until_closed(&mut stream);
    assert!((SHORT / 2..SHORT * 3).contains(&waited), "the head of the next request: {waited:?}");
    let mut stream = service.connect();
    ask(&mut stream);
    let (waited, _) = until_closed(&mut stream);
    assert!((SHORT * 3..SHORT * 20).contains(&waited), "the silence after a response: {waited:?}");
}

#[test]
fn a_body_has_its_time_and_is_reported() {
    let service = service(Limits { body: SHORT, ..Limits::default() });
    let mut stream = service.connect();
    write!(stream, "POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{{").unwrap();
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

#[test]
fn a_slow_reader_keeps_its_response_however_long_it_takes() {
    let limits = Limits { head: SHORT, keep_alive: SHORT, ..Limits::default() };
    let service = service(limits);
    let (searches, expected) = many_searches(&service);
    let mut stream = service.connect();
    stream.write_all(searches.as_bytes()).unwrap();
    std::thread::sleep(SHORT * 4);
    let mut read = vec![0; expected];
    stream.read_exact(&mut read).expect("all of it, long after any time-out");
}

#[test]
fn what_comes_after_a_refusal_is_read_for_a_while_and_no_longer() {
    let service = service(Limits { linger: SHORT, ..Limits::default() });
    let mut stream = service.connect();
    write!(stream, "POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n").unwrap();
    let started = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(started.elapsed() < SHORT * 20, "it is read for ever");
        std::thread::sleep(SHORT / 10);
    }
    assert!(started.elapsed() > SHORT / 2, "{:?}", started.elapsed());
}

/// A search whose response is asked for so often that no buffer of the system holds all of it.
fn many_searches(service: &Service) -> (String, usize) {
    let body = codes(&json!(["id", "name"]), &[allocated_time("after_date", "2024-01-01T00:00:00Z")]);
    let request = format!(
        "POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        service.token,
        body.to_string().len()
    );
    (request.repeat(60), service.post(SEARCH, &body).body.len() * 60)
}

#[test]
fn a_client_that_reads_nothing_of_its_response_is_replaced() {
    let service = service(Limits { connections: 4, stall: SHORT, ..Limits::default() });
    let (searches, expected) = many_searches(&service);
    let mut idle: Vec<TcpStream> = (0..4).map(|_| service.connect()).collect();
    for stream in &mut idle {
        stream.write_all(searches.as_bytes()).unwrap();
    }
    std::thread::sleep(SHORT * 3);
    let started = Instant::now();
    for _ in 0..2 {
        assert_eq!(service.records(&customers(&[vec![]])).len(), 2_025);
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let mut responses = vec![0; expected];
    let whole = idle.iter_mut().map(|stream| stream.read_exact(&mut responses).is_ok());
    let whole = whole.filter(|is_whole| *is_whole);
    assert_eq!(whole.count(), 3, "the places of the others were not needed");
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

#[test]
fn a_member_that_comes_twice_is_refused() {
    let service = Service::demo();
    let bearer = format!("Authorization: Bearer {}", service.token);
    let body = customers(&[vec![]]).to_string();
    assert_eq!(service.post_as(&bearer, SEARCH, &body).status, 200);
    for (once, twice, name) in [
        ("\"itemTypeId\":", "\"itemTypeId\":-100,\"itemTypeId\":", "itemTypeId"),
        ("\"AND\":", "\"AND\":[],\"AND\":", "AND"),
    ] {
        let reply = service.post_as(&bearer, SEARCH, &body.replace(once, twice));
        reply.refuses(400, &format!("the body: member `{name}` occurs twice at line 1 column"));
    }
}

#[test]
fn bodies_too_deep_or_with_too_much_in_them_are_refused_as_malformed() {
    let service = Service::demo();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let bearer = format!("Authorization: Bearer {}", service.token);
    let send = |body: &str| service.post_as(&bearer, SEARCH, body);
    send(&nested(32)).refuses(400, "the body");
    send(&nested(33)).refuses(400, "nested more than 32 levels deep");
    send(&nested(100_000)).refuses(400, "not JSON");
    let ids = |count: usize| -> Value { (0..count).map(|number| json!(number.to_string())).collect() };
    let with = |count: usize| customers(&[vec![condition("customer_id", "string", "matches", &ids(count))]]);
    assert_eq!(service.post(SEARCH, &with(100_000)).status, 200);
    service.post(SEARCH, &with(100_001)).refuses(400, "filters.OR: more than 100000 values");
    let code =
        [matches("allocated_audience", "string", &ids(100_001)), allocated_time("equals", "2024-01-01T00:00:00Z")];
    service.post(SEARCH, &codes(&json!(["id"]), &code)).refuses(400, "more than 100000 values");
}

#[test]
fn ten_thousand_conditions_are_answered_and_one_more_is_refused() {
    let service = Service::demo();
    let group = |number: usize| {
        let id = format!("demo-customer-{:04}", number % 100 + 1);
        vec![condition("customer_id", "string", "matches", &json!([id]))]
    };
    let groups = |count: usize| (0..count).map(group).collect::<Vec<_>>();
    assert_eq!(service.records(&customers(&groups(10_000))).len(), 100);
    assert_eq!(service.records(&customers(&[groups(10_000).concat()])).len(), 0);
    service.post(SEARCH, &customers(&groups(10_001))).refuses(400, "more than 10000 conditions");
}
