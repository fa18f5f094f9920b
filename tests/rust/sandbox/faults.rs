//! Faults as a raw socket sees them: every byte, and how the connection ends.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dataaccess::error::Kind;
use dataaccess::sandbox::{Fault, FaultKind, Injected};
use serde_json::json;

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

fn fault(service: &Service, kind: FaultKind) -> Injected {
    service.sandbox.inject(Fault::new(kind)).unwrap()
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
fn a_reset_or_a_cut_before_the_response_sends_nothing() {
    let service = Service::demo();
    let reset = fault(&service, FaultKind::Reset { after_bytes: None });
    let taken = take(send(&service));
    assert_eq!((taken.bytes, taken.end), (vec![], Some(ErrorKind::ConnectionReset)));
    assert_eq!(reset.hits(), 1);
    drop(reset);
    let _cut = fault(&service, FaultKind::Cut { after_bytes: None });
    let taken = take(send(&service));
    assert_eq!((taken.bytes, taken.end), (vec![], None));
}

#[test]
fn a_reset_or_a_cut_sends_so_many_bytes_with_the_full_content_length() {
    let service = Service::demo();
    let whole = whole(&service);
    for after in [0, 1, 17, 5_000, whole.len() - 1] {
        for (kind, end) in [
            (FaultKind::Reset { after_bytes: Some(after) }, Some(ErrorKind::ConnectionReset)),
            (FaultKind::Cut { after_bytes: Some(after) }, None),
        ] {
            let fault = fault(&service, kind);
            let taken = take(send(&service));
            assert_eq!((taken.body().as_slice(), taken.end), (&whole[..after], end), "{fault:?}");
            let (head, _) = taken.parts();
            assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
        }
    }
}

#[test]
fn a_response_that_is_no_longer_passes_unchanged() {
    let service = Service::demo();
    let whole = whole(&service);
    for kind in [
        FaultKind::Reset { after_bytes: Some(whole.len()) },
        FaultKind::Cut { after_bytes: Some(whole.len()) },
        FaultKind::Cut { after_bytes: Some(usize::MAX) },
        FaultKind::Stall { after_bytes: Some(whole.len()) },
    ] {
        let fault = fault(&service, kind);
        let taken = take(send(&service));
        assert_eq!((taken.body().as_slice(), taken.end), (&whole[..], None), "{fault:?}");
        assert_eq!(fault.hits(), 0);
    }
}

#[test]
fn a_stall_is_silent_until_the_fault_ends_and_then_continues() {
    let service = Service::demo();
    let whole = whole(&service);
    for after_bytes in [None, Some(0), Some(1_000)] {
        let fault = fault(&service, FaultKind::Stall { after_bytes });
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
    let _stall = fault(&service, FaultKind::Stall { after_bytes: Some(10) });
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
    let _drip = fault(&service, FaultKind::Drip { chunk_bytes: 50, pause: PAUSE });
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
    let delay = fault(&service, FaultKind::delay(PAUSE * 5));
    let started = Instant::now();
    assert_eq!(service.records(&customers(&[vec![]])).len(), 2_025);
    assert!(started.elapsed() >= PAUSE * 5);
    drop(delay);
    let endless = fault(&service, FaultKind::delay(Duration::MAX));
    let stream = send(&service);
    std::thread::sleep(PAUSE);
    drop(endless);
    assert_eq!(take(stream).end, None);
}

#[test]
fn a_status_is_answered_without_asking_the_service() {
    let service = Service::demo();
    let status = |status, retry_after, body: Option<&str>| FaultKind::Status {
        status,
        retry_after,
        body: body.map(str::to_owned),
        content_type: None,
        headers: Vec::new(),
    };
    let response = |kind: FaultKind| {
        let _fault = fault(&service, kind);
        service.post_as("X-No: token", SEARCH, "nonsense")
    };
    let busy = response(status(503, Some(7), None));
    busy.refuses(503, "a fault that was asked for");
    assert_eq!(busy.header("retry-after"), Some("7"));
    assert_eq!(response(status(503, None, None)).header("retry-after"), None);
    let denied = response(status(403, None, None));
    assert_eq!((denied.status, &denied.json()["code"]), (403, &json!(301)));
    let page = response(status(200, None, Some("<html>log in</html>")));
    assert_eq!((page.status, page.body.as_str()), (200, "<html>log in</html>"));
    assert_eq!(page.header("server"), Some("dataaccess-sandbox"));
}

#[test]
fn a_late_code_comes_after_the_rows() {
    let service = Service::demo();
    let records = service.records(&customers(&[vec![]]));
    let _late = fault(&service, FaultKind::LateCode(301));
    let reply = service.post(SEARCH, &customers(&[vec![]]));
    assert_eq!((reply.status, &reply.json()["data"]["data"]), (200, &json!(records)));
    assert!(reply.body.ends_with(",\"code\":301}"), "{}", &reply.body[reply.body.len() - 40..]);
    assert_eq!(reply.body.matches("\"code\"").count(), 1);
    service.post(SEARCH, &json!({})).refuses(400, "required");
}

#[test]
fn a_redirect_and_a_code_are_answered_without_asking_the_service() {
    let service = Service::demo();
    let response = |form: serde_json::Value| {
        let _fault = service.sandbox.inject(serde_json::from_value(form).unwrap()).unwrap();
        service.post_as("X-No: token", SEARCH, "nonsense")
    };
    let moved =
        response(json!({"kind": "redirect", "location": "https://elsewhere.example/", "headers": {"Via": "1.1 a"}}));
    assert_eq!((moved.status, moved.body.as_str()), (302, ""));
    assert_eq!([moved.header("location"), moved.header("via")], [Some("https://elsewhere.example/"), Some("1.1 a")]);
    let failed = response(json!({"kind": "code", "code": 1_234, "message": "quota"}));
    assert_eq!((failed.status, failed.json()), (200, json!({"code": 1_234, "message": "quota", "data": "quota"})));
    let denied = response(json!({"kind": "code", "code": 301})).json();
    assert_eq!(denied["data"], "You don't have permission to access this request!");
}

#[test]
fn a_shrunk_search_is_a_success_with_its_first_rows() {
    let service = Service::demo();
    let search = customers(&[vec![]]);
    let records = service.records(&search);
    let fault = fault(&service, FaultKind::Shrink { keep: 0.1 });
    assert_eq!(service.records(&search), records[..records.len() / 10]);
    service.post(SEARCH, &json!({})).refuses(400, "required");
    assert_eq!(fault.hits(), 1);
}

#[test]
fn a_fault_is_for_its_path_and_its_turn() {
    let service = Service::demo();
    let denied = FaultKind::status(429);
    let fault = service.sandbox.inject(Fault::new(denied).on(SEARCH).after(1).times(2)).unwrap();
    let search = || service.post(SEARCH, &customers(&[vec![]])).status;
    let export = json!({"scope": "download", "exportId": 5_637_051});
    assert_eq!(service.post(DOWNLOAD, &export).status, 200);
    assert_eq!([search(), search(), search(), search()], [200, 429, 429, 200]);
    assert_eq!(fault.hits(), 2);
    fault.end();
    fault.end();
    assert_eq!(fault.hits(), 2);
}

#[test]
fn faults_count_correctly_with_many_threads() {
    let service = Service::demo();
    let fault = fault(&service, FaultKind::status(500));
    let limited = {
        fault.end();
        let kind = FaultKind::status(502);
        service.sandbox.inject(Fault::new(kind).times(10)).unwrap()
    };
    let met = std::thread::scope(|scope| {
        let work = || (0..5).filter(|_| service.post_as("X: y", DOWNLOAD, "{}").status == 502).count();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((met, limited.hits(), fault.hits()), (10, 10, 0));
}

#[test]
fn a_fault_that_is_invalid_is_refused_and_none_begins_after_the_stop() {
    let service = Service::demo();
    let error = service.sandbox.inject(Fault::new(FaultKind::LateCode(1)).on("search")).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Config, "path must be `search`, `download` or a path that begins with /, not search")
    );
    let fault = fault(&service, FaultKind::LateCode(1));
    service.sandbox.stop();
    drop(fault);
    assert_eq!(service.sandbox.inject(Fault::new(FaultKind::LateCode(1))).unwrap_err().kind(), Kind::Sandbox);
}
