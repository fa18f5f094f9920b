//! Faults that end the connection, as a raw socket sees them: every byte, and how the connection ends.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Begun, Controlled as _, unchunked};

use super::wire::{SEARCH, Service, allocated_time, codes};

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
        let (head, rest) = self.parts();
        if head.contains("transfer-encoding: chunked") { unchunked(rest).0 } else { rest.to_vec() }
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
fn a_reset_or_a_cut_sends_so_many_bytes_and_no_more() {
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
