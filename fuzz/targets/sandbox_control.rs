//! Calls of the sandbox's control routes, with any method, path, query and body: each is answered with JSON and never as
//! a bug, and the sandbox works as before afterwards.
//!
//! An input has calls separated by a line of `--`. The first line of a call is its method and its path behind the
//! prefix; its body follows. A call without a method is a search.

#![no_main]

use std::cell::RefCell;

use dataaccess_fuzz::service::{SEARCH, Service};
use serde_json::Value;

const PREFIX: &str = "/__sandbox";
const MOST_CALLS: usize = 8;

thread_local! {
    static SERVICE: RefCell<Service> = RefCell::new(Service::default());
}

libfuzzer_sys::fuzz_target!(|calls: &[u8]| {
    let Ok(calls) = str::from_utf8(calls) else { return };
    SERVICE.with_borrow(|service| {
        for call in calls.split("\n--\n").take(MOST_CALLS) {
            let (head, body) = call.split_once('\n').unwrap_or((call, ""));
            match head.split_once(' ') {
                // Other paths are none of control.
                Some((_, path)) if !path.is_empty() && !path.starts_with(['/', '?']) => {}
                Some((method, path)) => {
                    let target = format!("{PREFIX}{path}");
                    if let Some((status, text)) = service.control(method, &target, body.as_bytes()) {
                        check(method, path, status, &text);
                    }
                }
                // Faults may do anything to it but end the service.
                None => drop(service.post(SEARCH, body.as_bytes())),
            }
        }
        let (status, text) = service.control("POST", &format!("{PREFIX}/reset"), b"").expect("a response");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&text));
        let objects = service.control("GET", &format!("{PREFIX}/objects"), b"").expect("a response").1;
        let objects: Value = serde_json::from_slice(&objects).expect("JSON");
        assert_eq!(objects.as_array().map(Vec::len), Some(2), "{objects}");
    });
});

fn check(method: &str, path: &str, status: u16, text: &[u8]) {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if method == "HEAD" {
        return assert!(text.is_empty() && matches!(status, 200 | 400..=415), "{status}");
    }
    if matches!(path, "" | "/") && status == 200 {
        return assert!(text.starts_with(b"<!doctype html>"));
    }
    let answer: Value = serde_json::from_slice(text).unwrap_or_else(|error| {
        panic!("{status} without JSON ({error}): {}", String::from_utf8_lossy(text));
    });
    match status {
        200 | 201 => {}
        400..=415 => {
            let error = &answer["error"];
            assert!(error["kind"].is_string() && error["message"].as_str().is_some_and(|text| !text.is_empty()));
        }
        _ => panic!("{status} {answer}"),
    }
}
