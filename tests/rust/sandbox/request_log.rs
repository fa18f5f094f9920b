//! The log of requests: all that the guard let in, also those that were refused later.

use dataaccess::sandbox::{Fault, FaultKind};
use serde_json::json;

use super::wire::{DOWNLOAD, SEARCH, Service};

#[test]
fn each_request_is_written_down_with_its_response_and_without_its_token() {
    let service = Service::demo();
    let body = json!({"scope": "download", "exportId": 5_637_051});
    assert_eq!(service.post(DOWNLOAD, &body).status, 200);
    service.post_as("Authorization: Bearer sbx_no_such_token", SEARCH, "not JSON");
    service.request("GET /nowhere?page=2", &["Host: localhost"], "");
    service.request("POST /?refused-by-the-guard", &["Host: evil.example"], "secret");
    service.request("POST /?refused-by-the-guard", &["Host: localhost", "Origin: http://evil.example"], "secret");
    let requests = service.sandbox.requests().unwrap();
    let logged: Vec<_> =
        requests.iter().map(|request| (request.method.as_str(), request.path.as_str(), request.status)).collect();
    let expected = [("POST", DOWNLOAD, Some(200)), ("POST", SEARCH, Some(403)), ("GET", "/nowhere?page=2", Some(404))];
    assert_eq!(logged, expected);
    assert_eq!(requests[0].body.as_deref(), Some(body.to_string().as_bytes()));
    assert_eq!(requests[1].body.as_deref(), Some(&b"not JSON"[..]));
    let authorization = |place: usize| {
        let headers = &requests[place].headers;
        headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone())
    };
    let last = &service.token[service.token.len() - 4..];
    assert_eq!(authorization(0), Some(format!("Bearer …{last}")));
    assert_eq!(authorization(1), Some("Bearer …oken".to_owned()));
    assert!(requests.windows(2).all(|two| two[0].time <= two[1].time));
    assert!(!format!("{requests:?}").contains(&service.token));
}

#[test]
fn a_request_that_got_no_response_has_no_status() {
    let service = Service::demo();
    let reset = service.sandbox.inject(Fault::new(FaultKind::Cut { after_bytes: None })).unwrap();
    let mut stream = service.connect();
    std::io::Write::write_all(&mut stream, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        .unwrap();
    assert_eq!(std::io::Read::read(&mut stream, &mut [0; 9]).unwrap(), 0);
    drop(reset);
    let requests = service.sandbox.requests().unwrap();
    assert_eq!((requests.len(), requests[0].status, requests[0].body.as_deref()), (1, None, Some(&b"{}"[..])));
    service.sandbox.clear_requests().unwrap();
    assert_eq!(service.sandbox.requests().unwrap(), []);
}

#[test]
fn a_stopped_sandbox_still_tells() {
    let service = Service::demo();
    service.request("GET /", &["Host: localhost"], "");
    service.sandbox.stop();
    assert_eq!(service.sandbox.requests().unwrap().len(), 1);
}
