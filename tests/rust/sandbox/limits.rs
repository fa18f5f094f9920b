//! Clients that are slow, silent, too many or too large, and a good one among them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dataaccess::sandbox::{Clock, Limits, Options};
use serde_json::json;

use super::wire::{SEARCH, Service, customers, demo};

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
fn a_client_beyond_the_limit_waits_for_its_turn() {
    let service = service(Limits { connections: 2, ..Limits::default() });
    let _delay = service.begin(&json!({"kind": "delay", "seconds": (SHORT * 2).as_secs_f64(), "times": 2}));
    std::thread::scope(|scope| {
        let search = || service.records(&customers(&["customer_id"], None)).len();
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
    let clock = Clock::new(|| {
        if std::thread::current().name() == Some("dataaccess-sandbox-search") {
            std::thread::sleep(SHORT * 3);
        }
        std::time::SystemTime::now()
    });
    let limits = Limits { response: SHORT, ..Limits::default() };
    let service = Service::start(Options { limits, clock, ..demo() });
    let reply = service.post(SEARCH, &customers(&["customer_id"], None));
    reply.refuses(503, "sent no response within 0.3 seconds");
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[test]
fn a_client_that_reads_nothing_of_its_response_is_closed() {
    const MUCH: usize = 24 * 1024 * 1024;
    let limits = Limits { connections: 2, stall: SHORT, ..Limits::default() };
    let service = Service::start(Options { limits, ..Options::default() });
    // More bytes than the buffers of the system hold, in parts, none of which takes as long as a short limit.
    for part in 0..MUCH / 1024 / 512 {
        service.load((part * 512..(part + 1) * 512).map(|number| format!("c-{number}")), &"n".repeat(1024));
    }
    let idle = [(); 2].map(|()| service.search(&customers(&["customer_id", "name"], None)));
    let started = Instant::now();
    assert_eq!(service.records(&customers(&["customer_id"], Some("c-0"))).len(), 1);
    assert!((SHORT / 2..SHORT * 10).contains(&started.elapsed()), "{:?}", started.elapsed());
    std::thread::sleep(SHORT * 3);
    for mut stream in idle {
        assert!(until_closed(&mut stream).1.len() < MUCH);
    }
}
