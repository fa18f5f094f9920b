//! Bodies that are refused, and how the error describes them.

use super::{decode_with, plan, refusal, response};
use crate::error::Kind;

#[test]
fn invalid_json_is_reported_with_its_offset() {
    for (body, offset, found) in [
        (r#"{"data":{"data":[{"a":1},]}}"#, 25, "`]`"),
        (r#"{"data":{"data":[{"a":1}, }}"#, 26, "`}`"),
        (r#"{"data":{"data":[,{"a":1}]}}"#, 17, "`,`"),
        (r#"{"code":,"data":[]}"#, 8, "`,`"),
        (r#"{"code":}"#, 8, "`}`"),
        (r#"{"code"::200}"#, 8, "`:`"),
        (r#"{"code":200}{}"#, 12, "trailing"),
        (r#"{"code":200}x"#, 12, "trailing"),
        (r#"{"code":200}]"#, 12, "trailing"),
        ("{\"code\":200}\0", 12, "trailing"),
    ] {
        for bytes in [body.as_bytes().chunks(body.len()), body.as_bytes().chunks(1)] {
            let error = decode_with(plan(&["a"]), &bytes.collect::<Vec<_>>()).expect_err(body);
            assert_eq!((error.kind(), error.details().offset), (Kind::InvalidJson, Some(offset)));
            let message = error.message();
            assert!(message.contains(&format!("byte {offset} ")) && message.contains(found), "{message}");
        }
    }
}

#[test]
fn json_that_is_no_envelope_differs_from_other_content() {
    let page = refusal(b"<html>\n<b>Sign in</b>");
    assert_eq!(page.kind(), Kind::NotJson);
    assert_eq!(page.details().body_excerpt.as_deref(), Some("<html>\\n<b>Sign in</b>"));
    for body in ["[]", "\"text\"", "12", "null", " false"] {
        assert_eq!(refusal(body.as_bytes()).kind(), Kind::Envelope);
    }
}

#[test]
fn a_record_that_does_not_fit_is_reported_with_row_and_column() {
    for (record, column, found) in [
        (r#"{"a":1e400}"#, "a", "beyond"),
        (r#"{"a":"\udead"}"#, "a", "surrogate"),
        ("7", "", "number"),
        ("null", "", "null"),
    ] {
        let error = refusal(response(&format!("{{}},{record}")).as_bytes());
        assert_eq!(error.kind(), Kind::Record, "{record}");
        assert_eq!(error.details().row, Some(1));
        assert_eq!(error.details().column.as_deref(), Some(column));
        assert!(error.message().contains(found), "{}", error.message());
    }
}
