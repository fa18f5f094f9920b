//! `where` as the body's own JSON: refused with problems, or sent with nothing of it lost. The sandbox then answers it as
//! it answers the JSON itself.

#![no_main]

use std::cell::RefCell;

use dataaccess::error::{Error, Kind, is_unsafe_for_terminal};
use dataaccess::filter::InputValue;
use dataaccess::filter::items::{self, ItemsArguments};
use dataaccess::sandbox::{AttributeKind, BusinessObject};
use dataaccess::time::Calendar;
use dataaccess_fuzz::Choices;
use dataaccess_fuzz::service::{SEARCH, Service};
use serde_json::{Map, Value, json};

/// Objects: name, id, and the attribute that is returned.
const OBJECTS: [(&str, i64, &str); 3] =
    [("order", 7, "id"), ("customer", -1003, "name"), ("promotion_code", -100, "id")];

thread_local! {
    static SERVICE: RefCell<Service> = RefCell::new(service());
}

fn service() -> Service {
    let service = Service::default();
    let kinds = [
        ("id", AttributeKind::Text),
        ("x", AttributeKind::Text),
        ("n", AttributeKind::Number),
        ("t", AttributeKind::Datetime),
    ];
    let rows = (0..20).map(|row| {
        let at = format!("2024-01-{:02} 10:00:00", 1 + row);
        vec![json!(row.to_string()), json!(["a", "b", ""][row % 3]), json!(row % 5), json!(at)]
    });
    service.fill(&BusinessObject::new(7, "order", &kinds), rows.collect());
    service
}

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let Ok(filters) = serde_json::from_slice::<Value>(text) else { return };
    let (name, id, attribute) = *Choices::of(text).one(&OBJECTS);
    let arguments = ItemsArguments {
        item_type_name: InputValue::text(name),
        item_type_id: InputValue::Integer(id),
        attrs: InputValue::List(vec![InputValue::text(attribute)]),
        where_clause: input(&filters),
        ..ItemsArguments::default()
    };
    let search = match items::check(arguments, &Calendar::default()) {
        Ok(search) => search,
        Err(error) => return check_error(&error),
    };
    let body = serde_json::to_value(&search.body).expect("JSON");
    if !filters.is_null() {
        check_kept(&filters, &body["filters"]);
    }
    SERVICE.with_borrow(|service| {
        let sent = json!({"itemTypeId": id, "itemTypeName": name, "attrs": [attribute], "filters": filters});
        let post = |body: &Value| service.post(SEARCH, body.to_string().as_bytes()).expect("a response");
        let (status, response) = post(&body);
        assert!(matches!(status, 200 | 400), "{status} {body}");
        let (status_of_json, response_of_json) = post(&sent);
        if status_of_json == 200 {
            assert_eq!((status, &response), (200, &response_of_json), "{body}");
        }
    });
});

/// The Python value of JSON.
fn input(value: &Value) -> InputValue {
    match value {
        Value::Null => InputValue::Null,
        Value::Bool(flag) => InputValue::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => InputValue::Integer(integer),
            (None, Some(integer)) => InputValue::BigInteger(integer.to_string()),
            (None, None) => InputValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => InputValue::Text(text.clone()),
        Value::Array(values) => InputValue::List(values.iter().map(input).collect()),
        Value::Object(fields) => {
            InputValue::Map(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

fn check_error(error: &Error) {
    assert_eq!(error.kind(), Kind::Validation, "{error:?}");
    assert!(!error.problems().is_empty());
    for problem in error.problems() {
        for text in [&problem.argument, &problem.message] {
            assert!(!text.trim().is_empty(), "{problem:?}");
        }
        for text in [&problem.argument, &problem.path, &problem.message, &problem.value] {
            assert!(!text.chars().any(is_unsafe_for_terminal), "{problem:?}");
        }
    }
    assert!(!error.to_string().chars().any(is_unsafe_for_terminal));
}

/// Each condition is in its group as it was written, with defaults beside; there is none that was not written.
fn check_kept(written: &Value, sent: &Value) {
    let groups = |filters: &Value| filters["OR"].as_array().expect("groups").clone();
    let conditions = |group: &Value| group["AND"].as_array().expect("conditions").clone();
    let (written, sent) = (groups(written), groups(sent));
    assert_eq!(written.len(), sent.len());
    for (written, sent) in written.iter().zip(&sent) {
        let (written, sent) = (conditions(written), conditions(sent));
        for condition in &written {
            assert!(sent.iter().any(|other| is_kept(condition, other)), "{condition} is not in {sent:?}");
        }
        for condition in &sent {
            assert!(written.iter().any(|other| is_kept(other, condition)), "{condition} was not written");
        }
    }
}

/// Whether each field was sent as it was written. Null is a field that was left out, and a time may be written as text.
fn is_kept(written: &Value, sent: &Value) -> bool {
    let fields: &Map<String, Value> = written.as_object().expect("a condition");
    fields.iter().filter(|(_, value)| !value.is_null()).all(|(name, value)| {
        let is_time = name == "value" && fields["data_type"] == "datetime" && value.is_string();
        let is_code_type = name == "type" && value.as_f64() == Some(2.0);
        is_time || is_code_type || sent.get(name) == Some(value)
    })
}
