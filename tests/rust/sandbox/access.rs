//! Sections 5 and 7: tokens, scopes, and the one permission failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use dataaccess::sandbox::switches::Switches;
use dataaccess::sandbox::{Clock, Options};
use serde_json::{Value, json};

use super::wire::{DOWNLOAD, Reply, SEARCH, Service, allocated_time, codes, customers, demo, export};

const DENIED: &str =
    r#"{"code":301,"message":"Permission denied","data":"You don't have permission to access this request!"}"#;

fn some_codes() -> Value {
    codes(&json!(["id"]), &[allocated_time("equals", "2024-01-01T00:00:00Z")])
}

fn some_customers() -> Value {
    customers(&["customer_id"], Some("demo-customer-0001"))
}

#[test]
fn every_way_to_lack_permission_gives_the_same_bytes() {
    let seconds = Arc::new(AtomicU64::new(0));
    let clock = {
        let seconds = Arc::clone(&seconds);
        let start = SystemTime::now();
        Clock::new(move || start + Duration::from_secs(seconds.load(Ordering::SeqCst)))
    };
    let service = Service::start(Options { clock, ..demo() });
    let issue = |scopes: &[&str], lifetime| format!("Authorization: Bearer {}", service.issue_token(scopes, lifetime));
    for (path, scope, other, body) in [
        (DOWNLOAD, "download", "item", export()),
        (SEARCH, "item", "download", some_codes()),
        (SEARCH, "item", "download", some_customers()),
    ] {
        let expiring = issue(&[scope], Some(60));
        let revoked = issue(&[scope], None);
        let send = |authorization: &str| service.post_as(authorization, path, &body.to_string());
        assert_eq!(send(&expiring).status, 200);
        assert_eq!(send(&revoked).status, 200);
        seconds.fetch_add(60, Ordering::SeqCst);
        let token = json!({"token": revoked.strip_prefix("Authorization: Bearer ")}).to_string();
        assert_eq!(service.control("POST /tokens/revoke", &token)["revoked"], true);
        let bad = [
            expiring,
            revoked,
            issue(&[other], None),
            issue(&[], None),
            "Authorization: Bearer sbx_0000".into(),
            "Authorization: Bearer ".into(),
            format!("Authorization: Basic {}", service.token),
            format!("Authorization: bearer{}", service.token),
            format!("Authorization: {}", service.token),
            format!("Authorization: Bearer  {}", service.token),
            format!("Authorization: Bearer {0}\r\nAuthorization: Bearer {0}", service.token),
            "X-Nothing: 1".into(),
        ];
        let replies: Vec<Reply> = bad.iter().map(|authorization| send(authorization)).collect();
        for (reply, authorization) in replies.iter().zip(&bad) {
            assert_eq!((reply.status, reply.body.as_str()), (403, DENIED), "{authorization}");
            assert_eq!(reply.undated(), replies[0].undated(), "{authorization}");
        }
    }
}

#[test]
fn a_token_without_permission_learns_nothing_of_its_mistakes() {
    let service = Service::demo();
    for path in [SEARCH, DOWNLOAD] {
        assert_eq!(service.post_as("Authorization: Bearer wrong", path, "nonsense").body, DENIED);
    }
}

/// The statuses of a search of codes, one of customers and a download with a token of one scope.
fn statuses(service: &Service, scope: &str) -> [u16; 3] {
    let token = format!("Authorization: Bearer {}", service.issue_token(&[scope], None));
    [(SEARCH, some_codes()), (SEARCH, some_customers()), (DOWNLOAD, export())]
        .map(|(path, body)| service.post_as(&token, path, &body.to_string()).status)
}

#[test]
fn each_scope_opens_its_own_operations() {
    let service = Service::demo();
    assert_eq!(statuses(&service, "item"), [200, 200, 403]);
    assert_eq!(statuses(&service, "download"), [403, 403, 200]);
}

#[test]
fn the_open_scopes_can_be_switched() {
    let switches = Switches { generic_scope: "read".into(), download_scope: "segment".into(), ..Switches::default() };
    let service = Service::start(Options { switches, ..demo() });
    assert_eq!(statuses(&service, "item"), [200, 403, 403]);
    assert_eq!(statuses(&service, "read"), [403, 200, 403]);
    assert_eq!(statuses(&service, "segment"), [403, 403, 200]);
}
