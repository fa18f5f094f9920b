//! Bodies of the sandbox's operations, of any bytes: the response is an envelope that says what its status says, never
//! that of a bug, and the client reads it. The same body again gets the same response.

#![no_main]

use std::cell::RefCell;

use dataaccess::client::testing::check_search;
use dataaccess::contract::envelope::CODE_SUCCESS;
use dataaccess::decode::{DecodePlan, Decoder, Limits};
use dataaccess::sandbox::{AttributeKind, BusinessObject};
use dataaccess_fuzz::rows::Rows;
use dataaccess_fuzz::service::{DOWNLOAD, SEARCH, Service};
use serde_json::{Value, json};

thread_local! {
    static SERVICE: RefCell<Service> = RefCell::new(service());
}

fn service() -> Service {
    let service = Service::default();
    let kinds = [
        ("id", AttributeKind::Text),
        ("amount", AttributeKind::Number),
        ("at", AttributeKind::Datetime),
        ("open", AttributeKind::Bool),
        ("tags", AttributeKind::List),
    ];
    let rows = vec![
        vec![json!("a"), json!(1), json!("2024-01-15 00:00:00"), json!(true), json!(["x", 1])],
        vec![json!("b"), json!(-2.5), json!("2024-01-15 23:59:59"), json!(false), json!([])],
        vec![json!("c é \" \\ \u{1}"), json!(null), json!(null), json!(null), json!(null)],
    ];
    service.fill(&BusinessObject::new(7, "order", &kinds), rows);
    service
}

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    SERVICE.with_borrow(|service| {
        for path in [SEARCH, DOWNLOAD] {
            let (status, text) = service.post(path, body).expect("a response");
            let envelope: Value = serde_json::from_slice(&text).expect("JSON");
            assert!(matches!(status, 200 | 400 | 403 | 404 | 415), "{status} {envelope}");
            let code = if status == 403 { 301 } else { i64::from(status) };
            assert_eq!(envelope["code"], json!(code), "{envelope}");
            assert!(envelope["message"].is_string());
            if path == SEARCH {
                assert_eq!(service.post(path, body), Some((status, text.clone())));
                check(i64::from(status) == CODE_SUCCESS, &text, &envelope);
            }
        }
    });
});

/// The client takes a result for one, and nothing else.
fn check(is_result: bool, text: &[u8], envelope: &Value) {
    let plan = DecodePlan { columns: Some([].into()), max_records: None, limits: Limits::default() };
    let mut rows = Rows::new(&[]);
    let decoded = rows.decode(Decoder::new(plan), &[text]).expect("an envelope");
    assert_eq!(check_search(&decoded, true).is_ok(), is_result, "{envelope}");
    if is_result {
        let records = envelope["data"]["data"].as_array().expect("records");
        assert_eq!(rows.rows.len(), records.len());
        assert!(records.iter().all(Value::is_object));
    } else {
        assert!(envelope["data"].is_string());
    }
}
