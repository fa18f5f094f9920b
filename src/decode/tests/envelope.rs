//! The envelope of complete and of truncated responses.

use super::{RESPONSE, RecordShape, decode, decode_with, expected_rows, plan};
use crate::error::Kind;

#[test]
fn rows_and_envelope_are_the_same_for_every_split() {
    let bytes = RESPONSE.as_bytes();
    let expected = expected_rows(bytes, &["a", "b"]);
    for split in 0..=bytes.len() {
        let (envelope, rows) =
            decode_with(plan(&["a", "b"]), &[&bytes[..split], &bytes[split..]]).expect("a good response");
        assert_eq!(rows, expected, "split at {split}");
        assert_eq!(envelope.code(), Ok(200));
        assert_eq!(envelope.text("message").as_deref(), Some("Search BO \"ok\""));
        assert_eq!(envelope.status(), Ok(Some(true)));
        assert_eq!((envelope.records, envelope.present.as_slice()), (3, &[3, 3][..]));
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode_with(plan(&["a", "b"]), &single).expect("a good response").1, expected);
}

#[test]
fn a_response_truncated_anywhere_is_never_a_result() {
    let body = RESPONSE.trim_end().as_bytes();
    for end in 0..body.len() {
        let error = decode_with(plan(&["a", "b"]), &[&body[..end]]).expect_err("a truncated response");
        assert_eq!(error.kind(), Kind::TruncatedResponse, "cut at {end}");
        assert!(error.is_retryable());
    }
}

#[test]
fn code_and_status_may_be_anywhere() {
    let body = r#"{"data":{"data":[{"a":1}],"status":false},"message":"no","code":301}"#;
    let (envelope, rows) = decode(&["a"], body).expect("well formed");
    assert_eq!((envelope.code(), envelope.status(), rows.len()), (Ok(301), Ok(Some(false)), 1));
}

#[test]
fn a_code_that_is_no_integer_is_reported_as_found() {
    for (json, expected) in
        [("200.0", Ok(200)), ("2e2", Ok(200)), ("\"200\"", Err(Some("\"200\""))), ("1.5", Err(Some("1.5")))]
    {
        let (envelope, _) = decode(&[], &format!(r#"{{"code":{json}}}"#)).expect("well formed");
        assert_eq!(envelope.code(), expected);
    }
    assert_eq!(decode(&[], "{}").expect("well formed").0.code(), Err(None));
}

#[test]
fn empty_responses_differ_from_wrong_ones() {
    for (data, expected) in [
        (r#"{"data":[]}"#, RecordShape::Empty("data.data []")),
        (r#"{"data":[ ]}"#, RecordShape::Empty("data.data []")),
        (r#"{"data":{ }}"#, RecordShape::Empty("data.data {}")),
        (r#"{"data":null}"#, RecordShape::Empty("data.data null")),
        (r#"{"status":true}"#, RecordShape::Empty("data.data absent")),
        ("[]", RecordShape::Empty("data []")),
        ("{}", RecordShape::Empty("data {}")),
        ("null", RecordShape::Empty("data null")),
        (r#"{"data":"none"}"#, RecordShape::Other("data.data")),
        (r#"{"data":{"a":1}}"#, RecordShape::Other("data.data")),
        (r#""text""#, RecordShape::Other("data")),
        ("[1]", RecordShape::Other("data")),
        (r#"{"data":[{}]}"#, RecordShape::Array),
        (r#"{"status":true,"meta":{"total":0},"message":"none","rows":[ ]}"#, RecordShape::Empty("data.data absent")),
        (r#"{"meta":{"total":0}}"#, RecordShape::Empty("data.data absent")),
        (r#"{"error":"backend timeout"}"#, RecordShape::Misplaced("data.data")),
        (r#"{"records":[{"a":1}],"total":1}"#, RecordShape::Misplaced("data.data")),
        (r#"{"status":true,"rows":[{"a":1}]}"#, RecordShape::Misplaced("data.data")),
        (r#"{"status":true,"data":[],"rows":[{"a":1}]}"#, RecordShape::Empty("data.data []")),
    ] {
        let (envelope, _) = decode(&["a"], &format!(r#"{{"code":200,"data":{data}}}"#)).expect("well formed");
        assert_eq!(envelope.record_shape(), expected, "{data}");
    }
    for (body, expected) in [
        ("{}", RecordShape::Empty("data absent")),
        (r#"{"code":200,"message":"none","id":7,"rows":[]}"#, RecordShape::Empty("data absent")),
        (r#"{"code":200,"message":"ok","records":[{"a":1}]}"#, RecordShape::Misplaced("data")),
    ] {
        assert_eq!(decode(&["a"], body).expect("well formed").0.record_shape(), expected, "{body}");
    }
}
