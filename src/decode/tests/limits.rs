//! Limits on the size of a response, and on the number of its records.

use serde_json::json;

use super::{DecodePlan, Decoder, Limits, Objects, decode_with, plan, refusal, response};
use crate::error::Kind;

#[test]
fn everything_that_could_grow_without_bound_is_limited() {
    let deep = refusal("[".repeat(100_000).replacen('[', "{\"x\":[", 1).as_bytes());
    assert_eq!((deep.kind(), deep.details().offset), (Kind::InvalidJson, Some(132)));
    let limits = Limits { body: 5_000, body_setting: None, record: 3_000, depth: 128 };
    let small =
        |body: &str| decode_with(DecodePlan { limits, ..plan(&["a"]) }, &[body.as_bytes()]).expect_err("over a limit");
    for number in ["1".repeat(1_025), format!("0.{}", "1".repeat(1_023)), format!("1e{}1", "0".repeat(1_022))] {
        for value in [number.clone(), format!("[{number}]"), format!(r#"{{"k":[0,{number} ]}}"#)] {
            for body in [
                response(&format!(r#"{{"a":{value}}}"#)),
                response(&format!(r#"{{"z":{value}}}"#)),
                format!(r#"{{"code":{value}}}"#),
            ] {
                let error = small(&body);
                let offset = body.find(number.as_str()).map(|offset| offset as u64);
                assert_eq!((error.kind(), error.details().offset), (Kind::InvalidJson, offset), "{body}");
            }
        }
    }
    let members: Vec<String> = (0..100).map(|number| format!(r#""{number}":1"#)).collect();
    let members = format!(r#"{{"code":200,"data":{{{}}}}}"#, members.join(","));
    assert_eq!(small(&members).details().field.as_deref(), Some("members"));
    let text = "x".repeat(3_001);
    assert_eq!(small(&format!(r#"{{"code":"{text}"}}"#)).details().field.as_deref(), Some("value"));
    assert_eq!(small(&format!(r#"{{"{text}":1}}"#)).details().field.as_deref(), Some("value"));
    assert_eq!(small(&response(&format!(r#"{{"a":"{text}"}}"#))).details().field.as_deref(), Some("record"));
    assert_eq!(small(&response(&format!(r#"{{"z":"{text}"}}"#))).details().field.as_deref(), Some("record"));
    let long = "x".repeat(999);
    let record = format!(r#"{{"a":"{long}","b":"{long}","c":"{long}"}}"#);
    assert_eq!(small(&response(&record)).details().field.as_deref(), Some("record"));
    assert_eq!(small(&" ".repeat(5_001)).details().field.as_deref(), Some("body"));
}

#[test]
fn records_after_the_limit_are_dropped_and_the_decoder_says_when_the_rest_cannot_matter() {
    let mut sink = Objects::new(&plan(&["a"]));
    let mut decoder = Decoder::new(DecodePlan { max_records: Some(2), ..plan(&["a"]) });
    decoder.feed(br#"{"code":200,"data":{"status":true,"data":[{"a":1},{"a":2}"#, &mut sink).expect("good so far");
    assert!(decoder.is_satisfied());
    decoder.feed(br#",{"a":3}]}}"#, &mut sink).expect("good");
    assert_eq!(decoder.finish().expect("closed").records, 3);
    assert_eq!(sink.rows, [json!({"a": 1}), json!({"a": 2})]);

    let long: Vec<String> = (0..9).map(|n| format!(r#"{{"a":{n},"b":"x"}}"#)).collect();
    let mut counting = Decoder::new(DecodePlan { max_records: Some(1), ..plan(&["a", "b"]) });
    let mut sink = Objects::new(&plan(&["a", "b"]));
    counting.feed(format!(r#"{{"data":{{"data":[{}, 7, "#, long.join(", ")).as_bytes(), &mut sink).expect("good");
    counting.feed(br#"{"c":1}],"status":true},"code":200}"#, &mut sink).expect("good");
    let envelope = counting.finish().expect("closed");
    assert_eq!((envelope.records, sink.rows.len()), (11, 1));
    assert_eq!(envelope.present, [1, 1], "keys of dropped records are not counted");

    let mut late = Decoder::new(DecodePlan { max_records: Some(1), ..plan(&["a"]) });
    late.feed(br#"{"data":{"data":[{"a":1}]},"code":200"#, &mut Objects::new(&plan(&["a"]))).expect("good so far");
    assert!(!late.is_satisfied(), "the status has not arrived");
}
