//! Faults as a raw socket sees them: every byte, and how the connection ends.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Begun, Controlled as _};

use super::wire::{DOWNLOAD, SEARCH, Service, allocated_time, codes, customers};

const PAUSE: Duration = Duration::from_millis(40);

/// The bytes of a response, and how it ended: properly, by a reset, or not at all.
#[derive(Debug)]
struct Taken {
    bytes: Vec<u8>,
    end: Option<ErrorKind>,
}

impl Taken {
    /// The head, and what has come after it.
    fn parts(&self) -> (String, &[u8]) {
        let head = self.bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        (String::from_utf8_lossy(&self.bytes[..head]).to_ascii_lowercase(), &self.bytes[head + 4..])
    }

    /// As much of the body as has come, in whatever frame.
    fn body(&self) -> Vec<u8> {
        let (head, mut rest) = self.parts();
        if !head.contains("transfer-encoding: chunked") {
            return rest.to_vec();
        }
        let mut body = Vec::new();
        while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).expect("a size");
            let chunk = &rest[line + 2..];
            body.extend_from_slice(&chunk[..size.min(chunk.len())]);
            rest = chunk.get(size + 2..).unwrap_or_default();
        }
        body
    }
}

fn fault<'a>(service: &'a Service, form: &Value) -> Begun<'a> {
    service.sandbox.begin(form)
}

fn send(service: &Service) -> TcpStream {
    let body = codes(&json!(["id", "name"]), &[allocated_time("after_date", "2024-01-01T00:00:00Z")]).to_string();
    let mut stream = service.connect();
    let (address, token, length) = (service.address(), &service.token, body.len());
    let head = format!(
        "POST {SEARCH} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn take(mut stream: TcpStream) -> Taken {
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    Taken { bytes, end }
}

/// The body without a fault: more than fits into one piece of any buffer between.
fn whole(service: &Service) -> Vec<u8> {
    let taken = take(send(service));
    assert_eq!(taken.end, None);
    assert!(taken.body().len() > 200_000, "{}", taken.body().len());
    taken.body()
}

#[test]
fn a_reset_or_a_cut_sends_so_many_bytes_with_the_full_content_length() {
    let service = Service::demo();
    let whole = whole(&service);
    for after in [0, 1, 17, 5_000, whole.len() - 1] {
        for (form, end) in [
            (json!({"kind": "reset", "after_bytes": after}), Some(ErrorKind::ConnectionReset)),
            (json!({"kind": "cut", "after_bytes": after}), None),
        ] {
            let _fault = fault(&service, &form);
            let taken = take(send(&service));
            assert_eq!((taken.body().as_slice(), taken.end), (&whole[..after], end), "{form}");
            let (head, _) = taken.parts();
            assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
        }
    }
}

#[test]
fn a_response_that_is_no_longer_passes_unchanged() {
    let service = Service::demo();
    let whole = whole(&service);
    for (kind, after_bytes) in
        [("reset", whole.len()), ("cut", whole.len()), ("cut", usize::MAX), ("stall", whole.len())]
    {
        let fault = fault(&service, &json!({"kind": kind, "after_bytes": after_bytes}));
        let taken = take(send(&service));
        assert_eq!((taken.body().as_slice(), taken.end), (&whole[..], None), "{kind} {after_bytes}");
        assert_eq!(fault.hits(), 0);
    }
}

#[test]
fn a_stall_is_silent_until_the_fault_ends_and_then_continues() {
    let service = Service::demo();
    let whole = whole(&service);
    for after_bytes in [None, Some(0_usize), Some(1_000)] {
        let fault = fault(&service, &json!({"kind": "stall", "after_bytes": after_bytes}));
        let mut stream = send(&service);
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut bytes = Vec::new();
        let error = stream.read_to_end(&mut bytes).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
        match after_bytes {
            None => assert_eq!(bytes, b""),
            Some(after) => assert_eq!(Taken { bytes: bytes.clone(), end: None }.body(), &whole[..after]),
        }
        drop(fault);
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.read_to_end(&mut bytes).unwrap();
        assert_eq!(Taken { bytes, end: None }.body(), whole);
    }
}

#[test]
fn a_stall_ends_with_its_client_and_holds_up_no_stop() {
    let service = Service::demo();
    let _stall = fault(&service, &json!({"kind": "stall", "after_bytes": 10}));
    drop(send(&service));
    let held = send(&service);
    std::thread::sleep(PAUSE);
    let started = Instant::now();
    service.sandbox.stop();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert!(take(held).bytes.len() < 1_000);
}

#[test]
fn a_drip_arrives_in_pieces_with_pauses_and_is_complete() {
    let service = Service::demo();
    let body = json!({"scope": "download", "exportId": 5_637_051}).to_string();
    let _drip = fault(&service, &json!({"kind": "drip", "chunk_bytes": 50, "seconds": PAUSE.as_secs_f64()}));
    let mut stream = service.connect();
    let (address, token, length) = (service.address(), &service.token, body.len());
    write!(
        stream,
        "POST {DOWNLOAD} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let started = Instant::now();
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut piece = vec![0; 4096];
        let read = stream.read(&mut piece).unwrap();
        if read == 0 {
            break;
        }
        piece.truncate(read);
        pieces.push(piece);
    }
    let response = Taken { bytes: pieces.concat(), end: None };
    let envelope: serde_json::Value = serde_json::from_slice(&response.body()).unwrap();
    assert_eq!(envelope["code"], 200);
    let pauses = u32::try_from(response.body().len().div_ceil(50) - 1).unwrap();
    assert!(pauses >= 4 && started.elapsed() >= PAUSE * pauses, "{pauses} pauses in {:?}", started.elapsed());
    assert!(pieces.len() >= 3, "{} pieces", pieces.len());
}

#[test]
fn a_delay_comes_before_the_response_and_ends_with_the_fault() {
    let service = Service::demo();
    let delay = fault(&service, &json!({"kind": "delay", "seconds": (PAUSE * 5).as_secs_f64()}));
    let started = Instant::now();
    assert_eq!(service.records(&customers(&[vec![]])).len(), 2_025);
    assert!(started.elapsed() >= PAUSE * 5);
    drop(delay);
    let endless = fault(&service, &json!({"kind": "delay", "seconds": 1e9}));
    let stream = send(&service);
    std::thread::sleep(PAUSE);
    drop(endless);
    assert_eq!(take(stream).end, None);
}
