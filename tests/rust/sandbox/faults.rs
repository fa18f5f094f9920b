//! Faults that end the connection, as a raw socket sees them: every byte, and how the connection ends.

use std::io::{ErrorKind, Read};

use serde_json::json;

use super::wire::{Service, allocated_time, codes, unchunked};

/// As much of the body as came, and how the connection ended: properly, or by a reset.
fn taken(service: &Service) -> (Vec<u8>, Option<ErrorKind>) {
    let body = codes(&json!(["id", "name"]), &[allocated_time("after_date", "2024-01-01T00:00:00Z")]);
    let mut bytes = Vec::new();
    let end = service.search(&body).read_to_end(&mut bytes).err().map(|error| error.kind());
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    assert!(bytes.starts_with(b"HTTP/1.1 200 OK\r\n"));
    let rest = &bytes[head + 4..];
    let is_chunked = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase().contains("chunked");
    (if is_chunked { unchunked(rest).0 } else { rest.to_vec() }, end)
}

#[test]
fn a_reset_or_a_cut_sends_so_many_bytes_and_no_more() {
    let service = Service::demo();
    let (whole, end) = taken(&service);
    // More than fits into one piece of any buffer between.
    assert!(end.is_none() && whole.len() > 200_000, "{}", whole.len());
    for after in [0, 1, 17, 5_000, whole.len() - 1] {
        for (kind, end) in [("reset", Some(ErrorKind::ConnectionReset)), ("cut", None)] {
            let _fault = service.begin(&json!({"kind": kind, "after_bytes": after}));
            assert_eq!(taken(&service), (whole[..after].to_vec(), end), "{kind} {after}");
        }
    }
}
