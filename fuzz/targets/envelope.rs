//! An envelope of any bytes: the same result or error however it is split, and a result only where `serde_json` sees
//! the code 200, no status false and records (or entries) in place. A truncated result is never a result.

#![no_main]

use dataaccess::client::testing::{check_download, check_search};
use dataaccess::decode::{DecodePlan, Decoder, Limits};
use dataaccess::error::{Error, Kind, Result};
use dataaccess_fuzz::Choices;
use dataaccess_fuzz::rows::Rows;
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::of(body);
    let is_search = choices.below(3) > 0;
    let is_strict = choices.below(2) > 0;
    let columns = is_search.then(|| ["a".to_owned()].into());
    let plan = DecodePlan { columns, max_records: None, limits: Limits::default() };
    // The number of records.
    let read = |pieces: &[&[u8]]| -> Result<u64> {
        let envelope = Rows::new(&["a"]).decode(Decoder::new(plan.clone()), pieces)?;
        let checked = if is_search { check_search(&envelope, is_strict) } else { check_download(&envelope) };
        checked.map(|()| envelope.records)
    };
    let whole = read(&[body]);
    for pieces in [body.chunks(1).collect(), choices.pieces(body), choices.pieces(body)] {
        assert_eq!(format!("{:?}", read(&pieces)), format!("{whole:?}"), "{pieces:?}");
    }
    match whole {
        Ok(records) => {
            check(body, is_search, is_strict, records);
            let end = body.trim_ascii_end().len();
            for length in [0, end - 1].into_iter().chain((0..4).map(|_| choices.below(end))) {
                let error = read(&[&body[..length]]).expect_err("a truncated body is no result");
                assert_eq!((error.kind(), error.is_retryable()), (Kind::TruncatedResponse, true), "{error:?}");
                assert_eq!(error.details().received, Some(length as u64));
            }
        }
        Err(error) => check_error(&error),
    }
});

/// What a result must have.
fn check(body: &[u8], is_search: bool, is_strict: bool, records: u64) {
    let json = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    // No value where an integer is larger than any float.
    let Ok(envelope) = serde_json::from_slice::<Value>(json) else { return };
    assert_eq!(envelope["code"].as_f64(), Some(200.0));
    let data = &envelope["data"];
    assert!(matches!(data["status"], Value::Null | Value::Bool(true)));
    if is_search {
        let list = &data["data"];
        assert_eq!(list.as_array().map_or(0, Vec::len) as u64, records);
        let is_empty = |value: &Value| {
            matches!(value, Value::Null)
                || value.as_array().is_some_and(Vec::is_empty)
                || *value == serde_json::json!({})
        };
        assert!(list.is_array() || is_empty(list) && (data.is_object() || is_empty(data)));
        assert!(!is_strict || list.is_array());
    } else {
        assert!(data["entries"].as_array().is_some_and(|entries| entries.iter().all(Value::is_object)));
    }
}

/// An error is one line that a terminal can show, of a kind that a body can cause.
fn check_error(error: &Error) {
    let kinds = [
        Kind::TruncatedResponse,
        Kind::InvalidJson,
        Kind::NotJson,
        Kind::Envelope,
        Kind::Record,
        Kind::ResponseTooLarge,
        Kind::PermissionDenied,
        Kind::Api,
        Kind::Server,
        Kind::Throttled,
    ];
    assert!(kinds.contains(&error.kind()), "{error:?}");
    let shown = error.to_string();
    assert!(!shown.chars().any(dataaccess::error::is_unsafe_for_terminal), "{shown:?}");
}
